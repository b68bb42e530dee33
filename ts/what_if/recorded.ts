// Everything in the recorded history that reached the run from outside: messages, and results of
// activities, local activities, children and requests to other workflows. A branch takes its
// results from here.
import { toBinary } from "@bufbuild/protobuf";
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { Failure } from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  type Header,
  type Payloads,
  PayloadsSchema,
} from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import { localActivityOf } from "./local_marker.ts";
import { transactOf } from "./transact_marker.ts";

/** A message to the run, with its time. */
export interface RecordedMessage {
  readonly eventId: number;
  readonly kind: "signal" | "update" | "cancel" | "terminate";
  readonly name: string;
  readonly input: Payloads | undefined;
  readonly header: Header | undefined;
  readonly identity: string;
  readonly reason: string;
  readonly updateId: string;
  readonly timeMs: number;
  /** The event after which it arrived: the run is unchanged up to there. */
  readonly arrivedAfter: number;
  /** The WorkflowTaskStarted of the task that received it; 0: no task. */
  readonly seenBy: number;
}

/** The end of a call. */
export type RecordedEnd =
  | { readonly kind: "completed"; readonly result: Payloads | undefined }
  | { readonly kind: "failed"; readonly failure: Failure | undefined }
  | { readonly kind: "timed out" }
  | { readonly kind: "cancelled"; readonly details: Payloads | undefined }
  | { readonly kind: "terminated" }
  /** Open at the end of the history. */
  | { readonly kind: "never" };

/** An activity, a local activity, a child or a reducer. */
export interface RecordedCall {
  /** The event that scheduled it; for a local activity and a reducer, its marker. */
  readonly eventId: number;
  readonly type: string;
  /** Encoded arguments, for comparison. */
  readonly input: string;
  readonly startMs: number;
  /** Start of the last attempt. */
  lastStartMs: number;
  endMs: number;
  /** The event that ended it; 0 without one. */
  endEventId: number;
  attempt: number;
  end: RecordedEnd;
  /** The child could not be started. */
  startFailed?: boolean;
}

export interface RecordedTimer {
  readonly eventId: number;
  readonly timerId: string;
  readonly startMs: number;
}

/** The recorded messages and results of a run. */
export interface Recorded {
  readonly events: readonly HistoryEvent[];
  readonly messages: readonly RecordedMessage[];
  readonly activities: readonly RecordedCall[];
  readonly localActivities: readonly RecordedCall[];
  readonly children: readonly RecordedCall[];
  /** Reducers, by their markers. */
  readonly transacts: readonly RecordedCall[];
  readonly timers: readonly RecordedTimer[];
  /** Signals and cancel requests whose workflow did not exist, by "signal|cancel workflowId". */
  readonly refusedExternals: ReadonlySet<string>;
}

export function eventMilliseconds(event: HistoryEvent): number {
  const { seconds = 0n, nanos = 0 } = event.eventTime ?? {};
  return Number(seconds) * 1000 + Math.round(nanos / 1000) / 1000;
}

/** Returns encoded payloads as text, which is equal for equal values of equal encoding. */
export function inputKey(input: Payloads | undefined): string {
  if (input === undefined || input.payloads.length === 0) return "";
  let text = "";
  for (const byte of toBinary(PayloadsSchema, input)) text += String.fromCharCode(byte);
  return text;
}

