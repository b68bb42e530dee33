// Requests and responses of the methods that the host serves itself.
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { readTextField } from "../messages/wire.ts";
import { Code, ServiceError } from "../service/raw.ts";

export function invalid(message: string): ServiceError {
  return new ServiceError(Code.INVALID_ARGUMENT, message, "InvalidArgument");
}

/** The error for a page token that the engine did not return for the same request. */
export function invalidPageToken(): ServiceError {
  return invalid(
    "invalid nextPageToken: pass the token of the previous response, with the same request",
  );
}

export function decodeMessage<D extends DescMessage>(
  schema: D,
  bytes: Uint8Array,
): MessageShape<D> {
  try {
    return fromBinary(schema, bytes);
  } catch (e) {
    throw invalid(`invalid ${schema.name}: ${(e as Error).message}`);
  }
}

export function encodeMessage<D extends DescMessage>(
  schema: D,
  message: MessageInitShape<D>,
): Uint8Array {
  return toBinary(schema, create(schema, message));
}

/**
 * A text field of a request; the last occurrence counts, as in protobuf. "" if absent. Throws for
 * bytes that do not decode.
 */
export function textField(bytes: Uint8Array, tag: number): string {
  try {
    return readTextField(bytes, tag);
  } catch (e) {
    throw invalid(`invalid request: ${(e as Error).message}`);
  }
}
