// The part of the recorded history that a branch keeps. It ends between two workflow tasks, before
// the first change, where the state of the run follows from its events
// (engine/maintenance/open_run.ts). Messages between the end of that part and the change are
// delivered again.
import { create } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { EventType } from "../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  type HistoryEvent,
  HistoryEventSchema,
} from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import { transactOf } from "./transact_marker.ts";

/**
 * Events of commands have this field. Events of updates are also caused by the task of the code.
 */
const isOfCommand = ({ attributes: { case: kind, value } }: HistoryEvent): boolean =>
  (value !== undefined && "workflowTaskCompletedEventId" in value &&
    kind !== "workflowTaskCompletedEventAttributes") ||
  kind === "workflowExecutionUpdateAcceptedEventAttributes" ||
  kind === "workflowExecutionUpdateCompletedEventAttributes" ||
  kind === "workflowExecutionUpdateRejectedEventAttributes";

/** Events that need a workflow task. */
const WAKES: ReadonlySet<string> = new Set([
  ...[
    "workflowExecutionSignaled",
    "workflowExecutionCancelRequested",
    "activityTaskCompleted",
    "activityTaskFailed",
  ],
  ...[
    "activityTaskTimedOut",
    "activityTaskCanceled",
    "timerFired",
    "startChildWorkflowExecutionFailed",
  ],
  ...[
    "childWorkflowExecutionStarted",
    "childWorkflowExecutionCompleted",
    "childWorkflowExecutionFailed",
  ],
  ...[
    "childWorkflowExecutionCanceled",
    "childWorkflowExecutionTimedOut",
    "childWorkflowExecutionTerminated",
  ],
  ...["signalExternalWorkflowExecutionFailed", "externalWorkflowExecutionSignaled"],
  ...["requestCancelExternalWorkflowExecutionFailed", "externalWorkflowExecutionCancelRequested"],
].map((name) => `${name}EventAttributes`));

/** Events that begin something which must have ended at the cut, with the events that end it. */
const PAIRS: { readonly [begins: string]: readonly string[] } = {
  activityTaskStarted: [
    "activityTaskCompleted",
    "activityTaskFailed",
    "activityTaskTimedOut",
    "activityTaskCanceled",
  ],
  startChildWorkflowExecutionInitiated: [
    "childWorkflowExecutionStarted",
    "startChildWorkflowExecutionFailed",
  ],
  signalExternalWorkflowExecutionInitiated: [
    "externalWorkflowExecutionSignaled",
    "signalExternalWorkflowExecutionFailed",
  ],
  requestCancelExternalWorkflowExecutionInitiated: [
    ...["externalWorkflowExecutionCancelRequested", "requestCancelExternalWorkflowExecutionFailed"],
  ],
};

/**
 * Returns the number of events to keep: at most `before - 1`, the largest number that ends between
 * two workflow tasks, at least 1 (the start).
 */
export function cutBefore(events: readonly HistoryEvent[], before: number): number {
  const open = openSpans(events);
  let task: "none" | "scheduled" | "started" = "none";
  let cut = 1;
  for (let i = 0; i < events.length && i + 1 < before; i++) {
    const { attributes: { case: kind } } = events[i]!;
    if (kind === "workflowTaskScheduledEventAttributes") task = "scheduled";
    else if (kind === "workflowTaskStartedEventAttributes") task = "started";
    else if (kind !== undefined && kind.startsWith("workflowTask")) task = "none";
    const next = events[i + 1];
    const position = i + 1;
    const between = task !== "started" && !(next !== undefined && isOfCommand(next));
    if (between && !open.some(([from, to]) => from <= position && position < to)) cut = position;
  }
  return cut;
}

/** Returns the IDs of the first and last event of each item that does not end at once. */
function openSpans(events: readonly HistoryEvent[]): [number, number][] {
  const spans: [number, number][] = [];
  const begun = new Map<string, [number, number]>();
  for (const { eventId, attributes: { case: kind, value } } of events) {
    if (kind === undefined) continue;
    const name = kind.slice(0, -"EventAttributes".length);
    const id = Number(eventId);
    if (PAIRS[name] !== undefined) {
      const span: [number, number] = [id, Infinity];
      const key = name === "activityTaskStarted"
        ? (value as { scheduledEventId: bigint }).scheduledEventId
        : eventId;
      begun.set(`${name} ${key}`, span);
      spans.push(span);
    }
    for (const [begins, ends] of Object.entries(PAIRS)) {
      if (!ends.includes(name)) continue;
      const about = value as { scheduledEventId?: bigint; initiatedEventId?: bigint };
      const span = begun.get(`${begins} ${about.scheduledEventId ?? about.initiatedEventId}`);
      if (span !== undefined && span[1] === Infinity) span[1] = id;
    }
  }
  // Items that never end in the history are open at every later position.
  return spans.filter(([, to]) => to !== Infinity);
}

/**
 * Returns the first events as a run that can continue: if there is something for its code, the next
 * workflow task is scheduled.
 */
export function prefixOf(events: readonly HistoryEvent[], cut: number): HistoryEvent[] {
  const kept = events.slice(0, cut);
  let handled = 0;
  let pending = false;
  let tasks = 0;
  for (const { attributes: { case: kind, value } } of kept) {
    if (kind === "workflowTaskScheduledEventAttributes") pending = true;
    else if (kind !== undefined && kind.startsWith("workflowTask")) pending = false;
    if (kind === "workflowTaskCompletedEventAttributes") {
      [handled, tasks] = [Number(value.startedEventId), tasks + 1];
    }
  }
  if (pending) return kept;
  const wakes = kept.some((event) => Number(event.eventId) > handled && isWaking(event));
  const first = kept[0]!.attributes;
  if (first.case !== "workflowExecutionStartedEventAttributes") return kept;
  const isFirst = tasks === 0 && (isZero(first.value.firstWorkflowTaskBackoff) || wakes);
  if (!wakes && !isFirst) return kept;
  const last = kept.at(-1)!;
  const { taskQueue, workflowTaskTimeout: startToCloseTimeout } = first.value;
  const value = {
    attempt: 1,
    ...(taskQueue !== undefined && { taskQueue }),
    ...(startToCloseTimeout !== undefined && { startToCloseTimeout }),
  };
  const scheduled = create(HistoryEventSchema, {
    eventId: BigInt(cut + 1),
    eventType: EventType.WORKFLOW_TASK_SCHEDULED,
    ...(last.eventTime !== undefined && { eventTime: last.eventTime }),
    attributes: { case: "workflowTaskScheduledEventAttributes", value },
  });
  return [...kept, scheduled];
}

/** The result of a reducer that code awaits, and a recorded error, arrive with the next task. */
function isWaking(event: HistoryEvent): boolean {
  if (WAKES.has(event.attributes.case ?? "")) return true;
  const call = transactOf(event);
  return call !== undefined && (call.awaited || call.end.kind === "failed");
}

const isZero = (duration: Duration | undefined): boolean =>
  duration === undefined || (duration.seconds === 0n && duration.nanos === 0);
