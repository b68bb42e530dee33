// Sizes in the completion of a workflow task. A Temporal server terminates a run if a command or
// the response to an update exceeds its limit (2 MiB by default). Found here, the task fails with a
// named error and a corrected version can continue. A completion below the limit is not parsed.
import { type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { type PayloadLimits, PayloadTooLargeError } from "../../service/limits.ts";
import {
  type Command,
  CommandSchema,
} from "../../messages/generated/temporal/api/command/v1/message_pb.ts";
import {
  Message,
  RespondWorkflowTaskCompletedRequest as Report,
} from "../../messages/generated/fields.ts";
import { Fields } from "../../messages/wire.ts";
import { MessageSchema } from "../../messages/generated/temporal/api/protocol/v1/message_pb.ts";

/** Marker name of `transact`. */
const TRANSACT_MARKER = "Transact";

/**
 * Throws a PayloadTooLargeError for the first command or update response with a field above the
 * error limit; calls `warn` for those above the warning limit. Sizes are those after encoding by
 * the codec.
 */
export function checkCompletion(
  request: Uint8Array,
  limits: PayloadLimits,
  warn: (message: string, bytes: number) => void,
): void {
  const least = Math.min(limits.warnBytes, limits.errorBytes);
  if (request.length <= least) return;
  const look = (what: () => string, bytes: number) => {
    if (bytes > limits.errorBytes) throw new PayloadTooLargeError(what(), bytes, limits.errorBytes);
    if (bytes > limits.warnBytes) {
      warn(
        `${what()} takes ${bytes} bytes; the service rejects more than ${limits.errorBytes} bytes`,
        bytes,
      );
    }
  };
  for (const at = new Fields(request); at.next();) {
    const bytes = at.bytes();
    if (bytes.length <= least) continue;
    if (at.tag === Report.commands) command(bytes, least, look);
    else if (at.tag === Report.messages) {
      const body = sizes(bytes).get(Message.body) ?? 0;
      look(
        () => `the response to update "${fromBinary(MessageSchema, bytes).protocolInstanceId}"`,
        body,
      );
    }
  }
}

function command(
  bytes: Uint8Array,
  least: number,
  look: (what: () => string, bytes: number) => void,
): void {
  for (const at = new Fields(bytes); at.next();) {
    const attributes = at.bytes();
    if (!at.hasLength || attributes.length <= least) continue;
    if (isTransact(bytes)) return;
    const schema = CommandSchema.fields.find(({ number }) => number === at.number)?.message;
    for (const [tag, size] of sizes(attributes)) {
      if (size > least) {
        look(
          () => `${named(fromBinary(CommandSchema, bytes))}: ${fieldName(schema, tag >>> 3)}`,
          size,
        );
      }
    }
  }
}

/** The engine checks sizes of transact: awaiting code gets the error. */
function isTransact(bytes: Uint8Array): boolean {
  const { attributes } = fromBinary(CommandSchema, bytes);
  return attributes.case === "recordMarkerCommandAttributes" &&
    attributes.value.markerName === TRANSACT_MARKER;
}

/** Bytes by field tag, summed over repeated fields and map entries. */
function sizes(message: Uint8Array): Map<number, number> {
  const sums = new Map<number, number>();
  for (const at = new Fields(message); at.next();) {
    if (at.hasLength) sums.set(at.tag, (sums.get(at.tag) ?? 0) + at.end - at.contentAt);
  }
  return sums;
}

function fieldName(schema: DescMessage | undefined, number: number): string {
  return schema?.fields.find((field) => field.number === number)?.localName ?? `field ${number}`;
}

/** Describes the command in terms of the workflow API. */
function named({ attributes }: Command): string {
  switch (attributes.case) {
    case "scheduleActivityTaskCommandAttributes":
      return `activity "${attributes.value.activityType?.name}" (id "${attributes.value.activityId}")`;
    case "startChildWorkflowExecutionCommandAttributes":
      return `child workflow "${attributes.value.workflowType?.name}" (id "${attributes.value.workflowId}")`;
    case "signalExternalWorkflowExecutionCommandAttributes":
      return `signal "${attributes.value.signalName}" to another workflow`;
    case "upsertWorkflowSearchAttributesCommandAttributes":
      return "upsertSearchAttributes";
    case "modifyWorkflowPropertiesCommandAttributes":
      return "upsertMemo";
    case "recordMarkerCommandAttributes":
      return attributes.value.markerName === "SideEffect"
        ? "the value of a sideEffect"
        : `marker "${attributes.value.markerName}"`;
    case "completeWorkflowExecutionCommandAttributes":
      return "the end of the workflow";
    case "failWorkflowExecutionCommandAttributes":
      return "the failure of the workflow";
    case "continueAsNewWorkflowExecutionCommandAttributes":
      return "continue-as-new";
    default:
      return `${attributes.case?.replace(/CommandAttributes$/, "") ?? "a command"}`;
  }
}
