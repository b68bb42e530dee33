// One row of the list.
import type { ChangedValue } from "temporalex/debug";
import type { JSX } from "preact";
import { changedAt, type OpenRun } from "../store/state.ts";
import { Glyph } from "../ui/glyph.tsx";
import { groupParts } from "./chosen_group.ts";
import { still } from "../ui/still.ts";
import { clock } from "../ui/time.ts";
import { placed } from "../ui/windowed.tsx";
import { digitsOf, type Row, rowText } from "../../../ts/run_view/rows.ts";

export const rowId = (row: Row): string =>
  `row-${row.is}-${row.from}-${row.is === "event" ? "" : row.item.index}`;

interface Props {
  readonly run: OpenRun;
  readonly row: Row;
  readonly index: number;
  readonly top: number;
  /**
   * Whether it has begun at the position. The position is not a property, because most rows look
   * the same after a step.
   */
  readonly isPast: boolean;
  readonly isCurrent: boolean;
  /** Whether it is the last task that ran at the position. */
  readonly isTask: boolean;
}

export const EventRow = still(
  ({ run, row, index, top, isPast, isCurrent, isTask }: Props): JSX.Element => {
    const problem = problemAt(run);
    const isBad = problem > 0 && row.from <= problem && problem <= row.to &&
      (row.is === "event" || row.item.eventIds.includes(problem));
    const look = [
      row.is,
      isPast ? "past" : "future",
      isCurrent ? "current" : "",
      isTask ? "now" : "",
      isBad ? "bad" : "",
    ].join(" ");
    const { kind, name, detail } = rowText(run.model, row);
    const changed = row.is === "task"
      ? undefined
      : changedAt(run, row.is === "event" ? [row.from] : row.item.eventIds);
    const Groups = run.model.hasGroups ? groupParts.value : undefined;
    const item = row.is === "item"
      ? row.item
      : row.is === "event"
      ? run.model.itemOf(row.from)
      : undefined;
    const start = run.model.lines[0]?.timeMs;
    const time = run.model.lines[row.from - 1]?.timeMs;
    return (
      <div
        ref={placed(top)}
        role="row"
        id={rowId(row)}
        class={`event-row ${look}`}
        data-row={index}
        data-event={row.from}
        aria-rowindex={index + 1}
        aria-selected={isCurrent}
        title={`${name}${detail === "" ? "" : ` ${detail}`}, ${
          row.from === row.to ? `event ${row.from}` : `events ${row.from} to ${row.to}`
        }`}
      >
        <span role="gridcell" class="what">
          {row.is !== "task" && <Glyph kind={isBad ? "difference" : kind} />}
          <span class="cut">
            <span class="name">{name}</span>
            {detail !== "" && <span class="detail">{detail}</span>}
          </span>
        </span>
        {Groups !== undefined && item !== undefined && (
          <Groups.Chip
            model={run.model}
            item={item}
          />
        )}
        {changed !== undefined && (
          <span role="gridcell" class="code-says" title={changed.sentence}>≠{inCode(changed)}</span>
        )}
        {row.is !== "task" && (
          <time role="gridcell">
            {start === undefined || time === undefined
              ? ""
              : clock(time - start, digitsOf(run.model))}
          </time>
        )}
      </div>
    );
  },
);

/** The code's value for the row, if there is one difference. */
const inCode = ({ differences }: ChangedValue) =>
  differences.length === 1 ? ` ${differences[0]!.code}` : "";

/** The event of the divergence; 0 without one. */
function problemAt({ verdict }: OpenRun): number {
  const said = verdict.value;
  return "problem" in said ? said.problem.eventId || said.problem.position : 0;
}
