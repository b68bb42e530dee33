// A service whose callers see decoded payloads, while what goes over the wire (and into the store) is encoded. The client stands on it as
// it is; the worker, which must answer for a task that does not decode, uses its parts.
import { fromBinary } from "@bufbuild/protobuf";
import type { MessageCodec } from "./message_codec.ts";
import { CODEC_TIMEOUT_MS } from "./codec.ts";
import { FailureSchema } from "../api/generated/temporal/api/failure/v1/message_pb.ts";
import { WorkflowService } from "../api/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { checkPayloads, type PayloadLimits } from "../service/limits.ts";
import type { Logger } from "../base/logger.ts";
import { type CallOptions, type MethodName, type RawService, ServiceError } from "../service/raw.ts";

export interface CodecServiceOptions {
  /** Sizes of payloads after encoding. Without them the service decides. */
  limits?: PayloadLimits | undefined;
  logger: Logger;
}

/** Answers in which one payload that does not decode must not hide the rest. */
const LENIENT: ReadonlyMap<MethodName, true | "notGiven"> = new Map<MethodName, true | "notGiven">([
  ["describeWorkflowExecution", true],
  ["listWorkflowExecutions", true],
  ["listSchedules", true],
  ["getWorkflowExecutionHistory", "notGiven"],
]);

/** Encodes a request. Rejects with a PayloadCodecError, or with a PayloadTooLargeError when codecs make more of it than a service takes. */
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
        checkPayloads(`${field} (encoded)`, payloads, limits, (message, bytes) => logger.warn(message, { bytes })),
    }),
  });
}

/**
 * Decodes a task, or a page of history, for a run: payloads that no run is given stay as they are, so that one which no longer decodes fails
 * no task. Rejects with a PayloadCodecError.
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
  const options = { lenient: LENIENT.get(method) ?? false, timeoutMs: Math.min(timeoutMs, CODEC_TIMEOUT_MS) };
  return codec.decode(WorkflowService.method[method].output, response, options);
}

/** The service with payloads encoded on their way to it, and decoded on their way back. */
export function withCodec(service: RawService, codec: MessageCodec, settings: CodecServiceOptions): RawService {
  return {
    ...(service.losesCancelledPolls !== undefined && { losesCancelledPolls: service.losesCancelledPolls }),
    checksPayloads: true,
    async call(method: MethodName, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
      const timeoutMs = options?.timeoutMs ?? CODEC_TIMEOUT_MS;
      const encoded = await encodeRequest(codec, method, request, { ...settings, timeoutMs });
      options?.signal?.throwIfAborted();
      let response: Uint8Array;
      try {
        response = await service.call(method, encoded, options);
      } catch (error) {
        throw await withText(codec, error);
      }
      return options?.asStored ? response : await decodeResponse(codec, method, response, timeoutMs);
    },
  };
}

/** A failed query's error brings the failure with it: its text may be encoded. */
async function withText(codec: MessageCodec, error: unknown): Promise<unknown> {
  if (!(error instanceof ServiceError) || error.failure === undefined) return error;
  try {
    const failure = await codec.decode(FailureSchema, error.failure);
    const message = fromBinary(FailureSchema, failure).message || error.message;
    return new ServiceError(error.code, message, error.reason, error.metadata, { cause: error, failure });
  } catch {
    return error;
  }
}
