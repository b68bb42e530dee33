// The screen of branches: A and B on two rows, below them the tree of branches, steps or code, and
// the changes of B.
import { effect, type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { OpenRun } from "../store/state.ts";
import { bindKeys } from "../store/keys.ts";
import { Tabs } from "../ui/tabs.tsx";
import { asked } from "./mod.ts";
import { Axes } from "./axes.tsx";
import { type Branches, branchesOf, comparisonOf } from "./branches.ts";
import { Changes } from "./changes.tsx";
import { BothCodes } from "./both_codes.tsx";
import { Steps } from "./steps.tsx";
import { Tree } from "./tree.tsx";
import "./what_if.css";

type Middle = "code" | "steps";
type Pane = "tree" | "middle" | "changes";

const middle: Signal<Middle> = signal<Middle>("steps");
const pane: Signal<Pane> = signal<Pane>("middle");
/** Index of the shown difference. */
export const difference: Signal<number> = signal(0);

function nextDifference(branches: Branches): void {
  const count = comparisonOf(branches)?.differences.length ?? 0;
  if (count > 0) difference.value = (difference.value + 1) % count;
}

export function WhatIfScreen({ run }: { run: OpenRun }): JSX.Element {
  const branches = branchesOf(run);
  useEffect(
    () =>
      bindKeys([{
        keys: ["n"],
        group: "Ask",
        label: "Next difference of A and B",
        run: () => nextDifference(branches),
      }]),
    [
      branches,
    ],
  );
  useEffect(() =>
    effect(() => {
      // Reading `value` subscribes: another branch starts at its first difference.
      branches.chosen.value;
      difference.value = 0;
    }), [branches]);
  // On narrow screens start with the pane of changes: without a change there is nothing to compare.
  useEffect(() => {
    if (asked.peek() !== undefined || branches.chosen.peek() === 0) pane.value = "changes";
  }, []);
  const comparison = comparisonOf(branches);
  const state = branches.state.value;
  const first = comparison?.steps[comparison.first];
  const firstEvent = first?.a?.eventId ?? first?.b?.eventId;
  return (
    <div class="what-if-room">
      <Axes branches={branches} comparison={comparison} />
      <div class="what-if-bar">
        <p class="what-if-said" role="status">
          {state !== undefined && "running" in state
            ? "Running the branch…"
            : state !== undefined
            ? <span class="bad">{state.error}</span>
            : comparison === undefined
            ? "Change something. The branch then runs in this page, in virtual time."
            : comparison.first < 0
            ? "A and B are equal."
            : `First difference: event ${firstEvent}`}
        </p>
        <button
          type="button"
          class="button small"
          id="next-difference"
          aria-disabled={comparison === undefined || comparison.first < 0}
          onClick={() => nextDifference(branches)}
        >
          Next difference <kbd>n</kbd>
        </button>
      </div>
      <Tabs
        class="pane-tabs"
        label="Panes"
        tabs={[["middle", "Compare"], ["tree", "Branches"], ["changes", "Change"]]}
        chosen={pane}
      />
      <div class="what-if-work" data-pane={pane.value}>
        <section class="what-if-tree" aria-label="Branches">
          <Tree branches={branches} />
        </section>
        <section class="what-if-middle" aria-label="Comparison" tabIndex={0}>
          <Tabs label="Compared" tabs={[["steps", "Steps"], ["code", "Code"]]} chosen={middle} />
          {middle.value === "steps"
            ? <Steps branches={branches} comparison={comparison} difference={difference.value} />
            : <BothCodes branches={branches} />}
        </section>
        <section class="what-if-changes" aria-label="What B changes" tabIndex={0}>
          <Changes branches={branches} />
        </section>
      </div>
    </div>
  );
}
