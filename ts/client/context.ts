// Shared by the parts of a client: service, identity, and conversion of values and errors.
import { unregistered } from "./belonging.ts";
import type { Duration } from "../converter/duration.ts";
import { fromFailure } from "../converter/failure_converter.ts";
import type { TemporalFailure } from "../converter/failures.ts";
import { namingWhat } from "../converter/lossy_value.ts";
import {
  fromPayloads,
  type Payload,
  type PayloadConverter,
  toPayloads,
} from "../converter/payload.ts";
import type { MessageCodec } from "../codec/message_codec.ts";
import type { Logger } from "../base/logger.ts";
import { checkPayloads, type PayloadLimits } from "../service/limits.ts";
import { Code, ServiceError } from "../service/raw.ts";
import type { Failure } from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { type Calls, type CallSettings, Deadline } from "./calls.ts";
import {
  ActivityNotFoundError,
  DeadlineExceededError,
  NamespaceNotFoundError,
  WorkflowNotFoundError,
  WorkflowUpdateLimitError,
} from "./errors.ts";

/**
 * Values in addition to the arguments, by name, for interceptors of the worker: a trace context, a
 * tenant. A client's codec encodes them like other payloads. The object belongs to the caller: add,
 * change and remove entries as needed.
 */
export type PayloadHeaders = { [name: string]: Payload };

export interface ClientContext {
  readonly calls: Calls;
  readonly namespace: string;
  readonly identity: string;
  readonly converter: PayloadConverter;
  readonly codec: MessageCodec | undefined;
  /** Undefined with a codec, which changes sizes; they are checked after it. */
  readonly limits: PayloadLimits | undefined;
  readonly logger: Logger;
  readonly defaultTaskQueue: string | undefined;
  readonly defaultTimeout: Duration | undefined;
  /** Converts failures to other classes than this package's. */
  readonly failures?: FailureConversion | undefined;
}

/** Conversion between errors and failures. */
export interface FailureConversion {
  toError(failure: Failure): Error;
  /** Returns the failure of a thrown value. */
  toFailure(thrown: unknown): Failure;
}

/** Returns the error of a failure in the client's classes. */
export function errorOfFailure(context: ClientContext, failure: Failure): TemporalFailure {
  const { failures, converter } = context;
  return failures === undefined
    ? decodeFailureOf(failure, converter)
    : failures.toError(failure) as TemporalFailure;
}

/** Returns the header field of a request; left out if empty. */
export function headerField(headers: PayloadHeaders): { header?: { fields: PayloadHeaders } } {
  return Object.keys(headers).length === 0 ? {} : { header: { fields: headers } };
}

/** Encodes the arguments of a call. Throws a PayloadTooLargeError before a request is sent. */
export function encodeArgs(
  context: ClientContext,
  what: string,
  values: readonly unknown[],
): { payloads: Payload[] } {
  // For callers without types: a string has no `map`, and a spread would use its letters.
  if (!Array.isArray(values)) {
    throw new TypeError(`${what} must be an array, not ${JSON.stringify(values)}: write [...]`);
  }
  const payloads = namingWhat(what, () => toPayloads(context.converter, values));
  const { limits, logger } = context;
  if (limits !== undefined) {
    checkPayloads(what, payloads, limits, (message, bytes) => logger.warn(message, { bytes }));
  }
  return { payloads };
}

/** Decodes the single value of results and outcomes; undefined without one. */
export function decodeOne(
  context: ClientContext,
  payloads: { payloads: Payload[] } | undefined,
): unknown {
  return fromPayloads(context.converter, payloads?.payloads)[0];
}

/**
 * Returns the error of a failure. Details that do not decode (another converter, or a missing
 * codec) are shown as payloads: they must not hide the failure and its cause.
 */
export function decodeFailureOf(failure: Failure, converter: PayloadConverter): TemporalFailure {
  try {
    return fromFailure(failure, converter);
  } catch {
    return fromFailure(failure, {
      toPayload: (value) => converter.toPayload(value),
      fromPayload: (payload) => readableValue(payload, converter),
    });
  }
}

/** Decodes a value; returns its payload if another converter or codec encoded it. */
export function readableValue(payload: Payload, converter: PayloadConverter): unknown {
  try {
    return converter.fromPayload(payload);
  } catch {
    return payload;
  }
}

/** Returns the deadline of a call: its own timeout, the client's, or the default of its kind. */
export function deadlineOf(
  context: ClientContext,
  settings: CallSettings,
  defaultMs: number,
): Deadline {
  return new Deadline({
    signal: settings.signal,
    timeout: settings.timeout ?? context.defaultTimeout,
  }, defaultMs);
}

export interface Target {
  what: string;
  workflowId?: string;
  runId?: string | undefined;
  updateId?: string;
  /** Of a standalone activity. */
  activityId?: string;
}

/** Cause CONCURRENT_LIMIT of a server's RESOURCE_EXHAUSTED. */
const CONCURRENT_LIMIT = "2";

/**
 * Returns which limit of updates was exceeded. A server reports the limit of a run's total in the
 * message only.
 */
function updateLimit(error: ServiceError): "inFlight" | "total" | undefined {
  if (
    error.code === Code.RESOURCE_EXHAUSTED &&
    error.metadata["cause"] === CONCURRENT_LIMIT
  ) return "inFlight";
  return error.code === Code.FAILED_PRECONDITION &&
      /total number of distinct updates/.test(error.message)
    ? "total"
    : undefined;
}

/** Returns why the service was unavailable, such as a store that cannot write. */
function causeOfDelay({ message, reason, cause }: ServiceError): string | undefined {
  if (reason === "StoreFull" || reason === "NotRecorded") return message;
  return cause instanceof ServiceError ? cause.message : undefined;
}

/** Returns the named error for a service error of a call; other errors are returned unchanged. */
export function nameError(context: ClientContext, error: unknown, target: Target): unknown {
  if (!(error instanceof ServiceError)) return error;
  const options = { cause: error };
  switch (error.code) {
    case Code.DEADLINE_EXCEEDED:
      return new DeadlineExceededError(target.what, target.updateId, options, causeOfDelay(error));
    case Code.NOT_FOUND:
      if (error.reason.startsWith("NamespaceNotFound")) {
        return new NamespaceNotFoundError(context.namespace, options);
      }
      if (target.workflowId !== undefined) {
        return new WorkflowNotFoundError(error.message, target.workflowId, target.runId, options);
      }
      if (target.activityId !== undefined) {
        const advice =
          "check the id and the namespace; a closed activity cannot be changed, and is " +
          "removed after the retention time";
        return new ActivityNotFoundError(error.message, options, advice);
      }
      return new ActivityNotFoundError(error.message, options);
    default: {
      const unknown = unregistered(error, context.namespace);
      if (unknown !== undefined) return unknown;
      const limit = updateLimit(error);
      if (limit === undefined || target.updateId === undefined) return error;
      return new WorkflowUpdateLimitError(
        target.what,
        target.workflowId ?? "",
        target.updateId,
        limit,
        options,
      );
    }
  }
}
