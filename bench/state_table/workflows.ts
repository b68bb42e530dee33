// The steps of bench/state_table.ts as a workflow.
import { reducers, sleep, transact, workflow } from "../../ts/workflow/mod.ts";

const { effect } = reducers<typeof import("./effect.ts")>();

export const timedSteps = workflow(
  "TimedSteps",
  async (task: number, steps: number, delay: number) => {
    for (let step = 0, attempt = 1; step < steps;) {
      const due = Date.now() + delay;
      await sleep(delay);
      try {
        await transact(effect, task, step, attempt, due);
        [step, attempt] = [step + 1, 1];
      } catch {
        attempt++;
      }
    }
  },
);
