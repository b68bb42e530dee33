// Fields that the worker reads from encoded responses; the executor's workflow_task.ts reads the
// head of a workflow task. Requests that the core encoded are amended by appending fields, which
// protobuf merges (messages) or lets replace earlier ones (scalars).
import {
  MeteringMetadata,
  PollActivityTaskQueueResponse,
  PollerScalingDecision,
  PollNexusTaskQueueResponse,
  PollWorkflowTaskQueueResponse,
  RespondWorkflowTaskCompletedRequest as Completed,
  RespondWorkflowTaskCompletedResponse as Answer,
} from "../messages/generated/fields.ts";
import { Fields, firstOf, intOf, Message, readBytes } from "../messages/wire.ts";

/**
 * Whether a poll's response has no task: its task token (the same field for all kinds) is empty.
 */
export function isEmptyTask(bytes: Uint8Array): boolean {
  const token = firstOf(bytes, PollWorkflowTaskQueueResponse.taskToken);
  return token === undefined || token.length === 0;
}

/** Field `poller_scaling_decision` in the responses of polls. */
export const SCALING_FIELD = {
  pollWorkflowTaskQueue: PollWorkflowTaskQueueResponse.pollerScalingDecision,
  pollActivityTaskQueue: PollActivityTaskQueueResponse.pollerScalingDecision,
  pollNexusTaskQueue: PollNexusTaskQueueResponse.pollerScalingDecision,
} as const;

/** Returns the change of the number of polls that a response suggests; 0: no change. */
export function readScaling(bytes: Uint8Array, field: number): number {
  const decision = readBytes(bytes, field);
  return decision === undefined
    ? 0
    : intOf(decision, PollerScalingDecision.pollRequestDeltaSuggestion);
}

export interface CompletionAnswer {
  /** The next task of the run, to process at once. */
  task: Uint8Array | undefined;
  /** The response without that task, if it has an event id to reset to. */
  news: Uint8Array | undefined;
  /** Activity tasks that the report requested. */
  activities: readonly Uint8Array[];
}

/** Parses a RespondWorkflowTaskCompletedResponse. */
export function readCompletionAnswer(response: Uint8Array): CompletionAnswer {
  const activities: Uint8Array[] = [];
  const answer: CompletionAnswer = { task: undefined, news: undefined, activities };
  for (const at = new Fields(response); at.next();) {
    if (at.tag === Answer.workflowTask) {
      const task = at.bytes();
      if (!isEmptyTask(task)) answer.task = task;
    } else if (at.tag === Answer.activityTasks) {
      const task = at.bytes();
      if (!isEmptyTask(task)) activities.push(task);
    } else if (at.tag === Answer.resetHistoryEventId) {
      const eventId = at.int();
      if (eventId !== 0) {
        answer.news = new Message().int(Answer.resetHistoryEventId, eventId).finish();
      }
    }
  }
  return answer;
}

/**
 * Appended to a RespondWorkflowTaskCompletedRequest: requests no further task (`false` overrides
 * `true`).
 */
export const NO_NEW_TASK: Uint8Array = new Message().bool(Completed.returnNewWorkflowTask, false)
  .finish();

/** The same: attempts of local activities from earlier tasks. */
export function meteredAttempts(laterAttempts: number): Uint8Array {
  return new Message().message(
    Completed.meteringMetadata,
    (metering) =>
      metering.int(MeteringMetadata.nonfirstLocalActivityExecutionAttempts, laterAttempts),
  ).finish();
}
