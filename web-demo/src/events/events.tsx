// The list of items: one row per item, a thin rule per workflow task. Rows are ink up to the
// position, pencil after it. It is a grid with one tab stop; its active row is the current one.
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { bindKeys } from "../store/keys.ts";
import type { ItemKind } from "../store/run_model.ts";
import { goTo, type OpenRun, playing, position, selectItem } from "../store/state.ts";
import { Glyph, KIND_NAMES } from "../ui/glyph.tsx";
import { Icon } from "../ui/icon.tsx";
import { count } from "../ui/time.ts";
import { topsOf, WindowedRows } from "../ui/windowed.tsx";
import "./events.css";
import { groupParts, itemsInGroup, loadGroups } from "./chosen_group.ts";
import { EventRow, rowId } from "./row.tsx";
import { listRows, type Row } from "../../../ts/run_view/rows.ts";
import { countsOf, rowOf, taskRowOf } from "./row_at.ts";
import { findEventNumber, search } from "./search.ts";

const ROW_PX: { readonly [is in Row["is"]]: number } = { item: 28, task: 16, event: 28 };

const hidden: Signal<ReadonlySet<ItemKind>> = signal<ReadonlySet<ItemKind>>(new Set());
const isUnfolded: Signal<boolean> = signal(false);
const sought: Signal<string> = signal("");

/**
 * The rows of a run and their places. Recomputed when the filter changes, not when the position
 * does.
 */
function useRows(
  run: OpenRun,
): ReadonlySignal<{ readonly rows: readonly Row[]; readonly tops: Float64Array }> {
  return useMemo(() =>
    computed(() => {
      const within = itemsInGroup(run.model);
      const searched = search(run.model, sought.value);
      const found = within === undefined || searched === undefined
        ? within ?? searched
        : both(within, searched);
      const rows = listRows(run.model, {
        hidden: hidden.value,
        isUnfolded: isUnfolded.value,
        found,
      });
      return { rows, tops: topsOf(rows.map(({ is }) => ROW_PX[is])) };
    }), [run]);
}

const both = (a: ReadonlySet<number>, b: ReadonlySet<number>): ReadonlySet<number> =>
  new Set([...a].filter((index) => b.has(index)));

export function Events({ run }: { run: OpenRun }): JSX.Element {
  const made = useRows(run);
  const grid = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const { rows, tops } = made.value;
  const at = position.value;
  const current = rowOf(rows, at);
  const task = taskRowOf(rows, current);
  const Groups = groupParts.value;
  useEffect(() => loadGroups(run.model), [run]);
  const open = (row: Row | undefined) => {
    if (row === undefined) return;
    playing.value = false;
    if (row.is === "event") goTo(row.from);
    else selectItem(row.item);
  };
  const move = (by: 1 | -1) => {
    const { rows } = made.peek();
    const row = rows[Math.max(0, Math.min(rows.length - 1, rowOf(rows, position.peek()) + by))];
    // The position can already be within an item that overlaps with others: the row's place is its
    // first event.
    if (row !== undefined) goTo(row.from);
    open(row);
  };
  useEffect(() =>
    bindKeys([
      { keys: ["j"], group: "Look", label: "Row down", run: () => move(1) },
      { keys: ["k"], group: "Look", label: "Row up", run: () => move(-1) },
      {
        keys: ["/"],
        group: "Look",
        label: "Search names and values",
        run: () => input.current?.focus(),
      },
    ]), [run]);
  return (
    <>
      <SearchField input={input} found={rows.length} grid={grid} run={run} />
      <Kinds run={run} />
      {run.model.hasGroups && Groups !== undefined && <Groups.Bar model={run.model} />}
      <div
        ref={grid}
        class="scroll event-grid"
        id="events"
        role="grid"
        aria-label="Events"
        aria-rowcount={rows.length}
        aria-activedescendant={current < 0 ? undefined : rowId(rows[current]!)}
        tabIndex={0}
        onKeyDown={(event) => {
          const by = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined;
          if (
            by === undefined || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey
          ) return;
          event.preventDefault();
          move(by);
        }}
        onClick={(event) => {
          const at = (event.target as Element).closest<HTMLElement>("[data-row]")?.dataset["row"];
          if (at !== undefined) open(made.peek().rows[Number(at)]);
        }}
      >
        <WindowedRows
          tops={tops}
          current={current < 0 ? 0 : current}
          scroller={grid}
          row={(index, top) => {
            const row = rows[index]!;
            return (
              <EventRow
                key={`${row.is} ${row.from} ${index}`}
                run={run}
                row={row}
                index={index}
                top={top}
                isPast={row.from <= at}
                isCurrent={index === current}
                isTask={index === task}
              />
            );
          }}
        />
        {rows.length === 0 && (
          <p class="empty soft">No match. Hidden kinds and other groups are not searched.</p>
        )}
      </div>
    </>
  );
}

interface SearchProps {
  readonly input: { current: HTMLInputElement | null };
  readonly found: number;
  readonly grid: { readonly current: HTMLElement | null };
  readonly run: OpenRun;
}

function SearchField({ input, found, grid, run }: SearchProps): JSX.Element {
  return (
    <div class="search-bar">
      <label class="search">
        <Icon name="find" />
        <span class="unseen">Search events and values</span>
        <input
          ref={input}
          id="search"
          type="search"
          placeholder="Search events and values"
          autocomplete="off"
          spellcheck={false}
          value={sought.value}
          onInput={({ currentTarget }) => (sought.value = currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape" && sought.value === "") input.current?.blur();
            else if (event.key === "Escape") sought.value = "";
            else if (event.key === "Enter" || event.key === "ArrowDown") {
              const named = findEventNumber(run.model, sought.value);
              if (event.key === "Enter" && named !== undefined) goTo(named);
              grid.current?.focus();
            } else return;
            event.preventDefault();
          }}
        />
        {sought.value === ""
          ? <kbd aria-hidden="true">/</kbd>
          : <span class="soft" role="status">{count(found)}</span>}
      </label>
    </div>
  );
}

/** The filter: kinds with their counts, and a switch between items and events. */
function Kinds({ run }: { run: OpenRun }): JSX.Element {
  const counts = useMemo(() => [...countsOf(run.model)].filter(([kind]) => kind !== "run"), [run]);
  const toggle = (kind: ItemKind) => {
    const next = new Set(hidden.value);
    if (!next.delete(kind)) next.add(kind);
    hidden.value = next;
  };
  return (
    <div class="kinds" role="group" aria-label="Kinds that are shown">
      {counts.map(([kind, number]) => (
        <button
          type="button"
          key={kind}
          aria-pressed={!hidden.value.has(kind)}
          aria-label={`${KIND_NAMES[kind]}: ${number}`}
          title={`${KIND_NAMES[kind]}: ${count(number)}`}
          onClick={() => toggle(kind)}
        >
          <Glyph kind={kind} />
          {count(number)}
        </button>
      ))}
      <button
        type="button"
        class="unfold"
        aria-pressed={isUnfolded.value}
        title="One row for each event"
        onClick={() => (isUnfolded.value = !isUnfolded.value)}
      >
        All {count(run.model.lines.length)}
      </button>
    </div>
  );
}
