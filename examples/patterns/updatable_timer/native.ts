// An updatable timer: a signal moves the time at which the auction ends.
import { now, on, select, signal, timer, workflow } from "temporalex/workflow";

export const moveEnd = signal<[end: number]>("moveEnd");

export const auction = workflow("auction", async (end: number) => {
  let moves = 0;
  while (
    await select([
      timer(Math.max(0, end - now()), () => false),
      on(moveEnd, ([moved]) => {
        end = moved;
        return ++moves > 0;
      }),
    ])
  );
  return { ended: now(), moves };
});
