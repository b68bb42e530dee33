// Terminates and deletes workflows. These requests have no id for deduplication: if the response to
// an attempt was lost and the retry reports a closed workflow, the history shows whether this
// request did it.
import { Code, ServiceError } from "../service/raw.ts";
import { HistoryEventFilterType } from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { Deadline } from "./calls.ts";
import { type ClientContext, encodeArgs, nameError } from "./context.ts";
import { pageEvents } from "./history.ts";
import type { TerminateInput, WorkflowTarget } from "./operation_inputs.ts";

const isGone = (error: unknown) =>
  error instanceof ServiceError && error.code === Code.NOT_FOUND &&
  error.reason !== "NamespaceNotFound";

export async function terminateWorkflow(
  context: ClientContext,
  input: TerminateInput,
  deadline: Deadline,
): Promise<void> {
  const { workflowId, runId, reason, details } = input;
  const request = {
    namespace: context.namespace,
    workflowExecution: { workflowId, runId: runId ?? "" },
    firstExecutionRunId: input.firstExecutionRunId ?? "",
    identity: context.identity,
    reason,
    ...(details.length > 0 &&
      { details: encodeArgs(context, "the details of the termination", details) }),
  };
  let repeated = false;
  try {
    await context.calls.call(
      "terminateWorkflowExecution",
      request,
      deadline,
      () => repeated = true,
    );
  } catch (error) {
    if (repeated && isGone(error) && (await wasOurs(context, input, deadline))) return;
    throw nameError(context, error, { what: "the termination", workflowId, runId });
  }
}

/**
 * Returns whether this client terminated the run with this reason. The identity names a process, so
 * it is unique.
 */
async function wasOurs(
  context: ClientContext,
  { workflowId, runId, reason }: TerminateInput,
  deadline: Deadline,
): Promise<boolean> {
  const request = {
    namespace: context.namespace,
    execution: { workflowId, runId: runId ?? "" },
    historyEventFilterType: HistoryEventFilterType.CLOSE_EVENT,
  };
  try {
    const page = await context.calls.longPoll("getWorkflowExecutionHistory", request, deadline, {
      asStored: true,
    });
    const last = page && pageEvents(page).at(-1)?.attributes;
    return last?.case === "workflowExecutionTerminatedEventAttributes" &&
      last.value.identity === context.identity && last.value.reason === reason;
  } catch {
    // Unknown; the caller receives the service's error.
    return false;
  }
}

export async function deleteWorkflow(
  context: ClientContext,
  { workflowId, runId }: WorkflowTarget,
  deadline: Deadline,
): Promise<void> {
  const request = {
    namespace: context.namespace,
    workflowExecution: { workflowId, runId: runId ?? "" },
  };
  let repeated = false;
  try {
    await context.calls.call("deleteWorkflowExecution", request, deadline, () => repeated = true);
  } catch (error) {
    // It existed at the first attempt, which otherwise would have failed.
    if (repeated && isGone(error)) return;
    throw nameError(context, error, { what: "the deletion", workflowId, runId });
  }
}
