// A workflow task as it crosses the seams: from the poller over the worker and the realm's thread to
// the task loop. Its bytes are carried and given to the core as they came; its head is read once,
// where the task is taken from the service, and goes with the bytes, so that no room looks into them
// again. Payload codecs change the bytes, and nothing that the head shows.
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
  /** The service, in another process, keeps what runs show of themselves. */
  readonly asksForShown?: boolean;
  /** Reducers of this task are run, whatever the realm was told of its service: a branch of a what-if does so. */
  readonly runsReducers?: boolean;
}

/** A workflow task: bytes of PollWorkflowTaskQueueResponse, and what was read of them. */
export interface WorkflowTask {
  /** Read once, by {@link readWorkflowTask}. */
  readonly head: TaskHead;
  /** As the service sent them, but for payloads that a codec has decoded. */
  readonly bytes: Uint8Array;
}

/** The task in the bytes of a PollWorkflowTaskQueueResponse. Throws for bytes that are none. */
export function readWorkflowTask(bytes: Uint8Array): WorkflowTask {
  let [workflowId, runId, workflowType] = ["", "", ""];
  let query: string | undefined;
  let queries: string[] | undefined;
  let asksForShown = false;
  let [attempt, previousStartedEventId, startedEventId, firstEventId, scheduledMs, startedMs] = [0, 0, 0, 0, 0, 0];
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
        (queries ??= []).push(readTextField(readBytes(at.bytes(), MapEntry.value) ?? NONE, WorkflowQuery.queryType));
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

/** What the task says of its run's start; undefined for one that came without the first event. */
export function runStartOf({ head, bytes }: WorkflowTask): RunStart | undefined {
  const history = head.firstEventId === 1 ? firstOf(bytes, Poll.history) : undefined;
  return history && readRunStart(history);
}

/** What a report has to name. Read when it is needed: a core that works writes it into its reports by itself. */
export function taskTokenOf({ bytes }: WorkflowTask): Uint8Array {
  return firstOf(bytes, Poll.taskToken) ?? NONE;
}
