// An updatable timer: a signal moves the time at which the auction ends.
import { condition, defineSignal, setHandler } from "@temporalio/workflow";

export const moveEnd = defineSignal<[end: number]>("moveEnd");

export async function auction(end: number): Promise<{ ended: number; moves: number }> {
  let moves = 0;
  let moved = true;
  setHandler(moveEnd, (to) => {
    end = to;
    moves++;
    moved = true;
  });
  while (moved) {
    moved = false;
    const remaining = end - Date.now();
    if (remaining > 0) await condition(() => moved, remaining);
  }
  return { ended: Date.now(), moves };
}
