// Log points: an expression at a line, and its value each time the line ran. The values are
// recorded ones; no code runs again.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { digitsOf } from "../../../ts/run_view/rows.ts";
import { goTo, type OpenRun, position } from "../store/state.ts";
import { lineOfValue } from "../../../ts/run_view/value_text.ts";
import type { CodeSet } from "../store/code_set.ts";
import { clock } from "../ui/time.ts";
import { highlighted } from "./code_files.ts";
import { type Logged, logsOfLine } from "./code_facts.ts";
import type { LineAt } from "./facts.ts";

const point: Signal<LineAt | undefined> = signal<LineAt | undefined>(undefined);

/** Opens the panel for a line. The panel proposes an expression. */
export function openLogPoint(at: LineAt): void {
  point.value = at;
}

/** Rows that are shown. A line in a loop can run ten thousand times. */
const MOST = 200;
const DECLARED = /\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)/;
/** The result of the await is the value of the variable. */
const IS_RESULT = /=\s*await\s[^?|+]*$/;

export function LogPoints({ run, code }: { run: OpenRun; code: CodeSet }): JSX.Element | null {
  const open = point.value;
  if (open === undefined) return null;
  const line = highlighted(code, open.path)?.lines[open.line - 1] ?? "";
  const declared = DECLARED.exec(line)?.[1];
  const binding = IS_RESULT.test(line) ? declared : undefined;
  return (
    <Panel
      key={`${open.path} ${open.line}`}
      run={run}
      at={open}
      binding={binding}
      first={declared ?? "state"}
    />
  );
}

function Panel({ run, at, binding, first }: {
  readonly run: OpenRun;
  readonly at: LineAt;
  /** The variable to which the line assigns the result of its await. */
  readonly binding: string | undefined;
  /** The proposed expression. */
  readonly first: string;
}): JSX.Element {
  const [expression, setExpression] = useState(first);
  const field = useRef<HTMLInputElement>(null);
  // Otherwise the first typed characters would be shortcuts.
  useEffect(() => field.current?.select(), []);
  const session = run.session.value;
  const found = useMemo(() => logsOfLine(run, at, expression, binding), [
    session,
    at,
    expression,
    binding,
  ]);
  const rows = "wrong" in found ? [] : found;
  return (
    <section class="dock log-points" aria-label={`Log of line ${at.line}`}>
      <header>
        <h2>Log</h2>
        <label class="grow log-expression">
          <span class="soft">line {at.line}</span>
          <input
            ref={field}
            aria-label="Expression to log"
            value={expression}
            spellcheck={false}
            onInput={(event) => setExpression(event.currentTarget.value)}
          />
        </label>
        <span class="soft nowrap">{rows.length} {rows.length === 1 ? "time" : "times"}</span>
        <button type="button" class="button small bare" onClick={() => (point.value = undefined)}>
          Close
        </button>
      </header>
      <div class="scroll">
        <table class="plain-table" aria-label="Values">
          <thead>
            <tr>
              <th scope="col">Event</th>
              <th scope="col">Time</th>
              <th scope="col">Fiber</th>
              <th scope="col">{expression}</th>
            </tr>
          </thead>
          <tbody>{rows.slice(0, MOST).map((row, i) => <Row key={i} run={run} row={row} />)}</tbody>
        </table>
        {rows.length > MOST && <p class="soft">{rows.length - MOST} more are not shown.</p>}
        {"wrong" in found
          ? <p class="section failed">{found.wrong}</p>
          : rows.length === 0 && (
            <p class="section soft">The line has not run, or its values were not recorded.</p>
          )}
      </div>
    </section>
  );
}

function Row(
  { run, row: { eventId, fiber, value, error } }: { run: OpenRun; row: Logged },
): JSX.Element {
  const [start, at] = [run.model.lines[0]?.timeMs, run.model.lines[eventId - 1]?.timeMs];
  const isPast = eventId <= position.value;
  return (
    <tr class={isPast ? "past" : "future"}>
      <td>
        <button type="button" class="link-button" onClick={() => goTo(eventId)}>{eventId}</button>
      </td>
      <td>
        {start === undefined || at === undefined ? "" : clock(at - start, digitsOf(run.model))}
      </td>
      <td>{fiber}</td>
      <td class="mono">
        {error === undefined ? lineOfValue(value, 200) : <span class="failed">{error}</span>}
      </td>
    </tr>
  );
}
