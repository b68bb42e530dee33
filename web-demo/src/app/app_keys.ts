// The keys that belong to no pane.
import { bindKeys, sheetIsOpen } from "./keys.ts";
import { type Tie, tiedTo } from "./chain.ts";
import { currentRun, goTo, openedRuns, pane, showRun } from "./state.ts";

/** To the first opened run of its kind. */
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
      label: "Where code and history part",
      run: () => {
        const verdict = currentRun.value?.verdict.value;
        if (verdict !== undefined && "problem" in verdict) goTo(verdict.problem.position);
      },
    },
    { keys: ["<"], group: "Move", label: "The run before it, if it is open", run: () => toTied("before") },
    { keys: [">"], group: "Move", label: "The run after it", run: () => toTied("after") },
    { keys: ["^"], group: "Move", label: "Its parent", run: () => toTied("parent") },
    { keys: ["_"], group: "Move", label: "Its first child", run: () => toTied("child") },
    { keys: ["1"], group: "Look", label: "Code", run: () => (pane.value = "code") },
    { keys: ["2"], group: "Look", label: "Events", run: () => (pane.value = "events") },
    { keys: ["3"], group: "Look", label: "Why, state", run: () => (pane.value = "why") },
    { keys: ["?"], group: "Look", label: "This sheet", run: () => (sheetIsOpen.value = true) },
  ]);
}
