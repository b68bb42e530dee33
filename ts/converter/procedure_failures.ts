// Failures of procedures on a Temporal server. A server lets a client complete an activity that no
// worker has, but not fail it. So the failure is sent as a marked result; workflow code receives
// the usual ActivityFailure.
import { decodeFailure, encodeFailure } from "./failure_converter.ts";
import type { TemporalFailure } from "./failures.ts";
import type { Payload, PayloadConverter } from "./payload.ts";

const MARK = "temporalex-procedure";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Encodes a failure as a result. */
export function failedResult(error: unknown, converter: PayloadConverter): Payload {
  const metadata = {
    encoding: bytes("binary/protobuf"),
    messageType: bytes("temporal.api.failure.v1.Failure"),
    [MARK]: bytes("failed"),
  };
  return { metadata, data: encodeFailure(error, converter) };
}

/** Returns the failure that a procedure's result represents; undefined for an ordinary result. */
export function failureOfResult(
  payload: Payload,
  converter: PayloadConverter,
): TemporalFailure | undefined {
  return payload.metadata[MARK] === undefined ? undefined : decodeFailure(payload.data, converter);
}
