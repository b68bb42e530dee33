// An activity that keeps its thread busy until another thread has got something done: where that thread is its own it never ends well.
import { existsSync } from "node:fs";
import { activityInfo, ApplicationFailure, heartbeat } from "../../../ts/activity/mod.ts";

/** Spins until the file is there. */
export function spinUntil(path: string): string {
  const end = Date.now() + 60_000;
  for (let i = 0; !existsSync(path); i++) {
    if (i % 1000 === 0) heartbeat({ i });
    if (Date.now() > end) throw ApplicationFailure.nonRetryable("nobody got anything done meanwhile");
  }
  return `spun as ${activityInfo().activityId}`;
}
