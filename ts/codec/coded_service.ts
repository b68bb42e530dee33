// A service with decoded payloads for callers and encoded payloads on the wire and in the store.
// Clients use it directly; the worker uses its parts, because it must report tasks that do not
// decode.
import { fromBinary } from "@bufbuild/protobuf";
import type { MessageCodec } from "./message_codec.ts";
import { CODEC_TIMEOUT_MS } from "./codec.ts";
import { FailureSchema } from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { WorkflowService } from "../messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { checkPayloads, type PayloadLimits } from "../service/limits.ts";
import type { Logger } from "../base/logger.ts";
import {
  type CallOptions,
  type MethodName,
  type RawService,
  ServiceError,
} from "../service/raw.ts";

export interface CodecServiceOptions {
  /** Maximum payload sizes after encoding. Default: the service checks them. */
  limits?: PayloadLimits | undefined;
  logger: Logger;
}

/** Responses in which one payload that does not decode must not hide the rest. */
const LENIENT: ReadonlyMap<MethodName, true | "notGiven"> = new Map<MethodName, true | "notGiven">([
  ["describeWorkflowExecution", true],
  ["listWorkflowExecutions", true],
  ["listSchedules", true],
  ["getWorkflowExecutionHistory", "notGiven"],
]);

/**
 * Encodes a request. Rejects with a PayloadCodecError, or with a PayloadTooLargeError if the
 * encoded payloads exceed the limit.
 */
export function encodeRequest(
  codec: MessageCodec,
  method: MethodName,
  request: Uint8Array,
  { limits, logger, timeoutMs = CODEC_TIMEOUT_MS }: CodecServiceOptions & { timeoutMs?: number },
): Promise<Uint8Array> {
  return codec.encode(WorkflowService.method[method].input, request, {
    timeoutMs: Math.min(timeoutMs, CODEC_TIMEOUT_MS),
    ...(limits !== undefined && {
      check: (field, payloads) =>
        checkPayloads(
          `${field} (encoded)`,
          payloads,
          limits,
          (message, bytes) => logger.warn(message, { bytes }),
        ),
    }),
  });
}

/**
 * Decodes a task, or a page of history, for a run. Payloads that a run never receives stay encoded,
 * so that one that no longer decodes fails no task. Rejects with a PayloadCodecError.
 */
export function decodeForRun(
  codec: MessageCodec,
  method: "pollWorkflowTaskQueue" | "getWorkflowExecutionHistory",
  response: Uint8Array,
): Promise<Uint8Array> {
  return codec.decode(WorkflowService.method[method].output, response, { givenOnly: true });
}

/** Decodes a response. Rejects with a PayloadCodecError. */
export function decodeResponse(
  codec: MessageCodec,
  method: MethodName,
  response: Uint8Array,
  timeoutMs = CODEC_TIMEOUT_MS,
): Promise<Uint8Array> {
  const options = {
    lenient: LENIENT.get(method) ?? false,
    timeoutMs: Math.min(timeoutMs, CODEC_TIMEOUT_MS),
  };
  return codec.decode(WorkflowService.method[method].output, response, options);
}

/** Returns the service with encoding of requests and decoding of responses. */
export function withCodec(
  service: RawService,
  codec: MessageCodec,
  settings: CodecServiceOptions,
): RawService {
  return {
    ...(service.losesCancelledPolls !== undefined &&
      { losesCancelledPolls: service.losesCancelledPolls }),
    checksPayloads: true,
    async call(
      method: MethodName,
      request: Uint8Array,
      options?: CallOptions,
    ): Promise<Uint8Array> {
      const timeoutMs = options?.timeoutMs ?? CODEC_TIMEOUT_MS;
      const encoded = await encodeRequest(codec, method, request, { ...settings, timeoutMs });
      options?.signal?.throwIfAborted();
      let response: Uint8Array;
      try {
        response = await service.call(method, encoded, options);
      } catch (error) {
        throw await withText(codec, error);
      }
      return options?.asStored
        ? response
        : await decodeResponse(codec, method, response, timeoutMs);
    },
  };
}

/** Replaces the text of a failed query's error by that of its failure, which may be encoded. */
async function withText(codec: MessageCodec, error: unknown): Promise<unknown> {
  if (!(error instanceof ServiceError) || error.failure === undefined) return error;
  try {
    const failure = await codec.decode(FailureSchema, error.failure);
    const message = fromBinary(FailureSchema, failure).message || error.message;
    return new ServiceError(error.code, message, error.reason, error.metadata, {
      cause: error,
      failure,
    });
  } catch {
    return error;
  }
}
