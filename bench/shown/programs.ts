// Workflows of bench/shown.ts.
import { publishState, sleep, workflow } from "../../ts/workflow/mod.ts";

/** Each step is a workflow task that a timer starts. */
export const silent = workflow("Silent", async (steps: number) => {
  for (let i = 0; i < steps; i++) await sleep(1);
});

/** As Silent, with a published state of about 100 bytes that each step changes. */
export const publishing = workflow("Publishing", async (steps: number) => {
  for (let i = 0; i < steps; i++) {
    publishState({
      hp: 100 - i % 100,
      position: { x: i, y: -i },
      target: "orc-17",
      buffs: ["shield", "haste", "regeneration"],
    });
    await sleep(1);
  }
});
