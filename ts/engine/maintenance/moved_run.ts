// Makes the stored form of an open run that moves here from another service, from its history and,
// where the service described them, the states of its activities. The rules are those of
// docs/command-line.md#move-open-runs: the history stays as it is; a workflow task that a worker has
// elsewhere times out; activities wait for a worker again; timers keep their time. What a history
// does not hold, and what would happen twice, rejects the run.
import { create } from "@bufbuild/protobuf";
import type { RunWrite } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { timestampFromDate } from "../../messages/well_known.ts";
import { EventType } from "../../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { TaskQueueKind } from "../../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import { TimeoutType } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  type HistoryEvent,
  HistoryEventSchema,
} from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { eventName, typeName } from "./findings.ts";
import {
  type HistoryToImport,
  type ImportedHistory,
  ImportError,
  readImportedHistory,
} from "./imported_history.ts";
import { type ActivityState, buildOpenRun, openChildren } from "./open_run.ts";

/** What a service describes of an activity without a result. */
export interface ActivityProgress {
  /** Number of the current attempt, from 1. */
  readonly attempt: number;
  /** When the next attempt is due, in ms since the epoch; 0: now. */
  readonly dueMs: number;
  /** Encoded Payloads of the last heartbeat; empty: none. */
  readonly heartbeatDetails: Uint8Array;
  readonly paused: boolean;
}

export interface RunToMove extends HistoryToImport {
  /** Time of the move, in ms since the epoch. */
  readonly nowMs: number;
  /** By activity id. Absent: every activity starts with its first attempt. */
  readonly activities?: ReadonlyMap<string, ActivityProgress>;
}

export interface MovedRun {
  readonly write: RunWrite;
  /** What the move loses or changes. */
  readonly notes: readonly string[];
  /** Run ids of children without a result. */
  readonly children: readonly string[];
  /** Run id of the parent; "": none. */
  readonly parent: string;
}

/** Returns what the store writes for an open run. Throws an ImportError. */
export function movedRun(given: RunToMove): MovedRun {
  const read = readImportedHistory(given);
  const { workflowId, runId, started } = read;
  if (read.status !== undefined) throw new Error("movedRun is for open runs");
  const notes: string[] = [];
  rejectUnfinished(read);
  const events = [...read.events, ...newTask(read, given.nowMs, notes)];
  const restarted: string[] = [];
  const activityState = (id: string): ActivityState => {
    const known = given.activities?.get(id);
    if (known === undefined) restarted.push(id);
    return {
      attempt: known?.attempt ?? 1,
      scheduledUs: Math.round(Math.max(known?.dueMs ?? 0, given.nowMs) * 1000),
      heartbeatDetails: known?.heartbeatDetails ?? new Uint8Array(0),
      pausedUs: known?.paused === true ? Math.round(given.nowMs * 1000) : 0,
    };
  };
  const write = buildOpenRun({ workflowId, runId, events, activityState, keepsManualTimers: true });
  if (restarted.length > 0) {
    const verb = restarted.length === 1 ? "starts" : "start";
    notes.push(
      `${
        list(restarted)
      } ${verb} again with attempt 1: a history does not hold the number of attempts`,
    );
  }
  if (started.completionCallbacks.length > 0) {
    notes.push("the callbacks of its end are not called: they belong to the other service");
  }
  return {
    write,
    notes,
    children: openChildren(events),
    parent: started.parentWorkflowExecution?.runId ?? "",
  };
}

const list = (ids: readonly string[]): string =>
  `activit${ids.length === 1 ? "y" : "ies"} ${ids.slice(0, 5).join(", ")}${
    ids.length > 5 ? ` and ${ids.length - 5} more` : ""
  }`;

/** Events that wait for a result of another workflow, which has their id. */
const WAITS: { readonly [type in EventType]?: string } = {
  [EventType.SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED]: "a signal to another workflow",
  [EventType.REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED]:
    "a cancellation of another workflow",
  [EventType.START_CHILD_WORKFLOW_EXECUTION_INITIATED]: "the start of a child",
};
const NEXUS_ENDS: ReadonlySet<EventType> = new Set([
  EventType.NEXUS_OPERATION_COMPLETED,
  EventType.NEXUS_OPERATION_FAILED,
  EventType.NEXUS_OPERATION_CANCELED,
  EventType.NEXUS_OPERATION_TIMED_OUT,
]);

