import { activities, isCancellation, now, sleep, workflow } from "temporalex/workflow";

const compute = activities<typeof import("./activities.ts")>({
  startToClose: "1h",
  // A process that died is noticed after this, and the next attempt resumes where it was.
  heartbeat: "30s",
  cancellationType: "waitCancellationCompleted",
});

export const primes = workflow("Primes", async (limit: number): Promise<number | "stopped"> => {
  try {
    return await compute.countPrimes(limit);
  } catch (error) {
    if (isCancellation(error)) return "stopped";
    throw error;
  }
});

/** Sleeps again and again; the longest delay between two of its timers, in milliseconds. */
export const clock = workflow("Clock", async (ticks: number): Promise<number> => {
  let longest = 0;
  for (let i = 0; i < ticks; i++) {
    const before = now();
    await sleep(20);
    longest = Math.max(longest, now() - before);
  }
  return longest;
});
