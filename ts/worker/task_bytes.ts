// The few fields that the worker reads itself of what the service answers; the head of a workflow task is read by the executor's
// workflow_task.ts. Requests that the core encoded are amended by appending fields, which protobuf
// defines as replacing (scalars) or merging (messages) what stands before.
import {
  MeteringMetadata,
  PollActivityTaskQueueResponse,
  PollerScalingDecision,
  PollNexusTaskQueueResponse,
  PollWorkflowTaskQueueResponse,
  RespondWorkflowTaskCompletedRequest as Completed,
  RespondWorkflowTaskCompletedResponse as Answer,
} from "../api/generated/fields.ts";
import { Fields, firstOf, intOf, Message, readBytes } from "../api/wire.ts";

/** True for the answer of a poll that ended without a task: its task token (the same field of all kinds of tasks) is empty. */
export function isEmptyTask(bytes: Uint8Array): boolean {
  const token = firstOf(bytes, PollWorkflowTaskQueueResponse.taskToken);
  return token === undefined || token.length === 0;
}

/** Where `poller_scaling_decision` stands in the answers of polls. */
export const SCALING_FIELD = {
  pollWorkflowTaskQueue: PollWorkflowTaskQueueResponse.pollerScalingDecision,
  pollActivityTaskQueue: PollActivityTaskQueueResponse.pollerScalingDecision,
  pollNexusTaskQueue: PollNexusTaskQueueResponse.pollerScalingDecision,
} as const;

/** How many polls more or fewer the service suggests with its answer to a poll; 0: as they are. */
export function readScaling(bytes: Uint8Array, field: number): number {
  const decision = readBytes(bytes, field);
  return decision === undefined ? 0 : intOf(decision, PollerScalingDecision.pollRequestDeltaSuggestion);
}

export interface CompletionAnswer {
  /** The run's next task, which is to be worked on at once. */
  task: Uint8Array | undefined;
  /** The answer without that task, where it tells the run something: the event to go back to. Mostly it does not. */
  news: Uint8Array | undefined;
  /** Tasks of activities that were asked for with the report. */
  activities: readonly Uint8Array[];
}

/** Takes a RespondWorkflowTaskCompletedResponse apart: workflow_task, activity_tasks, reset_history_event_id. */
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
      if (eventId !== 0) answer.news = new Message().int(Answer.resetHistoryEventId, eventId).finish();
    }
  }
  return answer;
}

/** Appended to a RespondWorkflowTaskCompletedRequest: it asks for no further task. `false` behind `true` replaces it. */
export const NO_NEW_TASK: Uint8Array = new Message().bool(Completed.returnNewWorkflowTask, false).finish();

/** The same: how many attempts of local activities it adds to those of tasks before. */
export function meteredAttempts(laterAttempts: number): Uint8Array {
  return new Message().message(
    Completed.meteringMetadata,
    (metering) => metering.int(MeteringMetadata.nonfirstLocalActivityExecutionAttempts, laterAttempts),
  ).finish();
}
