// Table of the commands of code and history, task by task, around the first difference.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { goTo, type OpenRun } from "../store/state.ts";
import { Glyph, type GlyphKind } from "../ui/glyph.tsx";
import { type ComparedTask, comparedTasks } from "./compared.ts";

const onlyDifferences: Signal<boolean> = signal(false);

export function TaskTable({ run }: { run: OpenRun }): JSX.Element | null {
  const all = comparedTasks(run);
  if (all.length === 0) return null;
  const tasks = onlyDifferences.value
    ? all.map((one) => ({ ...one, rows: one.rows.filter(({ isSame }) => !isSame) }))
    : all;
  return (
    <section class="dock" aria-label="Task by task">
      <header>
        <h2>Task by task</h2>
        <span class="soft cut grow">commands of the code and of the history</span>
        <button
          type="button"
          class="button small bare"
          aria-pressed={onlyDifferences.value}
          onClick={() => (onlyDifferences.value = !onlyDifferences.value)}
        >
          {onlyDifferences.value ? "All commands" : "Only differences"}
        </button>
      </header>
      <div class="scroll" tabIndex={0} role="region" aria-label="Commands of code and history">
        <table class="compared" aria-label="Commands, code and history">
          <thead>
            <tr>
              <th scope="col" class="of-task">Task</th>
              <th scope="col">Your code</th>
              <th scope="col" class="of-sign">
                <span class="unseen">Same?</span>
              </th>
              <th scope="col">History</th>
            </tr>
          </thead>
          <tbody>{tasks.map((task) => <Rows key={task.task} task={task} />)}</tbody>
        </table>
      </div>
    </section>
  );
}

function Rows({ task: { task, rows } }: { task: ComparedTask }): JSX.Element {
  return (
    <>
      {rows.map(({ code, history, isSame, isFirst }, i) => (
        <tr key={i} class={isFirst ? "first-difference" : isSame === undefined ? "future" : ""}>
          <td class="of-task">
            {i === 0 && (
              <>
                task <b>{task}</b>
              </>
            )}
          </td>
          <td>
            {code !== undefined ? <Side {...code} /> : (
              <span class="soft">
                {isSame === undefined ? (i === 0 ? "not reached" : "") : "nothing"}
              </span>
            )}
          </td>
          <td class={`of-sign ${isSame === false ? "differs" : ""}`}>
            {isSame === undefined ? "" : isSame ? "=" : "≠"}
          </td>
          <td>
            {history === undefined ? <span class="soft">nothing</span> : <Side {...history} />}
          </td>
        </tr>
      ))}
    </>
  );
}

function Side(
  { glyph, text, more, eventId }: {
    glyph: GlyphKind | undefined;
    text: string;
    more: string;
    eventId: number;
  },
): JSX.Element {
  return (
    <span class="side">
      {glyph !== undefined && <Glyph kind={glyph} />}
      <span class="cut grow" title={text}>{text}</span>
      {eventId > 0
        ? (
          <button
            type="button"
            class="link-button soft"
            aria-label={`Go to event ${eventId}`}
            onClick={() => goTo(eventId)}
          >
            {eventId}
          </button>
        )
        : <span class="soft nowrap">{more}</span>}
    </span>
  );
}
