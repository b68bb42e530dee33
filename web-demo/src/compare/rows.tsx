// The steps of both sides, aligned. Equal steps are folded; a button unfolds them.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Comparison } from "../../../ts/what_if/compare.ts";
import { foldedSteps } from "../../../ts/what_if/folded.ts";
import { count, formatDelay } from "../ui/time.ts";
import { StepText } from "../what_if/steps.tsx";

interface Props {
  readonly comparison: Comparison;
  readonly at: number;
  /** Number of moves of the reader: each scrolls the chosen step into view. */
  readonly moves: number;
  readonly unfolded: ReadonlySet<number>;
  unfold(from: number): void;
  choose(index: number): void;
}

/** Limit for rows. Folding keeps most comparisons far below it. */
const MOST = 2000;

export function ComparedRows(
  { comparison, at, moves, unfolded, unfold, choose }: Props,
): JSX.Element {
  const current = useRef<HTMLTableRowElement>(null);
  const rows = useMemo(() => foldedSteps(comparison, { unfolded }), [comparison, unfolded]);
  // Moving into a fold by keyboard unfolds it.
  const inFold = rows.find((row) => row.kind === "fold" && row.from <= at && at < row.to);
  useEffect(() => {
    if (inFold?.kind === "fold") unfold(inFold.from);
    else if (moves > 0) current.current?.scrollIntoView({ block: "nearest" });
  }, [at, moves, inFold]);
  const shown = rows.slice(0, MOST);
  return (
    <>
      <table class="both-steps compared">
        <thead>
          <tr>
            <th scope="col">
              <span class="side-mark of-a">A</span>
            </th>
            <th scope="col">
              <span class="side-mark of-b">B</span>
            </th>
            <th scope="col" class="num">B later</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => {
            if (row.kind === "fold") {
              return (
                <tr key={row.from} class="fold">
                  <td colSpan={2}>
                    <button type="button" class="link-button" onClick={() => unfold(row.from)}>
                      {count(row.to - row.from)} steps are the same
                    </button>
                  </td>
                  <td class="num" />
                </tr>
              );
            }
            const { index, step: { a, b, same, laterMs } } = row;
            const isCurrent = index === at;
            return (
              <tr
                key={`s${index}`}
                ref={isCurrent ? current : undefined}
                class={`${same ? "" : "differs"} ${isCurrent ? "current" : ""}`}
                aria-current={isCurrent ? "true" : undefined}
                onClick={() => choose(index)}
              >
                <td>
                  {a === undefined ? <span class="soft">missing</span> : <StepText step={a} />}
                </td>
                <td>
                  {b === undefined ? <span class="soft">missing</span> : <StepText step={b} />}
                </td>
                <td class="num">{formatDelay(laterMs)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length > MOST && (
        <p class="soft compare-hint">{count(rows.length - MOST)} more rows are not drawn.</p>
      )}
    </>
  );
}
