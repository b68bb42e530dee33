// Damage over time, one workflow for each target of a spell. All of one spell have its id as their
// correlation, so the spell ends for all of them at once.
import { publishState, sleep, workflow } from "temporalex/workflow";

export interface DotInit {
  readonly target: number;
  readonly damage: number;
  readonly ticks: number;
}

export const dot = workflow("Dot", async ({ target, damage, ticks }: DotInit) => {
  let dealt = 0;
  for (let tick = 0; tick < ticks; tick++) {
    publishState({ target, dealt });
    await sleep("1s", { summary: "tick" });
    dealt += damage;
  }
  publishState({ target, dealt });
  return { target, dealt };
});
