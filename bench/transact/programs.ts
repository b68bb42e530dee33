// Workflows of bench/transact.ts: the same steps with and without a reducer.
import { activities, reducers, sleep, transact, workflow } from "../../ts/workflow/mod.ts";

const { insert } = reducers<typeof import("./reducers.ts")>();
const { nothing } = activities<{ nothing(): void }>();

/** Each step is a workflow task that a timer starts. */
export const bare = workflow("Bare", async (steps: number) => {
  for (let i = 0; i < steps; i++) await sleep(1);
});

/** As Bare, with a row in each task. */
export const row = workflow("Row", async (steps: number) => {
  for (let i = 0; i < steps; i++) {
    transact(insert, i);
    await sleep(1);
  }
});

/** Each step waits for its reducer. */
export const awaited = workflow("Awaited", async (steps: number) => {
  for (let i = 0; i < steps; i++) await transact(insert, i);
});

/** Each step waits for an activity that does nothing. */
export const activity = workflow("Activity", async (steps: number) => {
  for (let i = 0; i < steps; i++) await nothing();
});
