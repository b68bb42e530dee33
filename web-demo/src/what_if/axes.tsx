// The steps of A and B in two aligned rows: equal steps have the same place. A step that one side
// lacks is dashed there, a changed step has a ring, and a violet line marks the first difference.
import type { JSX } from "preact";
import type { ComparedStep, Comparison } from "../../../ts/what_if/compare.ts";
import { type Step, stepsOf } from "../../../ts/what_if/steps.ts";
import type { StepKind } from "../../../ts/what_if/steps.ts";
import { Glyph, type GlyphKind } from "../ui/glyph.tsx";
import { clock } from "../ui/time.ts";
import type { Branches } from "./branches.ts";

export const GLYPHS: { readonly [kind in StepKind]: GlyphKind } = {
  ...{
    run: "run",
    signal: "signal",
    update: "update",
    cancel: "signal",
    activity: "activity",
    timer: "timer",
    child: "child",
  },
  ...{
    "local activity": "localActivity",
    external: "external",
    marker: "marker",
    transact: "marker",
    nexus: "nexus",
  },
  "search attributes": "searchAttributes",
};

/** Steps that are drawn; more would overlap to a gray line. */
const MOST = 400;
/** Names are shown up to this number of steps; more steps leave no room for them. */
const MOST_NAMED = 14;
/** Steps that show their name: those that start something. */
const BEGINS: ReadonlySet<string> = new Set(["accepted", "received", "scheduled", "initiated"]);

export function Axes(
  { branches, comparison }: { branches: Branches; comparison: Comparison | undefined },
): JSX.Element {
  const { history, chosen, tree } = branches;
  const steps: readonly ComparedStep[] = comparison?.steps ??
    stepsOf(history.value?.events ?? []).map((a) => ({ a, b: a, same: true, laterMs: 0 }));
  const shown = steps.slice(0, MOST);
  const start = shown[0]?.a?.timeMs ?? 0;
  return (
    <div class="axes">
      <Axis mark="A" title="Recorded" steps={shown} side="a" start={start} first={-1} />
      {chosen.value !== 0 && (
        <Axis
          mark="B"
          title={tree.value.node(chosen.value).title}
          steps={comparison === undefined ? [] : shown}
          side="b"
          start={shown[0]?.b?.timeMs ?? 0}
          first={comparison?.first ?? -1}
        />
      )}
    </div>
  );
}

interface AxisProps {
  readonly mark: "A" | "B";
  readonly title: string;
  readonly steps: readonly ComparedStep[];
  readonly side: "a" | "b";
  readonly start: number;
  readonly first: number;
}

function Axis({ mark, title, steps, side, start, first }: AxisProps): JSX.Element {
  const at = (i: number) => `${((i + 0.5) / Math.max(1, steps.length)) * 100}%`;
  return (
    <div
      class={`axis of-${side}`}
      role="img"
      aria-label={`${mark}, ${title}: ${steps.filter((step) => step[side]).length} steps`}
    >
      <p class="axis-title">
        <span class={`side-mark of-${side}`}>{mark}</span>
        <span class="cut-text" title={title}>{title}</span>
      </p>
      <div
        class="axis-line"
        aria-hidden="true"
        style={{ "--steps": String(Math.max(1, steps.length)) }}
      >
        {first >= 0 && <span class="if-rule" style={{ left: at(first) }} />}
        {steps.map((step, i) => {
          const own = step[side];
          const other = step[side === "a" ? "b" : "a"];
          const one = own ?? other!;
          const look = own === undefined ? "lacks" : step.same || side === "a" ? "" : "changed";
          return (
            <span
              key={i}
              class={`axis-step ${look}`}
              style={{ left: at(i) }}
              title={stepTitle(one, start)}
            >
              <Glyph kind={GLYPHS[one.kind]} size={11} />
              {steps.length <= MOST_NAMED && BEGINS.has(one.what) && (
                <span class="axis-name">{one.name}</span>
              )}
            </span>
          );
        })}
      </div>
    </div>
  );
}

const stepTitle = ({ kind, what, name, text, timeMs }: Step, start: number): string =>
  `${kind} ${name} ${what} ${text} at ${clock(timeMs - start)}`;
