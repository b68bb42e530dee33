// The two forms of a Nexus task's result. A server that announces it takes Temporal's failures;
// older ones take Nexus failures with Temporal's failure as JSON.
import { create, type MessageInitShape, toBinary, toJson } from "@bufbuild/protobuf";
import {
  type Failure,
  FailureSchema,
} from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { FailureSchema as NexusFailureSchema } from "../../messages/generated/temporal/api/nexus/v1/message_pb.ts";
import {
  RespondNexusTaskCompletedRequestSchema,
  RespondNexusTaskFailedRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { MethodName } from "../../service/raw.ts";
import type { NexusOutcome } from "./nexus_call.ts";

/** Fields of every report of a Nexus task. */
export interface NexusReportHead {
  readonly namespace: string;
  readonly identity: string;
  readonly taskToken: Uint8Array;
  /** From the response of the poll: routes the report. */
  readonly pollerGroupId: string;
}

type Start = NonNullable<
  MessageInitShape<typeof RespondNexusTaskCompletedRequestSchema>["response"]
>;

/**
 * Returns the method and the encoded request. `asTemporal`: the server takes Temporal's failures.
 */
export function nexusReport(
  head: NexusReportHead,
  outcome: NexusOutcome,
  asTemporal: boolean,
): { readonly method: MethodName; readonly request: Uint8Array } {
  if (outcome.kind === "handlerFailed") {
    const { failure } = outcome;
    const request = create(RespondNexusTaskFailedRequestSchema, {
      ...head,
      ...(asTemporal ? { failure } : { error: handlerError(failure) }),
    });
    return {
      method: "respondNexusTaskFailed",
      request: toBinary(RespondNexusTaskFailedRequestSchema, request),
    };
  }
  const request = create(RespondNexusTaskCompletedRequestSchema, {
    ...head,
    response: responseOf(outcome, asTemporal),
  });
  return {
    method: "respondNexusTaskCompleted",
    request: toBinary(RespondNexusTaskCompletedRequestSchema, request),
  };
}

function responseOf(
  outcome: Exclude<NexusOutcome, { kind: "handlerFailed" }>,
  asTemporal: boolean,
): Start {
  switch (outcome.kind) {
    case "cancelRequested":
      return { variant: { case: "cancelOperation", value: {} } };
    case "sync":
      return started({
        case: "syncSuccess",
        value: { payload: outcome.payload, links: [...outcome.links] },
      });
    case "async": {
      const { token, links } = outcome;
      // Current servers read operationToken; operationId is for older ones.
      return started({
        case: "asyncSuccess",
        value: { operationToken: token, operationId: token, links: [...links] },
      });
    }
    case "operationFailed": {
      const { failure } = outcome;
      if (asTemporal) return started({ case: "failure", value: failure });
      const operationState = failure.failureInfo.case === "canceledFailureInfo"
        ? "canceled"
        : "failed";
      return started({
        case: "operationError",
        value: { operationState, failure: nexusFailure(failure) },
      });
    }
  }
}

type StartVariant = NonNullable<
  Extract<NonNullable<Start["variant"]>, { case: "startOperation" }>["value"]["variant"]
>;

function started(variant: StartVariant): Start {
  return { variant: { case: "startOperation", value: { variant } } };
}

function handlerError(failure: Failure) {
  const info = failure.failureInfo.case === "nexusHandlerFailureInfo"
    ? failure.failureInfo.value
    : undefined;
  return {
    errorType: info?.type || "INTERNAL",
    failure: nexusFailure(failure),
    ...(info !== undefined && { retryBehavior: info.retryBehavior }),
  };
}

/** Wraps Temporal's failure in a Nexus failure: message and stack as fields, the rest as JSON. */
function nexusFailure(failure: Failure): MessageInitShape<typeof NexusFailureSchema> {
  const { message, stackTrace } = failure;
  const details = toJson(FailureSchema, create(FailureSchema, { ...failure, message: "" }));
  return {
    message,
    stackTrace,
    metadata: { type: FailureSchema.typeName },
    details: new TextEncoder().encode(JSON.stringify(details)),
  };
}
