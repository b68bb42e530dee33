// The steps of a history: what reached the run and what its code requested, one line each, without
// workflow tasks. Steps of two runs or branches can be compared, although their event IDs differ.
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { Failure } from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { Payload, Payloads } from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import { defaultPayloadConverter, type PayloadConverter } from "../converter/payload.ts";
import { shownActivity } from "../converter/procedure_names.ts";
import { BROADCAST_ACTIVITY } from "../converter/subscriptions.ts";
import { readTimerName, readTimerSummary } from "../debug/timer_name.ts";
import { localActivityOf } from "./local_marker.ts";
import { eventMilliseconds } from "./recorded.ts";
import { transactOf } from "./transact_marker.ts";

/** Kinds of steps. */
export type StepKind =
  | (
    | "run"
    | "signal"
    | "update"
    | "cancel"
    | "activity"
    | "local activity"
    | "transact"
    | "timer"
    | "child"
    | "external"
  )
  | ("marker" | "search attributes" | "nexus");

/** A step. */
export interface Step {
  readonly eventId: number;
  readonly kind: StepKind;
  /** What happened: "scheduled", "completed", ... */
  readonly what: string;
  /** Name of the activity, signal, timer, ... */
  readonly name: string;
  /** Its values in one line. */
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
}

type Told = readonly [kind: StepKind, what: string, name: string, text?: string];

/** The context to describe events: names from earlier events, and a formatter of values. */
interface Telling {
  readonly named: (name: string) => string;
  readonly names: ReadonlyMap<bigint, string>;
  readonly values: (payloads: Payloads | undefined) => string;
  readonly converter: PayloadConverter;
}

/** Returns the steps of a history. */
export function stepsOf(
  events: readonly HistoryEvent[],
  converter: PayloadConverter = defaultPayloadConverter,
): Step[] {
  const names = new Map<bigint, string>();
  const values = (payloads: Payloads | undefined) =>
    (payloads?.payloads ?? []).map((each) => textOf(each, converter)).join(", ");
  return events.flatMap((event) => {
    const named = (name: string): string => {
      names.set(event.eventId, name);
      return name;
    };
    const telling = { named, names, values, converter };
    const told = messageTold(event, telling) ?? callTold(event, telling) ??
      childTold(event, telling) ??
      otherTold(event, telling);
    if (told === undefined) return [];
    const [kind, what, name, text = ""] = told;
    return [{
      eventId: Number(event.eventId),
      kind,
      what,
      name,
      text,
      timeMs: eventMilliseconds(event),
    }];
  });
}

/** Describes messages and the end of the run. */
function messageTold(
  { attributes: { case: kind, value } }: HistoryEvent,
  { named, names, values }: Telling,
): Told | undefined {
  switch (kind) {
    case "workflowExecutionStartedEventAttributes":
      return ["run", "started", value.workflowType?.name ?? "", values(value.input)];
    case "workflowExecutionCompletedEventAttributes":
      return ["run", "completed", "", values(value.result)];
    case "workflowExecutionFailedEventAttributes":
      return ["run", "failed", "", failureText(value.failure)];
    case "workflowExecutionTimedOutEventAttributes":
      return ["run", "timed out", ""];
    case "workflowExecutionCanceledEventAttributes":
      return ["run", "canceled", "", values(value.details)];
    case "workflowExecutionTerminatedEventAttributes":
      return ["run", "terminated", "", value.reason];
    case "workflowExecutionContinuedAsNewEventAttributes":
      return ["run", "continued as new", value.workflowType?.name ?? "", values(value.input)];
    case "workflowExecutionCancelRequestedEventAttributes":
      return ["cancel", "requested", "", value.cause];
    case "workflowExecutionSignaledEventAttributes":
      return ["signal", "received", value.signalName, values(value.input)];
    case "workflowExecutionUpdateAcceptedEventAttributes":
      return [
        "update",
        "accepted",
        named(value.acceptedRequest?.input?.name ?? ""),
        values(value.acceptedRequest?.input?.args),
      ];
    case "workflowExecutionUpdateCompletedEventAttributes": {
      const outcome = value.outcome?.value;
      const text = outcome?.case === "failure"
        ? failureText(outcome.value)
        : values(outcome?.value);
      return [
        "update",
        outcome?.case === "failure" ? "failed" : "completed",
        names.get(value.acceptedEventId) ?? "",
        text,
      ];
    }
    default:
      return undefined;
  }
}

/** Describes activities and timers. */
function callTold(
  { attributes: { case: kind, value }, userMetadata }: HistoryEvent,
  { named, names, values, converter }: Telling,
): Told | undefined {
  switch (kind) {
    case "activityTaskScheduledEventAttributes":
      return [
        "activity",
        "scheduled",
        named(shownActivity(value.activityType?.name ?? "")),
        values(value.input),
      ];
    case "activityTaskCompletedEventAttributes":
      return [
        "activity",
        "completed",
        names.get(value.scheduledEventId) ?? "",
        values(value.result),
      ];
    case "activityTaskFailedEventAttributes":
      return [
        "activity",
        "failed",
        names.get(value.scheduledEventId) ?? "",
        failureText(value.failure),
      ];
    case "activityTaskTimedOutEventAttributes":
      return ["activity", "timed out", names.get(value.scheduledEventId) ?? ""];
    case "activityTaskCanceledEventAttributes":
      return ["activity", "canceled", names.get(value.scheduledEventId) ?? ""];
    case "activityTaskCancelRequestedEventAttributes":
      return ["activity", "cancel requested", names.get(value.scheduledEventId) ?? ""];
    case "timerStartedEventAttributes": {
      const { seconds = 0n, nanos = 0 } = value.startToFireTimeout ?? {};
      const span = exactSpan(Number(seconds) * 1000 + nanos / 1e6);
      const name = readTimerName(readTimerSummary(userMetadata?.summary, converter));
      // The ID of a timer means nothing to users.
      return ["timer", "started", named(name || span), name === "" ? "" : span];
    }
    case "timerFiredEventAttributes":
      return ["timer", "fired", names.get(value.startedEventId) ?? value.timerId];
    case "timerCanceledEventAttributes":
      return ["timer", "canceled", names.get(value.startedEventId) ?? value.timerId];
    default:
      return undefined;
  }
}

