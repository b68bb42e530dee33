// The few fields that the worker reads itself of what the service answers; the head of a workflow task is read by the executor's
// workflow_task.ts. Requests that the core encoded are amended by appending fields, which protobuf
// defines as replacing (scalars) or merging (messages) what stands before.
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** True for the answer of a poll that ended without a task: its task token (field 1 of workflow and activity tasks) is empty. */
export function isEmptyTask(bytes: Uint8Array): boolean {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) return reader.bytes().length === 0;
    reader.skip(type, field);
  }
  return true;
}

/** Where `poller_scaling_decision` stands in the answers of polls. */
export const SCALING_FIELD = { pollWorkflowTaskQueue: 16, pollActivityTaskQueue: 18 } as const;

/** How many polls more or fewer the service suggests with its answer to a poll; 0: as they are. */
export function readScaling(bytes: Uint8Array, decision: number): number {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field !== decision) {
      reader.skip(type, field);
      continue;
    }
    const end = reader.uint32() + reader.pos;
    while (reader.pos < end) {
      const [inner, innerType] = reader.tag();
      if (inner === 1) return reader.int32();
      reader.skip(innerType, inner);
    }
  }
  return 0;
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
  const reader = new BinaryReader(response);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) {
      const task = reader.bytes();
      if (!isEmptyTask(task)) answer.task = task;
    } else if (field === 2) {
      const task = reader.bytes();
      if (!isEmptyTask(task)) activities.push(task);
    } else if (field === 3) {
      const eventId = reader.int64();
      if (Number(eventId) !== 0) answer.news = new BinaryWriter().tag(3, WireType.Varint).int64(eventId).finish();
    } else reader.skip(type, field);
  }
  return answer;
}

/** Appended to a RespondWorkflowTaskCompletedRequest: it asks for no further task. `false` behind `true` replaces it. */
export const NO_NEW_TASK: Uint8Array = new BinaryWriter().tag(5, WireType.Varint).bool(false).finish();

/** An encoded message with more fields behind those that it has. */
export function amended(message: Uint8Array, ...tails: readonly (Uint8Array | undefined)[]): Uint8Array {
  const parts = tails.filter((tail) => tail !== undefined);
  if (parts.length === 0) return message;
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, message.length));
  whole.set(message);
  let at = message.length;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
