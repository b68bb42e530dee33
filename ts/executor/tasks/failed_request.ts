// RespondWorkflowTaskFailedRequests that the core does not make, or with another message.
import {
  Failure,
  RespondWorkflowTaskFailedRequest as Request,
} from "../../messages/generated/fields.ts";
import { Message } from "../../messages/wire.ts";

/**
 * Replaces the message of the failure in a RespondWorkflowTaskFailedRequest without decoding: in
 * protobuf a repeated embedded message is merged, and the later scalar wins.
 */
export function withFailureMessage(request: Uint8Array, message: string): Uint8Array {
  return new Message().raw(request).message(
    Request.failure,
    (failure) => failure.text(Failure.message, message),
  ).finish();
}

/** Returns a RespondWorkflowTaskFailedRequest for a task whose run in the core is lost. */
export function taskFailedRequest(fields: {
  taskToken: Uint8Array;
  cause: number;
  failure: Uint8Array;
  identity: string;
  namespace: string;
}): Uint8Array {
  const { taskToken, cause, failure, identity, namespace } = fields;
  return new Message().bytes(Request.taskToken, taskToken).int(Request.cause, cause).bytes(
    Request.failure,
    failure,
  )
    .text(Request.identity, identity).text(Request.namespace, namespace).finish();
}