/** Rejects a run that waits for what only the other service can give, or that cannot be read. */
function rejectUnfinished({ events, runId, workflowId }: ImportedHistory): void {
  const waits = new Map<bigint, HistoryEvent>();
  const admitted = new Map<string, HistoryEvent>();
  let paused: HistoryEvent | undefined;
  const reject = (event: HistoryEvent, why: string): never => {
    throw new ImportError(
      `run ${runId} of workflow "${workflowId}" cannot be continued here: ${
        eventName(event, Number(event.eventId) - 1)
      } ${why}`,
    );
  };
  for (const event of events) {
    const { eventId, eventType, attributes: { case: kind, value } } = event;
    if (kind === undefined) {
      reject(event, "has a type or attributes that this version of temporalex does not support");
    }
    if (WAITS[eventType] !== undefined || eventType === EventType.NEXUS_OPERATION_SCHEDULED) {
      waits.set(eventId, event);
    } else if (NEXUS_ENDS.has(eventType)) {
      waits.delete((value as { scheduledEventId: bigint }).scheduledEventId);
    } else if (kind === "workflowExecutionUpdateAdmittedEventAttributes") {
      admitted.set(value.request?.meta?.updateId ?? "", event);
    } else if (kind === "workflowExecutionUpdateAcceptedEventAttributes") {
      admitted.delete(value.acceptedRequest?.meta?.updateId ?? value.protocolInstanceId);
    } else if (eventType === EventType.WORKFLOW_EXECUTION_PAUSED) paused = event;
    else if (eventType === EventType.WORKFLOW_EXECUTION_UNPAUSED) paused = undefined;
    else if (value !== undefined && "initiatedEventId" in value) {
      waits.delete(value.initiatedEventId);
    }
  }
  if (paused !== undefined) reject(paused, "paused the run; unpause it first");
  for (const event of admitted.values()) {
    reject(
      event,
      "is an update without a decision; import the run when it is accepted or rejected",
    );
  }
  for (const event of waits.values()) {
    const what = WAITS[event.eventType] ?? "a Nexus operation";
    reject(event, `is ${what} without a result; import the run when it has one`);
  }
}

/**
 * The events that give the run a workflow task if it waits for one that is not in its history: a
 * task that a worker has elsewhere, or one that is repeated without events.
 */
function newTask(
  { events, started, workflowId }: ImportedHistory,
  nowMs: number,
  notes: string[],
): HistoryEvent[] {
  let scheduled: HistoryEvent | undefined;
  let begun: HistoryEvent | undefined;
  let repeated = false;
  let tasks = 0;
  for (const event of events) {
    switch (event.eventType) {
      case EventType.WORKFLOW_TASK_SCHEDULED:
        [scheduled, begun, repeated] = [event, undefined, false];
        tasks++;
        break;
      case EventType.WORKFLOW_TASK_STARTED:
        begun = event;
        break;
      case EventType.WORKFLOW_TASK_COMPLETED:
        [scheduled, begun] = [undefined, undefined];
        break;
      case EventType.WORKFLOW_TASK_FAILED:
      case EventType.WORKFLOW_TASK_TIMED_OUT:
        [scheduled, begun, repeated] = [undefined, undefined, true];
        break;
    }
  }
  const backoff = started.firstWorkflowTaskBackoff;
  const waitsForStart = tasks === 0 && backoff !== undefined &&
    (backoff.seconds > 0n || backoff.nanos > 0);
  if (scheduled !== undefined && begun === undefined) return [];
  if (begun === undefined && !repeated && (tasks > 0 || waitsForStart)) return [];
  const last = events.at(-1)!.eventTime!;
  const now = timestampFromDate(new Date(Math.floor(nowMs)));
  const later = now.seconds > last.seconds ||
    (now.seconds === last.seconds && now.nanos > last.nanos);
  const eventTime = later ? now : last;
  const made: HistoryEvent[] = [];
  const add = (eventType: EventType, attributes: HistoryEvent["attributes"]) => {
    const eventId = BigInt(events.length + made.length + 1);
    made.push(create(HistoryEventSchema, { eventId, eventType, eventTime, attributes }));
  };
  if (begun !== undefined) {
    notes.push(
      `a worker has its workflow task (event ${begun.eventId}): signals and other messages that arrived since then are not in its history, and are lost`,
    );
    const ended = {
      scheduledEventId: scheduled!.eventId,
      startedEventId: begun.eventId,
      timeoutType: TimeoutType.START_TO_CLOSE,
    };
    add(
      EventType.WORKFLOW_TASK_TIMED_OUT,
      create(HistoryEventSchema, {
        attributes: { case: "workflowTaskTimedOutEventAttributes", value: ended },
      }).attributes,
    );
  }
  const name = started.taskQueue?.name ?? "";
  if (name === "") {
    throw new ImportError(
      `workflow "${workflowId}" has no task queue (${
        typeName(EventType.WORKFLOW_EXECUTION_STARTED)
      })`,
    );
  }
  const { workflowTaskTimeout: startToCloseTimeout } = started;
  const value = {
    taskQueue: { name, kind: TaskQueueKind.NORMAL },
    attempt: 1,
    ...(startToCloseTimeout && { startToCloseTimeout }),
  };
  add(
    EventType.WORKFLOW_TASK_SCHEDULED,
    create(HistoryEventSchema, {
      attributes: { case: "workflowTaskScheduledEventAttributes", value },
    }).attributes,
  );
  return made;
}
