// Where the run's time went: one row per name, the longest first.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { type OpenRun, playing, selectItem } from "../store/state.ts";
import { Glyph, KIND_NAMES } from "../ui/glyph.tsx";
import { count, lasting } from "../ui/time.ts";
import { summaryOf } from "../../../ts/run_view/summary.ts";

/** Rows that are shown at first. */
const AT_ONCE = 12;

export function SummaryTable({ run }: { run: OpenRun }): JSX.Element | null {
  const rows = useMemo(() => summaryOf(run.model), [run]);
  const [isWhole, setWhole] = useState(false);
  if (rows.length === 0) return null;
  const longest = Math.max(1, ...rows.map(({ longestMs }) => longestMs ?? 0));
  return (
    <section class="section">
      <h3>Items by name and duration</h3>
      <table class="tries summary">
        <thead>
          <tr>
            <th>Name</th>
            <th class="right">Times</th>
            <th class="right">Failed</th>
            <th class="right">Attempts</th>
            <th class="right">Median</th>
            <th>Longest</th>
          </tr>
        </thead>
        <tbody>
          {(isWhole ? rows : rows.slice(0, AT_ONCE)).map((row) => (
            <tr key={`${row.kind} ${row.name}`}>
              <td>
                <div class="named">
                  <Glyph kind={row.kind} label={KIND_NAMES[row.kind]} />
                  <button
                    type="button"
                    class="thing-link cut"
                    title={row.name}
                    onClick={() => {
                      playing.value = false;
                      selectItem(row.longest);
                    }}
                  >
                    {row.name}
                  </button>
                </div>
              </td>
              <td class="right">{count(row.count)}</td>
              <td class={row.failed > 0 ? "right failed" : "right soft"}>{count(row.failed)}</td>
              <td class="right soft">{row.tries === 0 ? "" : count(row.tries)}</td>
              <td class="right soft">{row.medianMs === undefined ? "" : lasting(row.medianMs)}</td>
              <td>
                {row.longestMs !== undefined && (
                  <>
                    <span class="part-meter" aria-hidden="true">
                      <i
                        class={`k-${row.kind === "localActivity" ? "activity" : row.kind}`}
                        ref={(element) =>
                          element?.style.setProperty(
                            "width",
                            `${Math.max(2, row.longestMs! / longest * 100)}%`,
                          )}
                      />
                    </span>
                    {lasting(row.longestMs)}
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > AT_ONCE && (
        <button
          type="button"
          class="button small bare"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? "Fewer" : `${rows.length - AT_ONCE} more`}
        </button>
      )}
    </section>
  );
}
