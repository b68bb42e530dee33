// A workflow task as it crosses the seams: from the poller over the worker and the realm's thread to
// the task loop. Its bytes are carried and given to the core as they came; its head is read once,
// where the task is taken from the service, and goes with the bytes, so that no room looks into them
// again. Payload codecs change the bytes, and nothing that the head shows.
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { firstEventIdOf, nameIn, readRunStart, type RunStart, timestampMs } from "./history_start.ts";

/**
 * What everything but the core wants to know of a task (PollWorkflowTaskQueueResponse): strings and numbers alone, so that it is cloned
 * into a thread for little.
 */
export interface TaskHead {
  /** Id of the workflow. */
  readonly workflowId: string;
  /** The run. */
  readonly runId: string;
  /** Name of the workflow type. */
  readonly workflowType: string;
  /** Of the workflow task, from 1. Queries have none. */
  readonly attempt: number;
  /** It is one query, of this name, and is answered with RespondQueryTaskCompleted; undefined for a task that moves the run. */
  readonly query: string | undefined;
  /** Names of the queries that came with it. */
  readonly queries: readonly string[] | undefined;
  /** Event at which the last task that was completed began; 0: this is the run's first one. */
  readonly previousStartedEventId: number;
  /** Event at which this task began; 0 for a query. */
  readonly startedEventId: number;
  /** Of the history that came with it; 0 when none did. */
  readonly firstEventId: number;
  /** When the task was put into its queue. Milliseconds since the epoch; 0 when the service does not say. */
  readonly scheduledMs: number;
  /** When it was handed out. Milliseconds since the epoch; 0 when the service does not say. */
  readonly startedMs: number;
}

/** A workflow task: bytes of PollWorkflowTaskQueueResponse, and what was read of them. */
export interface WorkflowTask {
  /** Read once, by {@link readWorkflowTask}. */
  readonly head: TaskHead;
  /** As the service sent them, but for payloads that a codec has decoded. */
  readonly bytes: Uint8Array;
}

function stringsOf(bytes: Uint8Array): { [field: number]: string } {
  const found: { [field: number]: string } = {};
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === WireType.LengthDelimited) found[field] = reader.string();
    else reader.skip(type, field);
  }
  return found;
}

/** The task in the bytes of a PollWorkflowTaskQueueResponse. Throws for bytes that are none. */
export function readWorkflowTask(bytes: Uint8Array): WorkflowTask {
  let execution: { [field: number]: string } = {};
  let workflowType = "";
  let query: string | undefined;
  let queries: string[] | undefined;
  let [attempt, previousStartedEventId, startedEventId, firstEventId, scheduledMs, startedMs] = [0, 0, 0, 0, 0, 0];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 2) execution = stringsOf(reader.bytes());
    else if (field === 3) workflowType = nameIn(reader.bytes());
    else if (field === 4) previousStartedEventId = Number(reader.int64());
    else if (field === 5) startedEventId = Number(reader.int64());
    else if (field === 6) attempt = reader.int32();
    else if (field === 8) firstEventId ||= firstEventIdOf(reader.bytes());
    else if (field === 10) query = nameIn(reader.bytes());
    else if (field === 12) scheduledMs = timestampMs(reader.bytes());
    else if (field === 13) startedMs = timestampMs(reader.bytes());
    else if (field === 14) (queries ??= []).push(queryOf(reader.bytes()));
    else reader.skip(type, field);
  }
  const head: TaskHead = {
    workflowId: execution[1] ?? "",
    runId: execution[2] ?? "",
    workflowType,
    attempt,
    query,
    queries,
    previousStartedEventId,
    startedEventId,
    firstEventId,
    scheduledMs,
    startedMs,
  };
  return { head, bytes };
}

/** Name of the query in an entry of the map of queries. */
function queryOf(entry: Uint8Array): string {
  const reader = new BinaryReader(entry);
  let name = "";
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 2) name = nameIn(reader.bytes());
    else reader.skip(type, field);
  }
  return name;
}

/** What the task says of its run's start; undefined for one that came without the first event. */
export function runStartOf({ head, bytes }: WorkflowTask): RunStart | undefined {
  if (head.firstEventId !== 1) return undefined;
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 8) return readRunStart(reader.bytes());
    reader.skip(type, field);
  }
  return undefined;
}

/** What a report has to name. Read when it is needed: a core that works writes it into its reports by itself. */
export function taskTokenOf({ bytes }: WorkflowTask): Uint8Array {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) return reader.bytes();
    reader.skip(type, field);
  }
  return new Uint8Array(0);
}
