// Replaces a run that has new events, or whose file was written again. The position follows the end
// if it was there; otherwise it stays, and the number of new events is shown.
import { batch, type Signal, signal } from "@preact/signals";
import { currentRun, goTo, openedRuns, type OpenRun, position } from "../store/state.ts";

/** Events of the current run that arrived since the position was last at the end. */
export const newEvents: Signal<number> = signal(0);

/** Replaces a run by its newer state. */
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
