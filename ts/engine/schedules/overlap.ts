// What becomes of buffered actions while a workflow runs: the overlap policies. The order of the
// rules is the server's.
import { ScheduleOverlapPolicy as Overlap } from "../../messages/generated/temporal/api/enums/v1/schedule_pb.ts";
import type { BufferedStart } from "./state.ts";

export interface OverlapDecision {
  /** Starts of ALLOW_ALL. */
  readonly overlapping: readonly BufferedStart[];
  readonly observed: BufferedStart | undefined;
  readonly kept: readonly BufferedStart[];
  readonly skipped: number;
  /** What to do with the running workflow. */
  readonly stop: "cancel" | "terminate" | undefined;
}

/** Decides about buffered actions. `policy` resolves the policy of an action. */
export function decideOverlap(
  buffer: readonly BufferedStart[],
  isRunning: boolean,
  policy: (start: BufferedStart) => Overlap,
): OverlapDecision {
  const overlapping: BufferedStart[] = [];
  const kept: BufferedStart[] = [];
  let observed: BufferedStart | undefined;
  let skipped = 0;
  let stop: OverlapDecision["stop"];
  for (const start of buffer) {
    const overlap = policy(start);
    if (overlap === Overlap.ALLOW_ALL) overlapping.push(start);
    else if (!isRunning && observed === undefined) observed = start;
    else if (overlap === Overlap.BUFFER_ALL) kept.push(start);
    else if (overlap === Overlap.BUFFER_ONE && kept.length === 0) kept.push(start);
    else if (overlap === Overlap.CANCEL_OTHER || overlap === Overlap.TERMINATE_OTHER) {
      if (!isRunning) {
        // The other one is not started yet: this one replaces it.
        observed = start;
        continue;
      }
      if (overlap === Overlap.TERMINATE_OTHER) stop = "terminate";
      else stop ??= "cancel";
      kept.push(start);
    } else skipped++;
  }
  // A stopped workflow would stop the overlapping starts of the same moment.
  return { overlapping: stop === undefined ? overlapping : [], observed, kept, skipped, stop };
}
