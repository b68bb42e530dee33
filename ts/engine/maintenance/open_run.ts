// Makes the stored form of an open run from the first events of a history, for what-if branches and
// for runs that move here (moved_run.ts). What a history does not hold is reset: activities are
// before their first attempt (unless the caller knows more), updates have no caller, the next
// workflow task is the first attempt. Item kinds are those of core-rs/src/engine/state/run.rs;
// stored numbers never change.
import { toBinary } from "@bufbuild/protobuf";
import { Message } from "../../messages/wire.ts";
import {
  EngineActivityState,
  EngineChildState,
  EngineHead,
  EngineTaskState,
  EngineTimerState,
  EngineUpdateState,
} from "../../messages/generated/fields.ts";
import type { RunWrite } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import {
  PrioritySchema,
  RetryPolicySchema,
} from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { WorkflowExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { OutcomeSchema } from "../../messages/generated/temporal/api/update/v1/message_pb.ts";
import {
  ActivityTaskScheduledEventAttributesSchema,
  type HistoryEvent,
  WorkflowExecutionStartedEventAttributesSchema,
} from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { UserMetadataSchema } from "../../messages/generated/temporal/api/sdk/v1/user_metadata_pb.ts";
import { TIMERS } from "../../converter/belonging_names.ts";
import { micros } from "./findings.ts";
import { ImportError, type Started } from "./imported_history.ts";
import {
  batches,
  describedFields,
  Head,
  lastCompletedStart,
  resetPoints,
  toMicroseconds,
} from "./run_parts.ts";

const DEFAULT_TASK_TIMEOUT_US = 10e6;
const ITEM = { activity: 1, timer: 3, update: 6, started: 7, child: 8 } as const;

/** The first events of a run, up to a position between two workflow tasks. */
export interface OpenRunToMake {
  readonly workflowId: string;
  readonly runId: string;
  /** From event 1. If the last is a WorkflowTaskScheduled, that task waits for a worker. */
  readonly events: readonly HistoryEvent[];
  /**
   * When timers fire, by the id of their TimerStarted event, in ms since the epoch; others as in
   * history.
   */
  readonly timers?: ReadonlyMap<number, number>;
  /** Called for each activity without a result, with its id; undefined: only the history is known. */
  readonly activityState?: (activityId: string) => ActivityState | undefined;
  /**
   * Manual timers of the start stay manual. Default: they fire when due, since a what-if branch has
   * no caller that fires them.
   */
  readonly keepsManualTimers?: boolean;
}

/** State of an activity that its history does not hold. */
export interface ActivityState {
  readonly attempt: number;
  /** When this attempt waits for a worker, in microseconds. */
  readonly scheduledUs: number;
  /** Encoded Payloads of the last heartbeat; empty: none. */
  readonly heartbeatDetails: Uint8Array;
  /** When it was paused, in microseconds; 0: it is not paused. */
  readonly pausedUs: number;
}

interface Pending {
  readonly items: Map<string, RunWrite["put"][number]>;
  task: { id: number; us: number } | undefined;
  cancelRequested: boolean;
}

/** Returns what the store writes for the run. Throws an ImportError for invalid events. */
export function buildOpenRun(
  { workflowId, runId, events, timers, activityState, keepsManualTimers = false }: OpenRunToMake,
): RunWrite {
  const first = events[0];
  if (first?.attributes.case !== "workflowExecutionStartedEventAttributes") {
    throw new ImportError(
      "event 1 of the history is not WorkflowExecutionStarted; export the whole history",
    );
  }
  const started = first.attributes.value;
  const start = micros(first.eventTime!);
  const last = events.reduce((latest, event) => Math.max(latest, micros(event.eventTime!)), 0);
  const { items, task, cancelRequested } = collectPending(events, timers, activityState);
  const { memo, searchAttributes } = describedFields(
    events,
    keepsManualTimers ? undefined : TIMERS,
  );
  const encoded = batches(events);
  const bytes = encoded.reduce((sum, batch) => sum + batch.events.length, 0);
  const backoff = toMicroseconds(started.firstWorkflowTaskBackoff);
  const timeout = toMicroseconds(started.workflowTaskTimeout) || DEFAULT_TASK_TIMEOUT_US;
  const untouched = task === undefined && lastCompletedStart(events) === 0;
  const deadline = runDeadline(started, start);
  if (started.retryPolicy !== undefined || started.cronSchedule !== "") {
    put(items, ITEM.started, "", toBinary(WorkflowExecutionStartedEventAttributesSchema, started));
  }
  const firstRunId = started.firstExecutionRunId || runId;
  const head = new Head()
    .text(EngineHead.workflowId, workflowId).text(EngineHead.runId, runId)
    .text(EngineHead.workflowType, started.workflowType?.name ?? "").text(
      EngineHead.taskQueue,
      started.taskQueue?.name ?? "",
    )
    .int(EngineHead.status, WorkflowExecutionStatus.RUNNING).int(EngineHead.startUs, start)
    .int(EngineHead.nextEventId, events.length + 1).int(EngineHead.historyBytes, bytes)
    .int(EngineHead.executionTimeoutUs, toMicroseconds(started.workflowExecutionTimeout))
    .int(EngineHead.runTimeoutUs, toMicroseconds(started.workflowRunTimeout))
    .int(EngineHead.taskTimeoutUs, timeout)
    .time(EngineHead.executionDeadlineUs, started.workflowExecutionExpirationTime)
    .int(EngineHead.runDeadlineUs, deadline).text(EngineHead.firstRunId, firstRunId)
    .text(EngineHead.originalRunId, started.originalExecutionRunId || runId)
    .text(EngineHead.continuedRunId, started.continuedExecutionRunId)
    .int(EngineHead.attempt, started.attempt || 1).bytes(EngineHead.memo, memo).bytes(
      EngineHead.searchAttributes,
      searchAttributes,
    )
    .int(EngineHead.lastCompletedStartedId, lastCompletedStart(events)).int(
      EngineHead.taskAttempt,
      1,
    )
    .bytes(
      EngineHead.task,
      task === undefined ? new Uint8Array(0) : taskState(task.id, task.us, timeout),
    )
    .int(EngineHead.cancelRequested, cancelRequested ? 1 : 0)
    .int(EngineHead.firstTaskAtUs, untouched && backoff > 0 ? start + backoff : 0).int(
      EngineHead.lastTimeUs,
      last,
    )
    .encoded(EngineHead.retryPolicy, RetryPolicySchema, started.retryPolicy)
    .int(EngineHead.executionTimeUs, start + backoff)
    .encoded(EngineHead.userMetadata, UserMetadataSchema, first.userMetadata)
    .int(EngineHead.transitions, 1).int(EngineHead.firstStartUs, start).message(
      EngineHead.parent,
      started.parentWorkflowExecution,
    )
    .int(EngineHead.parentInitiatedId, Number(started.parentInitiatedEventId))
    .message(EngineHead.root, started.rootWorkflowExecution)
    .encoded(EngineHead.priority, PrioritySchema, started.priority)
    .messages(EngineHead.resetPoints, resetPoints(events)).finish();
  return {
    create: true,
    row: {
      workflowId,
      runId,
      workflowType: started.workflowType?.name ?? "",
      taskQueue: started.taskQueue?.name ?? "",
      status: WorkflowExecutionStatus.RUNNING,
      startTimeMs: start / 1000,
      closeTimeMs: 0,
      historyLength: events.length,
      historySizeBytes: bytes,
      // Loaded at once, since activities may have to be queued; its deadlines need no row then.
      wakeAtMs: 0,
      ready: true,
      firstRunId,
      nextRunId: "",
      memo,
      searchAttributes,
    },
    head,
    append: encoded,
    put: [...items.values()],
    remove: [],
  };
}

/** In microseconds; 0: no deadline. */
function runDeadline(started: Started, start: number): number {
  const run = toMicroseconds(started.workflowRunTimeout);
  const own = run > 0 ? start + toMicroseconds(started.firstWorkflowTaskBackoff) + run : 0;
  const expires = started.workflowExecutionExpirationTime;
  const whole = expires === undefined ? 0 : micros(expires);
  return own === 0 || whole === 0 ? Math.max(own, whole) : Math.min(own, whole);
}

function taskState(id: number, us: number, timeout: number): Uint8Array {
  return new Message().int(EngineTaskState.scheduledId, id).int(EngineTaskState.attempt, 1).int(
    EngineTaskState.scheduledUs,
    us,
  )
    .int(EngineTaskState.originalScheduledUs, us).int(EngineTaskState.startToCloseUs, timeout).int(
      EngineTaskState.inHistory,
      1,
    )
    .finish();
}

type Scheduled = Extract<
  HistoryEvent["attributes"],
  { case: "activityTaskScheduledEventAttributes" }
>["value"];

function put(items: Pending["items"], kind: number, id: string, value: Uint8Array): void {
  items.set(`${kind}/${id}`, { kind, id, value });
}

/** An activity without a result; `cancel`: the event that requests its cancellation, or 0. */
interface OpenActivity {
  readonly event: HistoryEvent;
  cancel: number;
}

/** A child without a result; `started`: the event that reports its start, or 0. */
interface OpenChild {
  readonly workflowId: string;
  readonly type: string;
  readonly policy: number;
  started: number;
  runId: string;
}

/** Collects what the run waits for after its last event, as items of the store. */
function collectPending(
  events: readonly HistoryEvent[],
  timers: OpenRunToMake["timers"],
  stateOf: OpenRunToMake["activityState"] = () => undefined,
): Pending {
  const items: Pending["items"] = new Map();
  const activities = new Map<number, OpenActivity>();
  const children = new Map<number, OpenChild>();
  const updates = new Map<number, string>();
  let task: Pending["task"];
  let cancelRequested = false;
  for (const event of events) {
    const { attributes: { case: kind } } = event;
    switch (kind) {
      case "workflowTaskScheduledEventAttributes":
        task = { id: Number(event.eventId), us: micros(event.eventTime!) };
        break;
      case "workflowTaskStartedEventAttributes":
      case "workflowTaskFailedEventAttributes":
      case "workflowTaskTimedOutEventAttributes":
        task = undefined;
        break;
      case "workflowExecutionCancelRequestedEventAttributes":
        cancelRequested = true;
        break;
      default:
        followActivity(event, activities);
        followTimer(event, timers, items);
        followChild(event, children);
        followUpdate(event, items, updates);
    }
  }
  for (const [id, { event, cancel }] of activities) {
    const { activityId } = event.attributes.value as Scheduled;
    put(
      items,
      ITEM.activity,
      String(id),
      encodeActivity(id, event, cancel, stateOf(activityId)),
    );
  }
  for (const [id, child] of children) put(items, ITEM.child, String(id), childState(id, child));
  return { items, task, cancelRequested };
}

/** Run ids of children without a result that have started. */
export function openChildren(events: readonly HistoryEvent[]): string[] {
  const open = new Map<number, OpenChild>();
  for (const event of events) followChild(event, open);
  return [...open.values()].flatMap(({ runId }) => runId === "" ? [] : [runId]);
}

function followActivity(event: HistoryEvent, open: Map<number, OpenActivity>): void {
  const { attributes: { case: kind, value } } = event;
  const id = Number(event.eventId);
  switch (kind) {
    case "activityTaskScheduledEventAttributes":
      open.set(id, { event, cancel: 0 });
      break;
    case "activityTaskCancelRequestedEventAttributes": {
      const activity = open.get(Number(value.scheduledEventId));
      if (activity !== undefined) activity.cancel = id;
      break;
    }
    case "activityTaskCompletedEventAttributes":
    case "activityTaskFailedEventAttributes":
    case "activityTaskTimedOutEventAttributes":
    case "activityTaskCanceledEventAttributes":
      open.delete(Number(value.scheduledEventId));
      break;
  }
}

function followTimer(
  event: HistoryEvent,
  timers: OpenRunToMake["timers"],
  items: Pending["items"],
): void {
  const { attributes: { case: kind, value } } = event;
  const id = Number(event.eventId);
  switch (kind) {
    case "timerStartedEventAttributes": {
      const us = timers?.has(id)
        ? timers.get(id)! * 1000
        : micros(event.eventTime!) + toMicroseconds(value.startToFireTimeout);
      const state = new Message().text(EngineTimerState.timerId, value.timerId)
        .int(EngineTimerState.startedId, id).int(EngineTimerState.fireUs, Math.round(us));
      put(items, ITEM.timer, value.timerId, state.finish());
      break;
    }
    case "timerFiredEventAttributes":
    case "timerCanceledEventAttributes":
      items.delete(`${ITEM.timer}/${value.timerId}`);
      break;
  }
}

function followChild(event: HistoryEvent, open: Map<number, OpenChild>): void {
  const { attributes: { case: kind, value } } = event;
  const id = Number(event.eventId);
  switch (kind) {
    case "startChildWorkflowExecutionInitiatedEventAttributes":
      open.set(id, {
        workflowId: value.workflowId,
        type: value.workflowType?.name ?? "",
        policy: value.parentClosePolicy,
        started: 0,
        runId: "",
      });
      break;
    case "childWorkflowExecutionStartedEventAttributes": {
      const child = open.get(Number(value.initiatedEventId));
      if (child !== undefined) {
        [child.started, child.runId] = [id, value.workflowExecution?.runId ?? ""];
      }
      break;
    }
    case "startChildWorkflowExecutionFailedEventAttributes":
    case "childWorkflowExecutionCompletedEventAttributes":
    case "childWorkflowExecutionFailedEventAttributes":
    case "childWorkflowExecutionCanceledEventAttributes":
    case "childWorkflowExecutionTimedOutEventAttributes":
    case "childWorkflowExecutionTerminatedEventAttributes":
      open.delete(Number(value.initiatedEventId));
      break;
  }
}

/** Completed updates stay in the store, which returns their results. */
function followUpdate(
  event: HistoryEvent,
  items: Pending["items"],
  updates: Map<number, string>,
): void {
  const { attributes: { case: kind, value } } = event;
  switch (kind) {
    case "workflowExecutionUpdateAcceptedEventAttributes": {
      const id = Number(event.eventId);
      const updateId = value.acceptedRequest?.meta?.updateId || value.protocolInstanceId;
      updates.set(id, updateId);
      const state = new Message().int(EngineUpdateState.acceptedId, id);
      put(items, ITEM.update, updateId, state.finish());
      break;
    }
    case "workflowExecutionUpdateCompletedEventAttributes": {
      const accepted = Number(value.acceptedEventId);
      const updateId = value.meta?.updateId || updates.get(accepted) || "";
      const state = new Message().int(EngineUpdateState.acceptedId, accepted);
      if (value.outcome !== undefined) {
        state.bytes(EngineUpdateState.outcome, toBinary(OutcomeSchema, value.outcome));
      }
      put(items, ITEM.update, updateId, state.int(EngineUpdateState.completed, 1).finish());
      break;
    }
  }
}

function childState(id: number, child: OpenChild): Uint8Array {
  const state = new Message().int(EngineChildState.initiatedId, id);
  if (child.started > 0) {
    state.int(EngineChildState.startedId, child.started).text(EngineChildState.runId, child.runId);
  }
  state.text(EngineChildState.workflowId, child.workflowId)
    .text(EngineChildState.workflowType, child.type);
  if (child.policy > 0) state.int(EngineChildState.parentClosePolicy, child.policy);
  return state.finish();
}

function encodeActivity(
  id: number,
  event: HistoryEvent,
  cancel: number,
  known: ActivityState | undefined,
): Uint8Array {
  const attributes = event.attributes.value as Scheduled;
  const us = micros(event.eventTime!);
  const expires = toMicroseconds(attributes.scheduleToCloseTimeout);
  return new Head().int(EngineActivityState.scheduledId, id)
    .int(EngineActivityState.attempt, known?.attempt ?? 1)
    .int(EngineActivityState.scheduledUs, known?.scheduledUs ?? us)
    .int(EngineActivityState.firstScheduledUs, us)
    .bytes(EngineActivityState.heartbeatDetails, known?.heartbeatDetails ?? new Uint8Array(0))
    .int(EngineActivityState.cancelRequestedId, cancel)
    .int(EngineActivityState.expirationUs, expires > 0 ? us + expires : 0)
    .encoded(EngineActivityState.attrs, ActivityTaskScheduledEventAttributesSchema, attributes)
    .int(EngineActivityState.pausedUs, known?.pausedUs ?? 0).finish();
}
