// Checks the workflow of a schedule as the state machine checks it when it starts.
import {
  type StartWorkflowExecutionRequest,
  StartWorkflowExecutionRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import { encodeMessage } from "../host_bytes.ts";
import { type MessageHost, MessageTrial, TransactionMessages } from "../transaction_messages.ts";

/** Throws a ServiceError if the workflow could never be started. */
export function checkStart(host: MessageHost, request: StartWorkflowExecutionRequest): void {
  const trial = new MessageTrial(host);
  const messages = new TransactionMessages(host, trial);
  const bytes = encodeMessage(StartWorkflowExecutionRequestSchema, request);
  try {
    messages.during(() => messages.call("startWorkflowExecution", bytes));
  } catch (error) {
    // Whether the id is in use, and limits, count when an action is taken.
    const passes = error instanceof ServiceError &&
      (error.code === Code.ALREADY_EXISTS || error.code === Code.RESOURCE_EXHAUSTED);
    if (!passes) throw error;
  } finally {
    messages.withdraw();
    trial.end();
  }
}
