// How a procedure fails on a Temporal server: it refuses to fail an activity that no worker was given, and completes one. So the failure
// goes as a result that says what it is; workflow code gets the same ActivityFailure as from an activity that failed.
import { decodeFailure, encodeFailure } from "./failure_converter.ts";
import type { TemporalFailure } from "./failures.ts";
import type { Payload, PayloadConverter } from "./payload.ts";

const MARK = "temporalex-procedure";

const bytes = (text: string) => new TextEncoder().encode(text);

/** The failure as a result. */
export function failedResult(error: unknown, converter: PayloadConverter): Payload {
  const metadata = {
    encoding: bytes("binary/protobuf"),
    messageType: bytes("temporal.api.failure.v1.Failure"),
    [MARK]: bytes("failed"),
  };
  return { metadata, data: encodeFailure(error, converter) };
}

/** The failure that the result of a procedure stands for; undefined: it is a result. */
export function failureOfResult(payload: Payload, converter: PayloadConverter): TemporalFailure | undefined {
  return payload.metadata[MARK] === undefined ? undefined : decodeFailure(payload.data, converter);
}
