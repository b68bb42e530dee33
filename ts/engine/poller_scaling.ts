// Suggestions to workers to change their number of polls, by the rule of Temporal's servers: one
// less if the poll waited long for its task, one more if tasks wait or come faster than they go.
import {
  PollActivityTaskQueueResponse,
  PollerScalingDecision,
  PollWorkflowTaskQueueResponse,
} from "../messages/generated/fields.ts";
import { concat, Message } from "../messages/wire.ts";
import { type PriorityStats, type QueueSide, totalOf } from "./backlog.ts";

/** A poll that waited so long is one too many, in ms. */
const IDLE_MS = 1_000;
/** Age of a task from which one more poll is suggested, in ms. */
const OLD_MS = 200;
/** Ratio of arriving to dispatched tasks from which one more poll is suggested. */
const GROWING = 1.2;
/** Maximum checks for more polls of a queue per second. */
const CHECKS_PER_SECOND = 10;

/** The checks of one queue. */
export class ScalingChecks {
  #left = CHECKS_PER_SECOND;
  #atMs = 0;

  /** Whether another check is due. `nowMs`: a steady clock. */
  #take(nowMs: number): boolean {
    const gained = (nowMs - this.#atMs) / 1_000 * CHECKS_PER_SECOND;
    this.#left = Math.min(CHECKS_PER_SECOND, this.#left + gained);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }

  /** Returns the suggested change after a poll that got a task; 0: none. */
  suggest(waitedMs: number, nowMs: number, side: QueueSide, stats: () => readonly PriorityStats[]) {
    if (waitedMs >= IDLE_MS) return -1;
    if (!this.#take(nowMs)) return 0;
    const { tasks, oldestMs, addedPerSecond, dispatchedPerSecond } = totalOf(stats(), side);
    if (tasks > 0 && oldestMs > OLD_MS) return 1;
    return addedPerSecond > GROWING * dispatchedPerSecond ? 1 : 0;
  }
}

const FIELD = {
  workflow: PollWorkflowTaskQueueResponse.pollerScalingDecision,
  activity: PollActivityTaskQueueResponse.pollerScalingDecision,
} as const;

/** Appends a suggestion to a task. */
export function withSuggestion(task: Uint8Array, side: QueueSide, by: number): Uint8Array {
  if (by === 0) return task;
  const decision = new Message().message(
    FIELD[side],
    (message) => message.int(PollerScalingDecision.pollRequestDeltaSuggestion, by),
  );
  return concat([task, decision.finish()]);
}
