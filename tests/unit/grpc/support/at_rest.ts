// Checks that nothing of an attempt keeps running: a busy loop would use a whole core at each
// measurement.
import process from "node:process";

/**
 * Waits until the process uses less than most of one core; throws when it does not for a minute. A
 * look may fall on a compiler or a collector at work, and in Deno on what tests of other files have
 * left computing for a while (tests/cases/realm_watchdog.ts).
 */
export async function untilAtRest(): Promise<void> {
  let busy = 0;
  for (let looks = 0; looks < 600; looks++) {
    const before = process.cpuUsage();
    const since = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { user, system } = process.cpuUsage(before);
    busy = (user + system) / 1000 / (performance.now() - since);
    if (busy < 0.8) return;
  }
  throw new Error(`the process is not at rest: it uses ${busy.toFixed(2)} cores`);
}
