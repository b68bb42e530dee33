// A run that goes on while it is looked at. Whoever stands at its end follows it; whoever has stepped back stays, and is told what came.
import { batch, type Signal, signal } from "@preact/signals";
import { currentRun, goTo, type OpenRun, openRuns, position } from "../app/state.ts";

/** Events of the current run that came since its end was last in sight. */
export const newEvents: Signal<number> = signal(0);

/** Puts a run in the place of the same one with fewer events. */
export function replaceRun(before: OpenRun, next: OpenRun): void {
  const length = before.model.lines.length;
  const isShown = currentRun.peek() === before;
  const follows = isShown && position.peek() === length;
  batch(() => {
    openRuns.value = openRuns.peek().map((run) => run === before ? next : run);
    if (!isShown) return;
    currentRun.value = next;
    if (follows) goTo(next.model.lines.length);
    newEvents.value = follows ? 0 : newEvents.peek() + next.model.lines.length - length;
  });
}
