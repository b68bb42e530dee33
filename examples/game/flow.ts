// Ordinary control flow around waits: a counter, a loop over children, a branch. Variables are
// durable without a word: they are what the code computes again from its history.
import { sleep, spawn, timers, workflow } from "temporalex/workflow";

export const flowTimers = timers("tick", "short", "long");

/** Counts one per second. */
export const tickCounter = workflow(
  "TickCounter",
  async ({ iterations }: { iterations: number }) => {
    let count = 0;
    for (let i = 0; i < iterations; i++) {
      await sleep("1s", { summary: flowTimers.tick });
      count += 1;
    }
    return { finalCount: count };
  },
);

export const task = workflow("Task", async ({ id }: { id: number }) => {
  await sleep("1s");
  return { value: id * 10 };
});

/** One child after the other. */
export const taskList = workflow("TaskList", async ({ taskCount }: { taskCount: number }) => {
  let total = 0;
  for (let id = 0; id < taskCount; id++) {
    const { value } = await spawn(task, { id });
    total += value;
  }
  return total;
});

/** The condition is evaluated once: what it was is part of what replay computes again. */
export const branching = workflow(
  "Branching",
  async ({ useShortTimer }: { useShortTimer: boolean }) => {
    let value = 0;
    if (useShortTimer) {
      await sleep("1s", { summary: flowTimers.short });
      value += 10;
    } else {
      await sleep("5s", { summary: flowTimers.long });
      value += 50;
    }
    return value;
  },
);
