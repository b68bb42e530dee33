// ExecuteMultiOperation. Servers support one combination: a start and an update of the same
// workflow. This file splits the request and builds the response; the state machine does both in
// one step (`check_pair` of core-rs/src/engine/requests/update_workflow.rs).
import {
  ExecuteMultiOperationRequestSchema,
  ExecuteMultiOperationResponseSchema,
  StartWorkflowExecutionRequestSchema,
  StartWorkflowExecutionResponseSchema,
  UpdateWorkflowExecutionRequestSchema,
  UpdateWorkflowExecutionResponseSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { EnginePairResponse as PairResponse } from "../messages/generated/fields.ts";
import { readBytes } from "../messages/wire.ts";
import { randomId } from "../platform/host.ts";
import { type CallOptions, Code, OPERATION_ABORTED, ServiceError } from "../service/raw.ts";
import type { Calls } from "./calls.ts";
import { decodeMessage, encodeMessage, invalid } from "./host_bytes.ts";
import { callCanceled } from "./refusals.ts";

/** The two requests of an update-with-start. */
export interface RequestPair {
  readonly start: Uint8Array;
  readonly update: Uint8Array;
}

/**
 * Returns the two requests, each with the ids that make a retry idempotent. Throws a ServiceError.
 */
export function takePair(bytes: Uint8Array): RequestPair {
  const { namespace, operations } = decodeMessage(ExecuteMultiOperationRequestSchema, bytes);
  const [first, second] = operations.map(({ operation }) => operation);
  if (
    operations.length !== 2 || first?.case !== "startWorkflow" || second?.case !== "updateWorkflow"
  ) {
    throw invalid("Operations have to be exactly [Start, Update].");
  }
  const { value: start } = first;
  const { value: update } = second;
  for (const each of [start, update]) {
    if (each.namespace === "") each.namespace = namespace;
    if (each.namespace !== namespace) {
      throw invalid("the operations are for another namespace than the request");
    }
  }
  if (start.workflowStartDelay !== undefined) {
    throw startInvalid("WorkflowStartDelay is not supported with an update.");
  }
  if (start.requestEagerExecution) {
    throw startInvalid("RequestEagerExecution is not supported with an update.");
  }
  if (start.cronSchedule !== "") {
    throw startInvalid("CronSchedule is not supported with an update.");
  }
  if (start.requestId === "") start.requestId = randomId();
  if (update.request?.meta?.updateId === "") update.request.meta.updateId = randomId();
  return {
    start: encodeMessage(StartWorkflowExecutionRequestSchema, start),
    update: encodeMessage(UpdateWorkflowExecutionRequestSchema, update),
  };
}

/**
 * Calls both operations as one call: registers it, passes the requests to `enter`, and returns the
 * response.
 */
export async function callPair(
  request: Uint8Array,
  options: CallOptions,
  calls: Calls,
  enter: (id: number, pair: RequestPair) => void,
): Promise<Uint8Array> {
  const pair = takePair(request);
  if (options.signal?.aborted) throw callCanceled();
  const answer = new Promise<Uint8Array>((resolve, reject) => {
    const failed = (error: ServiceError) => reject(pairError(error));
    enter(calls.add("executeMultiOperation", request, options, resolve, failed), pair);
  });
  return pairResponse(await answer);
}

/** The first operation is invalid, which aborts the second. */
function startInvalid(message: string): ServiceError {
  return pairError(
    new ServiceError(Code.INVALID_ARGUMENT, message, "InvalidArgument", { operation: "0" }),
  );
}

/** Converts the state machine's PairResponse to the response of ExecuteMultiOperation. */
export function pairResponse(bytes: Uint8Array): Uint8Array {
  const start = readBytes(bytes, PairResponse.start) ?? new Uint8Array(0);
  const update = readBytes(bytes, PairResponse.update) ?? new Uint8Array(0);
  return encodeMessage(ExecuteMultiOperationResponseSchema, {
    responses: [
      {
        response: {
          case: "startWorkflow",
          value: decodeMessage(StartWorkflowExecutionResponseSchema, start),
        },
      },
      {
        response: {
          case: "updateWorkflow",
          value: decodeMessage(UpdateWorkflowExecutionResponseSchema, update),
        },
      },
    ],
  });
}

/**
 * Converts the error of one operation as servers do: the other one was aborted. Errors of the whole
 * call are unchanged.
 */
export function pairError(error: ServiceError): ServiceError {
  const { operation, ...metadata } = error.metadata;
  if (operation === undefined) return error;
  const cause = new ServiceError(error.code, error.message, error.reason, metadata, {
    failure: error.failure,
  });
  const aborted = new ServiceError(Code.ABORTED, "Operation was aborted.", OPERATION_ABORTED);
  return new ServiceError(
    error.code,
    `Update-with-Start could not be executed: ${error.message}`,
    "MultiOperationExecution",
    {},
    { operations: operation === "0" ? [cause, aborted] : [aborted, cause] },
  );
}
