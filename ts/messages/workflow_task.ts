// A workflow task from the poller to the task loop: its bytes, which the core gets unchanged, and
// its head, which is read once when the task is polled, so that no other code parses the bytes.
// Payload codecs change only the bytes.
import {
  MapEntry,
  PollWorkflowTaskQueueResponse as Poll,
  WorkflowExecution,
  WorkflowQuery,
  WorkflowType,
} from "./generated/fields.ts";
import { firstEventIdOf, readRunStart, type RunStart } from "./history_start.ts";
import { ASKS_FOR_SHOWN } from "./shown_run.ts";
import { Fields, firstOf, readBytes, readTextField, timeMs } from "./wire.ts";

/**
 * The fields of a PollWorkflowTaskQueueResponse for code other than the core: strings and numbers,
 * which are cheap to clone into a thread.
 */
export interface TaskHead {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  /** Attempt of the workflow task, from 1; 0 for queries. */
  readonly attempt: number;
  /** Name of the query of a query task (RespondQueryTaskCompleted); undefined for other tasks. */
  readonly query: string | undefined;
  readonly queries: readonly string[] | undefined;
  /** Id of the event that started the last completed task; 0 for the first task. */
  readonly previousStartedEventId: number;
  /** Id of the event that started this task; 0 for a query. */
  readonly startedEventId: number;
  /** Id of the first event in the task's history; 0 without history. */
  readonly firstEventId: number;
  /** When the task was queued, in ms since the epoch; 0 if unknown. */
  readonly scheduledMs: number;
  /** When it was dispatched, in ms since the epoch; 0 if unknown. */
  readonly startedMs: number;
  /** The service, in another process, stores what runs show. */
  readonly asksForShown?: boolean;
  /** Reducers run for this task, whatever the service supports: a what-if branch. */
  readonly runsReducers?: boolean;
}

/** A workflow task: the encoded PollWorkflowTaskQueueResponse, and its head. */
export interface WorkflowTask {
  /** Read once, by {@link readWorkflowTask}. */
  readonly head: TaskHead;
  /** As received, except for decoded payloads. */
  readonly bytes: Uint8Array;
}

/** Reads a PollWorkflowTaskQueueResponse. Throws for bytes that do not decode. */
export function readWorkflowTask(bytes: Uint8Array): WorkflowTask {
  let [workflowId, runId, workflowType] = ["", "", ""];
  let query: string | undefined;
  let queries: string[] | undefined;
  let asksForShown = false;
  let [attempt, previousStartedEventId, startedEventId, firstEventId, scheduledMs, startedMs] = [
    0,
    0,
    0,
    0,
    0,
    0,
  ];
  for (const at = new Fields(bytes); at.next();) {
    switch (at.tag) {
      case Poll.workflowExecution:
        for (const of = at.inner(); of.next();) {
          if (of.tag === WorkflowExecution.workflowId) workflowId = of.text();
          else if (of.tag === WorkflowExecution.runId) runId = of.text();
        }
        break;
      case Poll.workflowType:
        workflowType = readTextField(at.bytes(), WorkflowType.name);
        break;
      case Poll.previousStartedEventId:
        previousStartedEventId = at.int();
        break;
      case Poll.startedEventId:
        startedEventId = at.int();
        break;
      case Poll.attempt:
        attempt = at.int();
        break;
      case Poll.history:
        firstEventId ||= firstEventIdOf(at.bytes());
        break;
      case Poll.query:
        query = readTextField(at.bytes(), WorkflowQuery.queryType);
        break;
      case Poll.queries:
        (queries ??= []).push(
          readTextField(readBytes(at.bytes(), MapEntry.value) ?? NONE, WorkflowQuery.queryType),
        );
        break;
      case Poll.scheduledTime:
        scheduledMs = timeMs(at.bytes());
        break;
      case Poll.startedTime:
        startedMs = timeMs(at.bytes());
        break;
      case ASKS_FOR_SHOWN:
        asksForShown = true;
        break;
    }
  }
  const head: TaskHead = {
    workflowId,
    runId,
    workflowType,
    attempt,
    query,
    queries,
    previousStartedEventId,
    startedEventId,
    firstEventId,
    scheduledMs,
    startedMs,
    ...(asksForShown && { asksForShown }),
  };
  return { head, bytes };
}

const NONE = new Uint8Array(0);

/** The start of the task's run; undefined if the task has no first event. */
export function runStartOf({ head, bytes }: WorkflowTask): RunStart | undefined {
  const history = head.firstEventId === 1 ? firstOf(bytes, Poll.history) : undefined;
  return history && readRunStart(history);
}

/** The task token for reports. Read on demand: a working core writes it into its own reports. */
export function taskTokenOf({ bytes }: WorkflowTask): Uint8Array {
  return firstOf(bytes, Poll.taskToken) ?? NONE;
}
