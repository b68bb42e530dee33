// Where payloads are in Temporal's messages, found by reflection over descriptors: for each message
// type the fields that can contain a payload. New messages and fields are covered once they are
// generated.
import type { DescField, DescFile, DescMessage } from "@bufbuild/protobuf";
import { file_temporal_api_update_v1_message } from "../messages/generated/temporal/api/update/v1/message_pb.ts";
import { HistorySchema } from "../messages/generated/temporal/api/history/v1/message_pb.ts";

/** Content of a field. */
export type Step =
  | { readonly kind: "payload"; readonly field: string }
  | { readonly kind: "message"; readonly plan: Plan; readonly field: string }
  /** Entry of a map; its field 2 is the value. */
  | { readonly kind: "entry"; readonly value: Step }
  /** google.protobuf.Any */
  | { readonly kind: "any" }
  /** temporal.api.common.v1.DataBlob with an encoded History. */
  | { readonly kind: "history" };

export interface Plan {
  /** Full name of the message. */
  readonly typeName: string;
  /** By field number; fields without payloads are left out. */
  readonly steps: ReadonlyMap<number, Step>;
  /** Numbers of fields with error text, which `encodeCommonAttributes` hides. */
  readonly errorText: ReadonlySet<number>;
  /** Numbers of history fields whose payloads no run receives. */
  readonly notGiven: ReadonlySet<number>;
}

const COMMON = "temporal.api.common.v1";
export const PAYLOAD = `${COMMON}.Payload`;
export const PAYLOADS = `${COMMON}.Payloads`;
export const FAILURE = "temporal.api.failure.v1.Failure";
/** Marker messages. Some markers belong to the core, not to the user. */
export const MARKERS: ReadonlySet<string> = new Set([
  "temporal.api.history.v1.MarkerRecordedEventAttributes",
  "temporal.api.command.v1.RecordMarkerCommandAttributes",
]);
/** Not encoded: the service indexes search attributes and counts by them. */
const READABLE: ReadonlySet<string> = new Set([
  `${COMMON}.SearchAttributes`,
  "temporal.api.workflowservice.v1.CountWorkflowExecutionsResponse.AggregationGroup",
  "temporal.api.workflowservice.v1.CountSchedulesResponse.AggregationGroup",
  "temporal.api.workflowservice.v1.CountActivityExecutionsResponse.AggregationGroup",
]);
export const HEADER = `${COMMON}.Header`;
export const MEMO = `${COMMON}.Memo`;
/**
 * Headers that are not encoded: the trace context, which Temporal's SDKs never encode and cannot
 * decode. It contains no user data.
 */
export const PLAIN_HEADERS: ReadonlySet<string> = new Set(["_tracer-data"]);
/**
 * Event fields that a run never receives: what the run has sent, what an activity needs, results of
 * tasks and of the run. A run receives all other payloads, as with Temporal's workers.
 */
const NOT_GIVEN: ReadonlySet<string> = new Set([
  "userMetadata",
  "eventGroupMarkers",
  ...[
    "workflowExecutionCompleted",
    "workflowExecutionFailed",
    "workflowExecutionCanceled",
    "workflowExecutionTerminated",
    "workflowExecutionContinuedAsNew",
    "workflowTaskFailed",
    "activityTaskScheduled",
    "activityTaskStarted",
    "signalExternalWorkflowExecutionInitiated",
    "startChildWorkflowExecutionInitiated",
    "childWorkflowExecutionStarted",
    "workflowPropertiesModified",
    "workflowPropertiesModifiedExternally",
    "workflowExecutionUpdateRejected",
    "workflowExecutionUpdateCompleted",
    "nexusOperationScheduled",
  ].map((event) => `${event}EventAttributes`),
]);
const EVENT = "temporal.api.history.v1.HistoryEvent";
const ANY = "google.protobuf.Any";
const BLOB = `${COMMON}.DataBlob`;

const NONE: ReadonlySet<number> = new Set();
const plans = new Map<string, Plan>();
const reaching = new Map<string, boolean>();

/**
 * Messages inside an Any: those of updates. Created on first use, so that an import builds no
 * descriptors.
 */
let inAny: ReadonlyMap<string, DescMessage> | undefined;

function messagesOf(file: DescFile): ReadonlyMap<string, DescMessage> {
  return new Map(file.messages.map((message) => [message.typeName, message]));
}

/**
 * Returns the plan of the message type in an Any's URL; undefined for an unknown type or one
 * without payloads.
 */
export function planOfUrl(url: string): Plan | undefined {
  inAny ??= messagesOf(file_temporal_api_update_v1_message);
  const desc = inAny.get(url.slice(url.lastIndexOf("/") + 1));
  return desc !== undefined && reaches(desc) ? planOf(desc) : undefined;
}

export const planOfHistory = (): Plan => planOf(HistorySchema);

/** Returns the plan of a message type; the same object for the same type. */
export function planOf(desc: DescMessage): Plan {
  const known = plans.get(desc.typeName);
  if (known !== undefined) return known;
  const steps = new Map<number, Step>();
  const plan: Plan = {
    typeName: desc.typeName,
    steps,
    errorText: errorText(desc),
    notGiven: notGiven(desc),
  };
  // Before its fields: messages can contain themselves (a failure's cause).
  plans.set(desc.typeName, plan);
  for (const field of desc.fields) {
    const step = stepOf(field);
    if (step !== undefined) steps.set(field.number, step);
  }
  return plan;
}

/** Fields named `error_message`: the failure next to them contains the same text. */
function errorText(desc: DescMessage): ReadonlySet<number> {
  const hasFailure = desc.fields.some((field) => field.message?.typeName === FAILURE);
  const found = desc.fields.filter((field) =>
    hasFailure && field.name === "error_message" && field.fieldKind === "scalar"
  );
  return new Set(found.map((field) => field.number));
}

function notGiven(desc: DescMessage): ReadonlySet<number> {
  if (desc.typeName !== EVENT) return NONE;
  return new Set(
    desc.fields.filter((field) => NOT_GIVEN.has(field.localName)).map((field) => field.number),
  );
}

function messageOf(field: DescField): DescMessage | undefined {
  return field.fieldKind === "message" || field.fieldKind === "list" || field.fieldKind === "map"
    ? field.message
    : undefined;
}

function stepOf(field: DescField): Step | undefined {
  const message = messageOf(field);
  if (message === undefined || !reaches(message)) return undefined;
  const name = `${field.parent.name}.${field.localName}`;
  const value: Step = message.typeName === PAYLOAD
    ? { kind: "payload", field: name }
    : message.typeName === ANY
    ? { kind: "any" }
    : message.typeName === BLOB
    ? { kind: "history" }
    : { kind: "message", plan: planOf(message), field: name };
  return field.fieldKind === "map" ? { kind: "entry", value } : value;
}

/** Returns whether a message of this type can contain a payload, at any depth. */
function reaches(from: DescMessage): boolean {
  const known = reaching.get(from.typeName);
  if (known !== undefined) return known;
  const seen = new Set<string>();
  const open = [from];
  let found = false;
  while (!found && open.length > 0) {
    const desc = open.pop()!;
    if (seen.has(desc.typeName) || READABLE.has(desc.typeName)) continue;
    seen.add(desc.typeName);
    found = [PAYLOAD, ANY, BLOB].includes(desc.typeName);
    for (const field of desc.fields) {
      const message = messageOf(field);
      if (message !== undefined) open.push(message);
    }
  }
  reaching.set(from.typeName, found);
  return found;
}
