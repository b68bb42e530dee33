// Moves money back and forth, and notes each step.
import { random, reducers, transact, workflow, workflowInfo } from "../../../../ts/workflow/mod.ts";
import { ACCOUNTS } from "./reducers.ts";

const bank = reducers<typeof import("./reducers.ts")>();

export const clerk = workflow("Clerk", async (steps: number) => {
  const { runId } = workflowInfo();
  let moved = 0;
  for (let step = 0; step < steps; step++) {
    transact(bank.note, runId, step);
    const pick = () => Math.floor(random() * ACCOUNTS);
    // One in some asks for more than there is.
    const amount = Math.floor(random() * 1.2 * 1000);
    moved += await transact(bank.move, runId, pick(), pick(), amount).then((n) => n, () => 0);
  }
  return moved;
});