/** Reads a decoded history. */
export function readRecorded(events: readonly HistoryEvent[]): Recorded {
  const messages: RecordedMessage[] = [];
  const activities = new Map<number, RecordedCall>();
  const localActivities: RecordedCall[] = [];
  const transacts: RecordedCall[] = [];
  const children = new Map<number, RecordedCall>();
  const timers: RecordedTimer[] = [];
  const refusedExternals = new Set<string>();
  const externals = new Map<number, string>();
  const tasks = tasksOf(events);
  for (const event of events) {
    const { attributes: { case: kind, value } } = event;
    const eventId = Number(event.eventId);
    const timeMs = eventMilliseconds(event);
    const message = messageIn(event, tasks);
    if (message !== undefined) messages.push(message);
    readActivity(event, timeMs, activities);
    readChild(event, timeMs, children);
    switch (kind) {
      case "timerStartedEventAttributes":
        timers.push({ eventId, timerId: value.timerId, startMs: timeMs });
        break;
      case "signalExternalWorkflowExecutionInitiatedEventAttributes":
        externals.set(eventId, `signal ${value.workflowExecution?.workflowId}`);
        break;
      case "requestCancelExternalWorkflowExecutionInitiatedEventAttributes":
        externals.set(eventId, `cancel ${value.workflowExecution?.workflowId}`);
        break;
      case "signalExternalWorkflowExecutionFailedEventAttributes":
      case "requestCancelExternalWorkflowExecutionFailedEventAttributes":
        refusedExternals.add(externals.get(Number(value.initiatedEventId)) ?? "");
        break;
      case "markerRecordedEventAttributes": {
        const call = transactIn(event, timeMs);
        if (call !== undefined) transacts.push(call);
        const local = localActivityIn(event, timeMs);
        if (local !== undefined) localActivities.push(local);
        break;
      }
    }
  }
  return {
    events,
    messages: messages.sort((a, b) => a.arrivedAfter - b.arrivedAfter || a.eventId - b.eventId),
    activities: [...activities.values()],
    localActivities,
    transacts,
    children: [...children.values()],
    timers,
    refusedExternals,
  };
}

type OpenCalls = Map<number, RecordedCall>;

function endCall(
  calls: OpenCalls,
  id: bigint,
  event: HistoryEvent,
  endMs: number,
  end: RecordedEnd,
): void {
  const call = calls.get(Number(id));
  if (call !== undefined) Object.assign(call, { end, endMs, endEventId: Number(event.eventId) });
}

function readActivity(event: HistoryEvent, timeMs: number, calls: OpenCalls): void {
  const { attributes: { case: kind, value } } = event;
  const endWith = (id: bigint, end: RecordedEnd) => endCall(calls, id, event, timeMs, end);
  switch (kind) {
    case "activityTaskScheduledEventAttributes": {
      const eventId = Number(event.eventId);
      const type = value.activityType?.name ?? "";
      calls.set(eventId, callOf(eventId, type, inputKey(value.input), timeMs));
      break;
    }
    case "activityTaskStartedEventAttributes": {
      const call = calls.get(Number(value.scheduledEventId));
      if (call !== undefined) [call.lastStartMs, call.attempt] = [timeMs, value.attempt];
      break;
    }
    case "activityTaskCompletedEventAttributes":
      return endWith(value.scheduledEventId, { kind: "completed", result: value.result });
    case "activityTaskFailedEventAttributes":
      return endWith(value.scheduledEventId, { kind: "failed", failure: value.failure });
    case "activityTaskTimedOutEventAttributes":
      return endWith(value.scheduledEventId, { kind: "timed out" });
    case "activityTaskCanceledEventAttributes":
      return endWith(value.scheduledEventId, { kind: "cancelled", details: value.details });
  }
}

function readChild(event: HistoryEvent, timeMs: number, calls: OpenCalls): void {
  const { attributes: { case: kind, value } } = event;
  const endWith = (id: bigint, end: RecordedEnd) => endCall(calls, id, event, timeMs, end);
  switch (kind) {
    case "startChildWorkflowExecutionInitiatedEventAttributes": {
      const eventId = Number(event.eventId);
      const type = value.workflowType?.name ?? "";
      calls.set(eventId, callOf(eventId, type, inputKey(value.input), timeMs));
      break;
    }
    case "startChildWorkflowExecutionFailedEventAttributes": {
      endWith(value.initiatedEventId, { kind: "never" });
      const call = calls.get(Number(value.initiatedEventId));
      if (call !== undefined) call.startFailed = true;
      break;
    }
    case "childWorkflowExecutionCompletedEventAttributes":
      return endWith(value.initiatedEventId, { kind: "completed", result: value.result });
    case "childWorkflowExecutionFailedEventAttributes":
      return endWith(value.initiatedEventId, { kind: "failed", failure: value.failure });
    case "childWorkflowExecutionCanceledEventAttributes":
      return endWith(value.initiatedEventId, { kind: "cancelled", details: value.details });
    case "childWorkflowExecutionTimedOutEventAttributes":
      return endWith(value.initiatedEventId, { kind: "timed out" });
    case "childWorkflowExecutionTerminatedEventAttributes":
      return endWith(value.initiatedEventId, { kind: "terminated" });
  }
}

