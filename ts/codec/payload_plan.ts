// Where payloads stand in Temporal's messages, found by reflection over their descriptors: for each message type the fields behind which a
// payload can be, and nothing else. New messages and fields are covered as soon as they are generated.
import type { DescField, DescFile, DescMessage } from "@bufbuild/protobuf";
import { file_temporal_api_update_v1_message } from "../api/generated/temporal/api/update/v1/message_pb.ts";
import { HistorySchema } from "../api/generated/temporal/api/history/v1/message_pb.ts";

/** What stands in a field. */
export type Step =
  | { readonly kind: "payload"; readonly field: string }
  | { readonly kind: "message"; readonly plan: Plan; readonly field: string }
  /** An entry of a map: its field 2 is the value. */
  | { readonly kind: "entry"; readonly value: Step }
  /** google.protobuf.Any */
  | { readonly kind: "any" }
  /** temporal.api.common.v1.DataBlob with an encoded History. */
  | { readonly kind: "history" };

export interface Plan {
  /** Full name of the message. */
  readonly typeName: string;
  /** By field number; fields that lead to no payload are not here. */
  readonly steps: ReadonlyMap<number, Step>;
  /** Numbers of fields with the text of errors, which `encodeCommonAttributes` hides. */
  readonly errorText: ReadonlySet<number>;
  /** Numbers of the fields of a history whose payloads are given to no run. */
  readonly notGiven: ReadonlySet<number>;
}

const COMMON = "temporal.api.common.v1";
export const PAYLOAD = `${COMMON}.Payload`;
export const PAYLOADS = `${COMMON}.Payloads`;
export const FAILURE = "temporal.api.failure.v1.Failure";
/** The messages of markers: some markers are the core's own, not the user's. */
export const MARKERS: ReadonlySet<string> = new Set([
  "temporal.api.history.v1.MarkerRecordedEventAttributes",
  "temporal.api.command.v1.RecordMarkerCommandAttributes",
]);
/** The service indexes search attributes (and counts by them), so it must be able to read them. */
const READABLE: ReadonlySet<string> = new Set([
  `${COMMON}.SearchAttributes`,
  "temporal.api.workflowservice.v1.CountWorkflowExecutionsResponse.AggregationGroup",
  "temporal.api.workflowservice.v1.CountSchedulesResponse.AggregationGroup",
]);
export const HEADER = `${COMMON}.Header`;
export const MEMO = `${COMMON}.Memo`;
/**
 * Headers that go over the wire as they are: the trace context, which Temporal's SDKs never encode and cannot read encoded. There is nothing
 * of the user's in it.
 */
export const PLAIN_HEADERS: ReadonlySet<string> = new Set(["_tracer-data"]);
/**
 * The fields of an event of which a run is given nothing: what the run has sent itself, what an activity needs, what became of tasks and of
 * the run. Of all others a run is given all payloads, as with Temporal's workers (an activation has what answers the code).
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

/** Messages that travel inside of an Any: those of updates. Found when first asked for: an import builds no descriptors. */
let inAny: ReadonlyMap<string, DescMessage> | undefined;

function messagesOf(file: DescFile): ReadonlyMap<string, DescMessage> {
  return new Map(file.messages.map((message) => [message.typeName, message]));
}

/** The message type that an Any's url names; undefined for one without payloads or not known. */
export function planOfUrl(url: string): Plan | undefined {
  inAny ??= messagesOf(file_temporal_api_update_v1_message);
  const desc = inAny.get(url.slice(url.lastIndexOf("/") + 1));
  return desc !== undefined && reaches(desc) ? planOf(desc) : undefined;
}

export const planOfHistory = (): Plan => planOf(HistorySchema);

/** The plan of a message type; the same object for the same type. */
export function planOf(desc: DescMessage): Plan {
  const known = plans.get(desc.typeName);
  if (known !== undefined) return known;
  const steps = new Map<number, Step>();
  const plan: Plan = { typeName: desc.typeName, steps, errorText: errorText(desc), notGiven: notGiven(desc) };
  // Before its fields: messages contain themselves (a failure's cause).
  plans.set(desc.typeName, plan);
  for (const field of desc.fields) {
    const step = stepOf(field);
    if (step !== undefined) steps.set(field.number, step);
  }
  return plan;
}

/** What `error_message` says stands in the failure beside it too. */
function errorText(desc: DescMessage): ReadonlySet<number> {
  const hasFailure = desc.fields.some((field) => field.message?.typeName === FAILURE);
  const found = desc.fields.filter((field) => hasFailure && field.name === "error_message" && field.fieldKind === "scalar");
  return new Set(found.map((field) => field.number));
}

function notGiven(desc: DescMessage): ReadonlySet<number> {
  if (desc.typeName !== EVENT) return NONE;
  return new Set(desc.fields.filter((field) => NOT_GIVEN.has(field.localName)).map((field) => field.number));
}

function messageOf(field: DescField): DescMessage | undefined {
  return field.fieldKind === "message" || field.fieldKind === "list" || field.fieldKind === "map" ? field.message : undefined;
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

/** Can a payload be in a message of this type, or in what it contains? */
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
