// The keys that belong to no pane.
import { bindKeys, sheetIsOpen } from "./keys.ts";
import { currentRun, goTo, pane } from "./state.ts";

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
    { keys: ["1"], group: "Look", label: "Code", run: () => (pane.value = "code") },
    { keys: ["2"], group: "Look", label: "Events", run: () => (pane.value = "events") },
    { keys: ["3"], group: "Look", label: "Why, state", run: () => (pane.value = "why") },
    { keys: ["?"], group: "Look", label: "This sheet", run: () => (sheetIsOpen.value = true) },
  ]);
}
