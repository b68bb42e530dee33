// What logs, spans and other plain outputs may show of an error. With `encodeCommonAttributes`, and
// for text that arrived encoded, they show the type of the error without message and stack.
import { fromBinary } from "@bufbuild/protobuf";
import { FailureSchema } from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { hasHiddenText, throwsHiddenText } from "../converter/failure_converter.ts";
import { ApplicationFailure } from "../converter/failures.ts";
import { findCause, isA, nameOf, read, readable } from "../converter/thrown.ts";
import { ServiceError } from "../service/raw.ts";
import { PayloadCodecError } from "./codec.ts";

/** The codec, as far as the text of errors is concerned. */
export interface HidesText {
  /** Messages and stack traces of errors are encoded too. */
  readonly hidesText: boolean;
}

/** Returns whether plain outputs must leave out the message and the stack of an error. */
export function hidesTextOf(error: unknown, codec: HidesText | undefined): boolean {
  return codec?.hidesText === true || throwsHiddenText(error) ||
    findCause(error, hasDecodedText) !== undefined;
}

/**
 * Returns an error for a plain output: the error itself, or the name of its type if its text is
 * hidden.
 */
export function loggable(error: unknown, codec: HidesText | undefined): unknown {
  if (!hidesTextOf(error, codec)) return readable(error);
  if (isA(error, ServiceError)) {
    // Messages of the service itself contain nothing of a payload; those of a failure do.
    return findCause(error, carriesFailure) === undefined
      ? readable(error)
      : `${nameOf(error)} (code ${error.code})`;
  }
  if (isA(error, PayloadCodecError)) return error.summary;
  const type = isA(error, ApplicationFailure) ? read(error, "type") : undefined;
  if (typeof type === "string") return type;
  return isA(error, Error) ? nameOf(error) : typeof error;
}

const carriesFailure = (part: unknown): boolean =>
  isA(part, ServiceError) && part.failure !== undefined;

/** Returns whether the text is that of a failed query's failure, after decoding. */
function hasDecodedText(part: unknown): boolean {
  if (!isA(part, ServiceError) || part.failure === undefined) return false;
  try {
    return hasHiddenText(fromBinary(FailureSchema, part.failure));
  } catch {
    return true;
  }
}
