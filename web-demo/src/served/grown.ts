// A run that goes on while it is looked at, or whose file is written again. Whoever stands at its end follows it; whoever has stepped back stays, and is told what came.
import { batch, type Signal, signal } from "@preact/signals";
import { currentRun, goTo, openedRuns, type OpenRun, position } from "../app/state.ts";

/** Events of the current run that came since its end was last in sight. */
export const newEvents: Signal<number> = signal(0);

/** Puts a run in the place of what it was before. */
export function replaceRun(before: OpenRun, next: OpenRun): void {
  const length = before.model.lines.length;
  const isShown = currentRun.peek() === before;
  const follows = isShown && position.peek() === length;
  batch(() => {
    openedRuns.value = openedRuns.peek().map((run) => run === before ? next : run);
    if (!isShown) return;
    currentRun.value = next;
    const now = next.model.lines.length;
    if (follows || position.peek() > now) goTo(now);
    newEvents.value = follows ? 0 : Math.max(0, newEvents.peek() + now - length);
  });
}
