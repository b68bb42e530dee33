// What metrics and traces want to know of a workflow task and of what came of it, read from the wire like the head (task_bytes.ts), and only
// where somebody wants to know. Histories are not decoded: of the first event a few fields are looked at.
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** What the first event of a history says. */
export interface RunStart {
  /** When the run was started. */
  readonly startMs: number;
  /** Bytes of temporal.api.common.v1.Header; undefined without one. */
  readonly header: Uint8Array | undefined;
}

export interface TaskFacts {
  readonly scheduledMs: number | undefined;
  readonly startedMs: number | undefined;
  /** The run has had tasks before: its history is replayed unless the run is in memory. */
  readonly hasPast: boolean;
  /** The history that came begins later than the run: the service believes that the run is in memory. */
  readonly partial: boolean;
  readonly start: RunStart | undefined;
}

/** Milliseconds of a google.protobuf.Timestamp. */
function timeMs(bytes: Uint8Array): number {
  const reader = new BinaryReader(bytes);
  let ms = 0;
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) ms += Number(reader.int64()) * 1000;
    else if (field === 2) ms += reader.int32() / 1e6;
    else reader.skip(type, field);
  }
  return ms;
}

/** The first field of that number with a length. */
function firstOf(bytes: Uint8Array, wanted: number): Uint8Array | undefined {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === wanted && type === WireType.LengthDelimited) return reader.bytes();
    reader.skip(type, field);
  }
  return undefined;
}

/** What the first page of a history says of the run's start; undefined where it says nothing that can be read. */
export function readPageStart(history: Uint8Array): RunStart | undefined {
  try {
    return readHistoryStart(history)?.start;
  } catch {
    return undefined;
  }
}

/** The first event's id, and what it says where it is the start of the run. History: events are field 1. */
function readHistoryStart(history: Uint8Array): { id: number; start: RunStart | undefined } | undefined {
  const event = firstOf(history, 1);
  if (event === undefined) return undefined;
  const reader = new BinaryReader(event);
  let id = 0;
  let startMs = 0;
  let started: Uint8Array | undefined;
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) id = Number(reader.int64());
    else if (field === 2) startMs = timeMs(reader.bytes());
    else if (field === 6) started = reader.bytes();
    else reader.skip(type, field);
  }
  // WorkflowExecutionStartedEventAttributes: header is field 25.
  return { id, start: started === undefined ? undefined : { startMs, header: firstOf(started, 25) } };
}

const NOTHING: TaskFacts = { scheduledMs: undefined, startedMs: undefined, hasPast: false, partial: false, start: undefined };

/** Of a PollWorkflowTaskQueueResponse. Bytes that cannot be read say nothing: the core is who refuses the task for them. */
export function readTaskFacts(task: Uint8Array): TaskFacts {
  try {
    return factsOf(task);
  } catch {
    return NOTHING;
  }
}

function factsOf(task: Uint8Array): TaskFacts {
  let scheduledMs: number | undefined;
  let startedMs: number | undefined;
  let previousStarted = 0;
  let first: ReturnType<typeof readHistoryStart>;
  const reader = new BinaryReader(task);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 4) previousStarted = Number(reader.int64());
    else if (field === 8) first = readHistoryStart(reader.bytes());
    else if (field === 12) scheduledMs = timeMs(reader.bytes());
    else if (field === 13) startedMs = timeMs(reader.bytes());
    else reader.skip(type, field);
  }
  return {
    scheduledMs,
    startedMs,
    hasPast: previousStarted > 0,
    partial: first !== undefined && first.id > 1,
    start: first?.start,
  };
}

/** How a run ends, as commands have it. */
export type RunEnding = "completed" | "failed" | "canceled" | "continue_as_new";

/** By number of temporal.api.enums.v1.CommandType. */
const ENDINGS: ReadonlyMap<number, RunEnding> = new Map([
  [4, "completed"],
  [5, "failed"],
  [7, "canceled"],
  [10, "continue_as_new"],
]);

/** How the commands of a RespondWorkflowTaskCompletedRequest (field 2) end the run; undefined when they do not. */
export function readEnding(request: Uint8Array): RunEnding | undefined {
  const reader = new BinaryReader(request);
  let ending: RunEnding | undefined;
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field !== 2) {
      reader.skip(type, field);
      continue;
    }
    const command = new BinaryReader(reader.bytes());
    while (command.pos < command.len) {
      const [part, partType] = command.tag();
      if (part === 1) ending ??= ENDINGS.get(command.int32());
      else command.skip(partType, part);
    }
  }
  return ending;
}
