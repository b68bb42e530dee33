// A buff on a character: it stacks, it can be dispelled, and it expires. The timer is made inside
// of the loop, so each stack gives the whole duration again.
import { on, payload, select, signals, timer, timers, workflow } from "temporalex/workflow";

export interface BuffInit {
  readonly durationSeconds: number;
}

export interface BuffResult {
  readonly finalStacks: number;
  readonly ended: "expired" | "dispelled";
}

export const buffSignals = signals({ stack: payload<[count: number]>(), dispel: payload() });
export const buffTimers = timers("expire");

export const buff = workflow("Buff", async ({ durationSeconds }: BuffInit): Promise<BuffResult> => {
  let finalStacks = 1;
  for (;;) {
    const ended = await select([
      timer(buffTimers.expire, durationSeconds * 1000, () => "expired" as const),
      on(buffSignals.dispel, () => "dispelled" as const),
      on(buffSignals.stack, ([count]) => {
        finalStacks += count;
      }),
    ]);
    if (ended !== undefined) return { finalStacks, ended };
  }
});
