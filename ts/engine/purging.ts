// Removes closed runs in slices, between which the engine works.
import { hop } from "../platform/hop.ts";
import { whenFree } from "./commit_retries.ts";
import type { PurgeOptions } from "./store.ts";

const SLICE = 100;

/** `purge` removes one slice and returns its number of runs. Returns the total. */
export async function purgeInSlices(
  options: PurgeOptions,
  purge: (slice: PurgeOptions) => number,
): Promise<number> {
  for (let purged = 0, { limit = Infinity } = options;;) {
    const removed = await whenFree(() =>
      purge({ ...options, limit: Math.min(SLICE, limit - purged) })
    );
    if (removed === 0) return purged;
    purged += removed;
    await hop();
  }
}
