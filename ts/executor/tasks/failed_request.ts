// A RespondWorkflowTaskFailedRequest where the core gives none, or another message than is wanted.
import { BinaryWriter } from "@bufbuild/protobuf/wire";

/**
 * A RespondWorkflowTaskFailedRequest whose failure has another message: an embedded message that occurs twice is merged, and the later
 * scalar wins, so nothing is decoded.
 */
export function withFailureMessage(request: Uint8Array, message: string): Uint8Array {
  return new BinaryWriter().raw(request).uint32(26).fork().uint32(10).string(message).join().finish();
}

/** A RespondWorkflowTaskFailedRequest made here, for a task whose run in the core is lost. */
export function taskFailedRequest(fields: {
  taskToken: Uint8Array;
  cause: number;
  failure: Uint8Array;
  identity: string;
  namespace: string;
}): Uint8Array {
  const writer = new BinaryWriter();
  writer.uint32(10).bytes(fields.taskToken);
  writer.uint32(16).int32(fields.cause);
  writer.uint32(26).bytes(fields.failure);
  writer.uint32(34).string(fields.identity);
  writer.uint32(50).string(fields.namespace);
  return writer.finish();
}
