// A CPU-bound activity in a worker thread: while it computes, the timers of other workflows fire,
// its heartbeats arrive, and it can be canceled.
import { open, silentLogger } from "temporalex";
import { clock, primes } from "./workflow.ts";

export async function run(say: (line: string) => void): Promise<unknown> {
  const app = await open({
    workflows: new URL("./workflow.ts", import.meta.url),
    logger: silentLogger,
    worker: {
      activityThreads: { module: new URL("./activities.ts", import.meta.url), size: 2 },
      heartbeatThrottle: { maximumMs: 500 }, // the response to a heartbeat cancels the activity
    },
  });
  try {
    const endless = await app.client.start(primes, { id: "endless", args: [2 ** 40] });
    const few = await app.client.start(primes, { id: "few", args: [100_000] });
    const longest = await app.client.execute(clock, { id: "clock", args: [10] });
    say(`ten timers of 20 ms while two threads compute; the longest took ${longest} ms`);
    const count = await few.result();
    say(`primes up to 100000: ${count}`);

    let progress: { next: number } | undefined;
    while (progress === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      progress = (await endless.describe()).pendingActivities[0]?.heartbeatDetails as {
        next: number;
      } | undefined;
    }
    say(`the other one has come to ${progress.next} and is cancelled`);
    await endless.cancel();
    return { count, cancelled: await endless.result(), heartbeats: progress.next > 0 };
  } finally {
    await app.close();
  }
}
