// A summary of both runs: the first difference, how each run ends and how long it took.
import type { JSX } from "preact";
import type { ComparedStep, Comparison } from "../../../ts/what_if/compare.ts";
import { firstDifference } from "../../../ts/what_if/folded.ts";
import type { Step } from "../../../ts/what_if/steps.ts";
import { count, lasting } from "../ui/time.ts";
import { endOf } from "../what_if/words.ts";
import type { Side } from "./sides.ts";

interface Props {
  readonly a: Side;
  readonly b: Side;
  readonly comparison: Comparison;
  next(): void;
}

export function Summary({ a, b, comparison, next }: Props): JSX.Element {
  const { steps, differences, tookMs } = comparison;
  const parting = firstDifference(comparison);
  return (
    <>
      <div class="compare-first">
        <p role="status" id="first-difference">
          {parting === undefined ? "A and B are equal." : firstText(parting)}
        </p>
        <button
          type="button"
          class="button small"
          id="next-difference"
          aria-disabled={parting === undefined}
          onClick={next}
        >
          Next difference <kbd>n</kbd>
        </button>
      </div>
      <table class="compare-facts">
        <thead>
          <tr>
            <td />
            {([["A", a], ["B", b]] as const).map(([mark, side]) => (
              <th scope="col" key={mark}>
                <span class={`side-mark of-${mark.toLowerCase()}`}>{mark}</span> {side.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr id="both-ends">
            <th scope="row">End</th>
            <td>
              <code>{endOf(a.events ?? [])}</code>
            </td>
            <td>
              <code>{endOf(b.events ?? [])}</code>
            </td>
          </tr>
          <tr>
            <th scope="row">Duration</th>
            <td>{lasting(tookMs[0])}</td>
            <td>{lasting(tookMs[1])}</td>
          </tr>
          <tr>
            <th scope="row">Steps</th>
            {(["a", "b"] as const).map((side) => (
              <td key={side}>{count(steps.filter((step) => step[side]).length)}</td>
            ))}
          </tr>
          <tr>
            <th scope="row">Differences</th>
            <td colSpan={2}>{count(differences.length)} of {count(steps.length)}</td>
          </tr>
        </tbody>
      </table>
    </>
  );
}

const stepText = ({ eventId, kind, name, what }: Step) =>
  `${[kind, name, what].filter(Boolean).join(" ")} (event ${eventId})`;

/** The first difference as a sentence. */
function firstText({ a, b }: Pick<ComparedStep, "a" | "b">): string {
  if (a === undefined) return `First difference: only B has ${stepText(b!)}.`;
  if (b === undefined) return `First difference: only A has ${stepText(a)}.`;
  const alike = a.kind === b.kind && a.name === b.name && a.what === b.what;
  return alike
    ? `First difference: ${stepText(a)} has another value in B (event ${b.eventId}).`
    : `First difference: ${stepText(a)} in A, ${stepText(b)} in B.`;
}
