// Activities that compute. They run in separate threads, one at a time in each, so they may keep
// their thread busy.
import { activityContext, activityInfo } from "temporalex/activity";

interface Progress {
  next: number;
  found: number;
}

/**
 * Counts the primes up to a limit. Reports its progress, resumes there after a crash, and stops
 * when it is canceled.
 */
export async function countPrimes(limit: number): Promise<number> {
  const { heartbeat, throwIfCancelled } = activityContext();
  const { next, found: before } = (activityInfo().heartbeatDetails as Progress | undefined) ??
    { next: 2, found: 0 };
  let found = before;
  for (let n = next; n <= limit; n++) {
    if (isPrime(n)) found++;
    if (n % 20_000 === 0) {
      heartbeat({ next: n + 1, found } satisfies Progress);
      await new Promise((resolve) => setTimeout(resolve)); // lets the news in that the activity was cancelled
      throwIfCancelled();
    }
  }
  return found;
}

function isPrime(n: number): boolean {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
  return true;
}
