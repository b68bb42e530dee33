import { activities, publishState, query, sleep, workflow } from "temporalex/workflow";

const acts = activities<typeof import("./activities.ts")>({ startToClose: "1m" });

export const status = query<string>("status");

/** A batch of steps, one after the other, that may be interrupted at any time. */
export const batch = workflow("Batch", {
  messages: { status },
  queries: { status: (published: string) => published },
  async run(steps: number): Promise<string[]> {
    const done: string[] = [];
    for (let step = 1; step <= steps; step++) {
      publishState(`step ${step}`);
      done.push(await acts.work(step));
      await sleep(50);
    }
    return done;
  },
});