/** Reads the reducer of a marker. */
function transactIn(event: HistoryEvent, timeMs: number): RecordedCall | undefined {
  const found = transactOf(event);
  if (found === undefined) return undefined;
  const eventId = Number(event.eventId);
  return {
    ...callOf(eventId, found.reducer, inputKey(found.args), timeMs),
    endMs: timeMs,
    endEventId: eventId,
    end: found.end,
  };
}

/** Reads the local activity of a marker. */
function localActivityIn(event: HistoryEvent, timeMs: number): RecordedCall | undefined {
  const marker = localActivityOf(event);
  if (marker === undefined) return undefined;
  const eventId = Number(event.eventId);
  const { type, attempt, end } = marker;
  return { ...callOf(eventId, type, "", timeMs), endMs: timeMs, endEventId: eventId, attempt, end };
}

/** Reads the message of an event. */
function messageIn(event: HistoryEvent, tasks: readonly TaskEvents[]): RecordedMessage | undefined {
  const { attributes: { case: kind, value } } = event;
  const eventId = Number(event.eventId);
  const blank = {
    ...{
      eventId,
      name: "",
      input: undefined,
      header: undefined,
      identity: "",
      reason: "",
      updateId: "",
      timeMs: eventMilliseconds(event),
    },
    arrivedAfter: eventId - 1,
    seenBy: tasks.find((task) => task.startedId > eventId)?.startedId ?? 0,
  };
  switch (kind) {
    case "workflowExecutionSignaledEventAttributes": {
      const { signalName: name, input, header, identity } = value;
      return { ...blank, kind: "signal", name, input, header, identity };
    }
    case "workflowExecutionCancelRequestedEventAttributes":
      return { ...blank, kind: "cancel", reason: value.cause, identity: value.identity };
    case "workflowExecutionTerminatedEventAttributes":
      return { ...blank, kind: "terminate", reason: value.reason, identity: value.identity };
    case "workflowExecutionUpdateAcceptedEventAttributes": {
      const task = tasks.findLast(({ startedId }) => startedId < eventId);
      const { meta, input } = value.acceptedRequest ?? {};
      return {
        ...{
          ...blank,
          kind: "update",
          name: input?.name ?? "",
          input: input?.args,
          header: input?.header,
        },
        ...{ identity: meta?.identity ?? "", updateId: meta?.updateId || value.protocolInstanceId },
        // The message arrived when its task was scheduled; its event is recorded when the task
        // ends.
        ...(task !== undefined &&
          { timeMs: task.scheduledMs, arrivedAfter: task.scheduledId - 1, seenBy: task.startedId }),
      };
    }
    default:
      return undefined;
  }
}

function callOf(eventId: number, type: string, input: string, startMs: number): RecordedCall {
  return {
    ...{
      eventId,
      type,
      input,
      startMs,
      lastStartMs: startMs,
      endMs: Infinity,
      endEventId: 0,
      attempt: 1,
    },
    end: { kind: "never" },
  };
}

interface TaskEvents {
  readonly scheduledId: number;
  readonly scheduledMs: number;
  readonly startedId: number;
}

/** Returns the completed workflow tasks, in order. */
function tasksOf(events: readonly HistoryEvent[]): TaskEvents[] {
  const tasks: TaskEvents[] = [];
  for (const { attributes: { case: kind, value } } of events) {
    if (kind !== "workflowTaskCompletedEventAttributes") continue;
    const scheduledId = Number(value.scheduledEventId);
    const scheduled = events[scheduledId - 1];
    if (scheduled === undefined) continue;
    tasks.push({
      scheduledId,
      scheduledMs: eventMilliseconds(scheduled),
      startedId: Number(value.startedEventId),
    });
  }
  return tasks;
}
