// What the parts of a client share: where it calls, as whom, and how values and refusals are turned.
import { unregistered } from "./belonging.ts";
import type { Duration } from "../converter/duration.ts";
import { fromFailure } from "../converter/failure_converter.ts";
import type { TemporalFailure } from "../converter/failures.ts";
import { namingWhat } from "../converter/lossy_value.ts";
import { fromPayloads, type Payload, type PayloadConverter, toPayloads } from "../converter/payload.ts";
import type { MessageCodec } from "../codec/message_codec.ts";
import type { Logger } from "../base/logger.ts";
import { checkPayloads, type PayloadLimits } from "../service/limits.ts";
import { Code, ServiceError } from "../service/raw.ts";
import type { Failure } from "../api/generated/temporal/api/failure/v1/message_pb.ts";
import { type Calls, type CallSettings, Deadline } from "./calls.ts";
import {
  ActivityNotFoundError,
  DeadlineExceededError,
  NamespaceNotFoundError,
  WorkflowNotFoundError,
  WorkflowUpdateLimitError,
} from "./errors.ts";

/**
 * Values beside the arguments, by name, for interceptors of the worker: a trace context, a tenant. A client's codec encodes them like any
 * other payload. They are the caller's own object: add, change and remove entries as needed.
 */
export type PayloadHeaders = { [name: string]: Payload };

export interface ClientContext {
  readonly calls: Calls;
  readonly namespace: string;
  readonly identity: string;
  readonly converter: PayloadConverter;
  readonly codec: MessageCodec | undefined;
  /** Undefined where a codec changes sizes afterwards; they are checked behind it. */
  readonly limits: PayloadLimits | undefined;
  readonly logger: Logger;
  readonly defaultTaskQueue: string | undefined;
  readonly defaultTimeout: Duration | undefined;
  /** Failures as other classes than this package's own. */
  readonly failures?: FailureConversion | undefined;
}

/** How errors become failures and failures errors. */
export interface FailureConversion {
  /** The error of a failure. */
  toError(failure: Failure): Error;
  /** The failure of what was thrown. */
  toFailure(thrown: unknown): Failure;
}

/** The error of a failure, as the client is to have it. */
export function errorOfFailure(context: ClientContext, failure: Failure): TemporalFailure {
  const { failures, converter } = context;
  return failures === undefined ? decodeFailureOf(failure, converter) : failures.toError(failure) as TemporalFailure;
}

/** The header field of a request, left out where there is nothing in it. */
export function headerField(headers: PayloadHeaders): { header?: { fields: PayloadHeaders } } {
  return Object.keys(headers).length === 0 ? {} : { header: { fields: headers } };
}

/** The payloads of a call's arguments; throws a PayloadTooLargeError before anything is sent. */
export function encodeArgs(context: ClientContext, what: string, values: readonly unknown[]): { payloads: Payload[] } {
  // Callers without types: a text has no map, and a list has each of its letters.
  if (!Array.isArray(values)) throw new TypeError(`${what} must be an array, not ${JSON.stringify(values)}: write [...]`);
  const payloads = namingWhat(what, () => toPayloads(context.converter, values));
  const { limits, logger } = context;
  if (limits !== undefined) checkPayloads(what, payloads, limits, (message, bytes) => logger.warn(message, { bytes }));
  return { payloads };
}

/** The one value that results, answers and outcomes hold; undefined for none. */
export function decodeOne(context: ClientContext, payloads: { payloads: Payload[] } | undefined): unknown {
  return fromPayloads(context.converter, payloads?.payloads)[0];
}

/**
 * The error of a failure. Details that do not decode (another converter's, or a codec is missing) are shown as their payloads: they must
 * not hide that, and why, something failed.
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

/** A value of another converter or an encrypted one is shown as its payload. */
export function readableValue(payload: Payload, converter: PayloadConverter): unknown {
  try {
    return converter.fromPayload(payload);
  } catch {
    return payload;
  }
}

/** The deadline of a call: its own timeout, the client's, or the default of its kind. */
export function deadlineOf(context: ClientContext, settings: CallSettings, defaultMs: number): Deadline {
  return new Deadline({ signal: settings.signal, timeout: settings.timeout ?? context.defaultTimeout }, defaultMs);
}

export interface Target {
  what: string;
  workflowId?: string;
  runId?: string | undefined;
  updateId?: string;
  activity?: boolean;
}

/** The cause CONCURRENT_LIMIT of a server's RESOURCE_EXHAUSTED. */
const CONCURRENT_LIMIT = "2";

/** Whether an update was refused because there are too many. A server says that of all of a run's updates in words alone. */
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

/** A store that cannot write says so, and a service that was away was so for a reason. */
function causeOfDelay({ message, reason, cause }: ServiceError): string | undefined {
  if (reason === "StoreFull" || reason === "NotRecorded") return message;
  return cause instanceof ServiceError ? cause.message : undefined;
}

/** The named error for what the service said about a call; anything without a name of its own is returned as it is. */
export function nameError(context: ClientContext, error: unknown, target: Target): unknown {
  if (!(error instanceof ServiceError)) return error;
  const options = { cause: error };
  switch (error.code) {
    case Code.DEADLINE_EXCEEDED:
      return new DeadlineExceededError(target.what, target.updateId, options, causeOfDelay(error));
    case Code.NOT_FOUND:
      if (error.reason.startsWith("NamespaceNotFound")) return new NamespaceNotFoundError(context.namespace, options);
      if (target.workflowId !== undefined) {
        return new WorkflowNotFoundError(error.message, target.workflowId, target.runId, options);
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