/** Describes children. */
function childTold(
  { attributes: { case: kind, value } }: HistoryEvent,
  { named, names, values }: Telling,
): Told | undefined {
  switch (kind) {
    case "startChildWorkflowExecutionInitiatedEventAttributes":
      return ["child", "initiated", named(value.workflowType?.name ?? ""), values(value.input)];
    case "startChildWorkflowExecutionFailedEventAttributes":
      return ["child", "not started", names.get(value.initiatedEventId) ?? ""];
    case "childWorkflowExecutionStartedEventAttributes":
      return ["child", "started", names.get(value.initiatedEventId) ?? ""];
    case "childWorkflowExecutionCompletedEventAttributes":
      return ["child", "completed", names.get(value.initiatedEventId) ?? "", values(value.result)];
    case "childWorkflowExecutionFailedEventAttributes":
      return [
        "child",
        "failed",
        names.get(value.initiatedEventId) ?? "",
        failureText(value.failure),
      ];
    case "childWorkflowExecutionCanceledEventAttributes":
      return ["child", "canceled", names.get(value.initiatedEventId) ?? ""];
    case "childWorkflowExecutionTimedOutEventAttributes":
      return ["child", "timed out", names.get(value.initiatedEventId) ?? ""];
    case "childWorkflowExecutionTerminatedEventAttributes":
      return ["child", "terminated", names.get(value.initiatedEventId) ?? ""];
    default:
      return undefined;
  }
}

/** Describes all other events. */
function otherTold(
  { attributes: { case: kind, value } }: HistoryEvent,
  { named, names, values }: Telling,
): Told | undefined {
  switch (kind) {
    case "signalExternalWorkflowExecutionInitiatedEventAttributes":
      return [
        "external",
        "signal",
        named(`${value.signalName} to ${value.workflowExecution?.workflowId}`),
        values(value.input),
      ];
    case "requestCancelExternalWorkflowExecutionInitiatedEventAttributes":
      return ["external", "cancel", named(`${value.workflowExecution?.workflowId}`)];
    case "externalWorkflowExecutionSignaledEventAttributes":
    case "externalWorkflowExecutionCancelRequestedEventAttributes":
      return ["external", "reached", names.get(value.initiatedEventId) ?? ""];
    case "signalExternalWorkflowExecutionFailedEventAttributes":
    case "requestCancelExternalWorkflowExecutionFailedEventAttributes":
      return ["external", "not reached", names.get(value.initiatedEventId) ?? ""];
    case "markerRecordedEventAttributes": {
      const local = localActivityOf({ attributes: { case: kind, value } } as HistoryEvent);
      if (local !== undefined) {
        const { end } = local;
        return end.kind === "failed"
          ? ["local activity", "failed", shownLocal(local.type), failureText(end.failure)]
          : [
            "local activity",
            "completed",
            shownLocal(local.type),
            end.kind === "completed" ? values(end.result) : "",
          ];
      }
      const transacted = transactOf({ attributes: { case: kind, value } } as HistoryEvent);
      if (transacted !== undefined) {
        const { reducer, args, end } = transacted;
        const [what, gave] = end.kind === "failed"
          ? ["failed", failureText(end.failure)]
          : ["ran", end.kind === "completed" ? values(end.result) : ""];
        return ["transact", what, reducer, `${values(args)}${gave === "" ? "" : ` → ${gave}`}`];
      }
      return [
        "marker",
        "recorded",
        value.markerName,
        Object.values(value.details).map(values).join(", "),
      ];
    }
    case "upsertWorkflowSearchAttributesEventAttributes":
      return [
        "search attributes",
        "set",
        Object.keys(value.searchAttributes?.indexedFields ?? {}).join(", "),
      ];
    case "nexusOperationScheduledEventAttributes":
      return ["nexus", "scheduled", named(value.operation)];
    case "nexusOperationCompletedEventAttributes":
      return ["nexus", "completed", names.get(value.scheduledEventId) ?? ""];
    case "nexusOperationFailedEventAttributes":
      return ["nexus", "failed", names.get(value.scheduledEventId) ?? ""];
    default:
      return undefined;
  }
}

/** Returns the name in workflow code. */
const shownLocal = (type: string): string => type === BROADCAST_ACTIVITY ? "broadcast" : type;

function textOf(payload: Payload, converter: PayloadConverter): string {
  try {
    return JSON.stringify(converter.fromPayload(payload)) ?? "undefined";
  } catch {
    return `${payload.data.length} bytes`;
  }
}

/** Returns the message of the failure and of its cause. */
function failureText(failure: Failure | undefined): string {
  const parts: string[] = [];
  for (let at = failure; at !== undefined; at = at.cause) parts.push(at.message);
  return parts.join(": ");
}

const UNITS: readonly (readonly [number, string])[] = [[86_400_000, "d"], [3_600_000, "h"], [
  60_000,
  "m",
], [1000, "s"]];

/** Formats exactly, "30 d", "90 s", "1250 ms": different durations have different texts. */
function exactSpan(ms: number): string {
  const unit = UNITS.find(([size]) => ms >= size && ms % size === 0);
  return unit === undefined ? `${ms} ms` : `${ms / unit[0]} ${unit[1]}`;
}
