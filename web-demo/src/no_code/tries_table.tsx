// The attempts of an activity. The history has only the last one. The table estimates the times of
// the others from the retry policy and says so.
import type { JSX } from "preact";
import { digitsOf } from "../../../ts/run_view/rows.ts";
import type { RunItem } from "../store/run_model.ts";
import type { OpenRun } from "../store/state.ts";
import { clock, count, lasting } from "../ui/time.ts";
import { innermost } from "../../../ts/run_view/words.ts";

/** Limit for rows: the last attempts are shown. */
const MOST = 12;

export function TriesTable({ run, item }: { run: OpenRun; item: RunItem }): JSX.Element | null {
  if (item.attempt < 2) return null;
  const all = run.model.attemptsOf(item);
  if (all.length === 0) return null;
  const start = run.model.facts.startMs ?? 0;
  const attempts = all.slice(-MOST);
  return (
    <section class="section">
      <table class="tries" id="tries">
        <thead>
          <tr>
            <th>Attempt</th>
            <th>Started</th>
            <th>Back-off before</th>
            <th>Ended with</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map(({ number, startMs, about, backoffMs, failure }) => {
            const why = failure === undefined ? undefined : innermost(failure);
            const isLast = number === item.attempt;
            return (
              <tr key={number} class={about ? "about" : ""}>
                <td>{count(number)}</td>
                <td>
                  {startMs === undefined
                    ? "not recorded"
                    : `${about && number > 1 ? "about " : ""}${
                      clock(startMs - start, digitsOf(run.model))
                    }`}
                </td>
                <td>{backoffMs === 0 ? "none" : lasting(backoffMs)}</td>
                <td>
                  {why !== undefined
                    ? (
                      <>
                        <b class="failed">{why.type}</b> {why.message}
                      </>
                    )
                    : isLast
                    ? item.status === "completed"
                      ? "result"
                      : item.status === "open"
                      ? "still running"
                      : item.status
                    : <span class="soft">not recorded</span>}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="soft">
        {all[0]!.number < attempts[0]!.number || attempts[0]!.number > 1
          ? `Attempts before ${count(attempts[0]!.number)} are not shown. `
          : ""}
        The history has the last attempt only. Earlier times are estimated from the retry policy.
      </p>
    </section>
  );
}
