// A RespondWorkflowTaskFailedRequest where the core gives none, or another message than is wanted.
import { Failure, RespondWorkflowTaskFailedRequest as Request } from "../../api/generated/fields.ts";
import { Message } from "../../api/wire.ts";

/**
 * A RespondWorkflowTaskFailedRequest whose failure has another message: an embedded message that occurs twice is merged, and the later
 * scalar wins, so nothing is decoded.
 */
export function withFailureMessage(request: Uint8Array, message: string): Uint8Array {
  return new Message().raw(request).message(Request.failure, (failure) => failure.text(Failure.message, message)).finish();
}

/** A RespondWorkflowTaskFailedRequest made here, for a task whose run in the core is lost. */
export function taskFailedRequest(fields: {
  taskToken: Uint8Array;
  cause: number;
  failure: Uint8Array;
  identity: string;
  namespace: string;
}): Uint8Array {
  const { taskToken, cause, failure, identity, namespace } = fields;
  return new Message().bytes(Request.taskToken, taskToken).int(Request.cause, cause).bytes(Request.failure, failure)
    .text(Request.identity, identity).text(Request.namespace, namespace).finish();
}
