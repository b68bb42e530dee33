// Keys that work in every pane.
import { bindKeys, sheetIsOpen } from "../store/keys.ts";
import { type Tie, tiedTo } from "../store/chain.ts";
import { currentRun, goTo, openedRuns, pane, showRun } from "../store/state.ts";

/** Shows the first opened run with this relation to the current run. */
function toTied(tie: Tie): void {
  const run = currentRun.peek();
  const there = run === undefined ? undefined : tiedTo(run, tie, openedRuns.peek())[0];
  if (there !== undefined) showRun(there);
}

export function bindAppKeys(): void {
  bindKeys([
    {
      keys: ["d"],
      group: "Move",
      label: "Go to the divergence",
      run: () => {
        const verdict = currentRun.value?.verdict.value;
        if (verdict !== undefined && "problem" in verdict) goTo(verdict.problem.position);
      },
    },
    { keys: ["<"], group: "Move", label: "Previous run, if opened", run: () => toTied("before") },
    { keys: [">"], group: "Move", label: "Next run, if opened", run: () => toTied("after") },
    { keys: ["^"], group: "Move", label: "Parent run, if opened", run: () => toTied("parent") },
    { keys: ["_"], group: "Move", label: "First child run, if opened", run: () => toTied("child") },
    { keys: ["1"], group: "Look", label: "Code", run: () => (pane.value = "code") },
    { keys: ["2"], group: "Look", label: "Events", run: () => (pane.value = "events") },
    { keys: ["3"], group: "Look", label: "Why, state", run: () => (pane.value = "why") },
    { keys: ["?"], group: "Look", label: "Show all keys", run: () => (sheetIsOpen.value = true) },
  ]);
}
