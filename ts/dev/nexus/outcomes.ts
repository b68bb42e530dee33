// What a call to a handler came to, as a Temporal server records it: conversions of a handler's
// response to an outcome of the operation.
import { create, fromJson } from "@bufbuild/protobuf";
import type { Payload } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { PayloadsSchema } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { NexusHandlerErrorRetryBehavior as Retry } from "../../messages/generated/temporal/api/enums/v1/nexus_pb.ts";
import {
  type Failure,
  FailureSchema,
} from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type {
  Failure as NexusFailure,
  HandlerError,
  Link as NexusLink,
  Response,
  StartOperationResponse,
} from "../../messages/generated/temporal/api/nexus/v1/message_pb.ts";
import type { HandlerResponse } from "./tasks.ts";

/** Kinds of outcomes, by the numbers of core-rs/src/engine/messages/nexus.rs. */
export const CALL_OUTCOMES = {
  started: 1,
  completed: 2,
  failed: 3,
  canceled: 4,
  retry: 5,
  delivered: 6,
  rejected: 7,
} as const;

export interface CallOutcome {
  readonly what: (typeof CALL_OUTCOMES)[keyof typeof CALL_OUTCOMES];
  readonly result?: Payload | undefined;
  readonly failure?: Failure | undefined;
  readonly operationToken?: string;
  readonly links?: readonly NexusLink[];
}

/** Types of handler errors that are final unless the handler says otherwise. */
const FINAL = new Set([
  "BAD_REQUEST",
  "UNAUTHENTICATED",
  "UNAUTHORIZED",
  "NOT_FOUND",
  "NOT_IMPLEMENTED",
]);
const TYPES = new Set([
  ...FINAL,
  "RESOURCE_EXHAUSTED",
  "INTERNAL",
  "UNAVAILABLE",
  "UPSTREAM_TIMEOUT",
]);
const TEMPORAL_FAILURE = "temporal.api.failure.v1.Failure";
const utf8 = new TextEncoder();

/** The outcome of a call that starts an operation (`final` is `failed`) or that cancels one. */
export function outcomeOfCall(
  handled: HandlerResponse,
  final: typeof CALL_OUTCOMES.failed | typeof CALL_OUTCOMES.rejected,
): CallOutcome {
  switch (handled.kind) {
    case "timeout":
      return handlerFailure("UPSTREAM_TIMEOUT", "upstream timeout", final);
    case "error":
      return ofHandlerError(handled.error, final);
    case "failure":
      return ofTemporalFailure(handled.failure, final);
    case "response":
      if (final === CALL_OUTCOMES.rejected) {
        return handled.response === undefined ? empty(final) : { what: CALL_OUTCOMES.delivered };
      }
      return ofStart(handled.response) ?? empty(final);
  }
}

const empty = (final: Final): CallOutcome => handlerFailure("INTERNAL", "empty outcome", final);

type Final = typeof CALL_OUTCOMES.failed | typeof CALL_OUTCOMES.rejected;

/** The outcome of a handler error that this server creates; `isOwn`: before it calls the handler. */
export function handlerFailure(
  type: string,
  message: string,
  final: Final,
  isOwn = false,
): CallOutcome {
  const isFinal = FINAL.has(type);
  const cause = create(FailureSchema, {
    message,
    failureInfo: {
      case: "applicationFailureInfo",
      value: isOwn
        ? {}
        : { type: "NexusFailure", nonRetryable: isFinal && final !== CALL_OUTCOMES.failed },
    },
  });
  return {
    what: isFinal ? final : CALL_OUTCOMES.retry,
    failure: wrapped(type, message, cause, Retry.UNSPECIFIED),
  };
}

