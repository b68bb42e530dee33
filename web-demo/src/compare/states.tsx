// The published state of both sides at a step, as a difference of B from A, and what each side
// waits for.
import type { JSX } from "preact";
import type { Comparison } from "../../../ts/what_if/compare.ts";
import { eventsAt } from "../../../ts/what_if/folded.ts";
import { ValueDiff } from "../inspector/value_diff.tsx";
import { type Side, sideView } from "./sides.ts";

interface Props {
  readonly a: Side;
  readonly b: Side;
  readonly comparison: Comparison;
  /** Index of the step. */
  readonly at: number;
}

export function BothStates({ a, b, comparison, at }: Props): JSX.Element {
  const [eventA, eventB] = eventsAt(comparison, at);
  const [viewA, viewB] = [sideView(a, eventA), sideView(b, eventB)];
  const [stateA, stateB] = [viewA?.published, viewB?.published];
  const read = (state: typeof stateA) =>
    state !== undefined && "value" in state ? state.value : undefined;
  const sides = [["A", a, eventA, viewA], ["B", b, eventB, viewB]] as const;
  return (
    <>
      <section class="section">
        <h2 class="section-title">State at this step: B, and what differs from A</h2>
        {stateA === undefined && stateB === undefined
          ? (
            <p class="soft">
              {a.session === undefined && b.session === undefined
                ? NO_CODE
                : "No state published yet."}
            </p>
          )
          : stateB === undefined
          ? (
            <p class="soft">
              B has not published any state{b.session === undefined
                ? ": its code has not run"
                : ""}.
            </p>
          )
          : (
            <ValueDiff
              label="State of B"
              value={read(stateB)}
              before={read(stateA)}
              hasBefore={stateA !== undefined}
            />
          )}
        {stateB === undefined && stateA !== undefined && (
          <ValueDiff label="State of A" value={read(stateA)} before={undefined} hasBefore={false} />
        )}
      </section>
      <section class="section">
        <h2 class="section-title">Position and waits</h2>
        {sides.map(([mark, side, event, view]) => (
          <p class="end-line" key={mark} id={`end-state-${mark.toLowerCase()}`}>
            <span class={`side-mark of-${mark.toLowerCase()}`}>{mark}</span>
            <span>
              {event < 1 ? "not started" : `event ${event}`}
              {side.session === undefined ? "" : `: ${standing(view)}`}
            </span>
          </p>
        ))}
      </section>
    </>
  );
}

const NO_CODE = "Replay the code of a run to see its published state.";

function standing(view: ReturnType<typeof sideView>): string {
  if (view === undefined) return "nothing has run";
  if (view.outcome !== undefined) return view.outcome.kind;
  return view.open.length === 0
    ? "waits for nothing"
    : `waits for ${view.open.map(({ label }) => label).join(", ")}`;
}