function ofStart(response: Response | undefined): CallOutcome | undefined {
  if (response?.variant.case !== "startOperation") return undefined;
  const { variant } = response.variant.value satisfies StartOperationResponse;
  switch (variant.case) {
    case "syncSuccess":
      return {
        what: CALL_OUTCOMES.completed,
        result: variant.value.payload,
        links: variant.value.links,
      };
    case "asyncSuccess":
      return {
        what: CALL_OUTCOMES.started,
        operationToken: variant.value.operationToken || variant.value.operationId,
        links: variant.value.links,
      };
    case "operationError": {
      const isCanceled = variant.value.operationState === "canceled";
      const failure = isCanceled
        ? canceledFailure(variant.value.failure)
        : toFailure(variant.value.failure, false);
      return { what: isCanceled ? CALL_OUTCOMES.canceled : CALL_OUTCOMES.failed, failure };
    }
    case "failure": {
      const isCanceled = variant.value.failureInfo.case === "canceledFailureInfo";
      return {
        what: isCanceled ? CALL_OUTCOMES.canceled : CALL_OUTCOMES.failed,
        failure: variant.value,
      };
    }
    default:
      return undefined;
  }
}

function ofHandlerError(error: HandlerError | undefined, final: Final): CallOutcome {
  const type = error?.errorType ?? "";
  if (error === undefined || !TYPES.has(type)) {
    return handlerFailure("INTERNAL", "internal error", final);
  }
  const isFinal = isFinalError(type, error.retryBehavior);
  return {
    what: isFinal ? final : CALL_OUTCOMES.retry,
    failure: wrapped(
      type,
      error.failure?.message ?? "",
      // A server marks the cause of a failed start as retryable.
      toFailure(error.failure, final === CALL_OUTCOMES.failed || !isFinal),
      error.retryBehavior,
    ),
  };
}

/** Newer workers report a NexusHandlerFailureInfo. */
function ofTemporalFailure(failure: Failure, final: Final): CallOutcome {
  if (failure.failureInfo.case !== "nexusHandlerFailureInfo") {
    return handlerFailure("INTERNAL", "internal error", final);
  }
  const { type, retryBehavior } = failure.failureInfo.value;
  return { what: isFinalError(type, retryBehavior) ? final : CALL_OUTCOMES.retry, failure };
}

const isFinalError = (type: string, behavior: Retry): boolean =>
  behavior === Retry.UNSPECIFIED ? FINAL.has(type) : behavior === Retry.NON_RETRYABLE;

function wrapped(type: string, message: string, cause: Failure, retryBehavior: Retry): Failure {
  return create(FailureSchema, {
    message: `handler error (${type}): ${message}`,
    cause,
    failureInfo: { case: "nexusHandlerFailureInfo", value: { type, retryBehavior } },
  });
}

/** A failure of the Nexus protocol as a failure of Temporal. */
function toFailure(failure: NexusFailure | undefined, retryable: boolean): Failure {
  const message = failure?.message ?? "";
  if (failure?.metadata["type"] === TEMPORAL_FAILURE) {
    try {
      const json = JSON.parse(new TextDecoder().decode(failure.details));
      return { ...fromJson(FailureSchema, json, { ignoreUnknownFields: true }), message };
    } catch {
      // Details of another version of the API are carried as they are.
    }
  }
  const details = detailsOf(failure);
  return create(FailureSchema, {
    message,
    failureInfo: {
      case: "applicationFailureInfo",
      value: {
        type: "NexusFailure",
        nonRetryable: !retryable,
        ...(details !== undefined && { details }),
      },
    },
  });
}

/** Callers of a canceled operation expect a cancellation. */
function canceledFailure(failure: NexusFailure | undefined): Failure {
  if (failure?.metadata["type"] === TEMPORAL_FAILURE) {
    const own = toFailure(failure, false);
    if (own.failureInfo.case === "canceledFailureInfo") return own;
  }
  const details = detailsOf(failure);
  return create(FailureSchema, {
    message: failure?.message ?? "",
    failureInfo: {
      case: "canceledFailureInfo",
      value: { ...(details !== undefined && { details }) },
    },
  });
}

/** Metadata and details as one JSON payload. */
function detailsOf(failure: NexusFailure | undefined) {
  const metadata = failure?.metadata ?? {};
  if (Object.keys(metadata).length === 0 && (failure?.details.length ?? 0) === 0) return undefined;
  const data = JSON.stringify({
    message: "",
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(failure!.details.length > 0 &&
      { details: JSON.parse(new TextDecoder().decode(failure!.details)) }),
  });
  return create(PayloadsSchema, {
    payloads: [{ metadata: { encoding: utf8.encode("json/plain") }, data: utf8.encode(data) }],
  });
}
