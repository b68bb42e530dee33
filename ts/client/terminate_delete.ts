// Terminating and deleting a workflow. The service gives these requests no id to know a repeated one by: when the answer to an attempt was
// lost and the next one hears that there is nothing left to do, the history says whether it was this very request that did it.
import { Code, ServiceError } from "../service/raw.ts";
import { HistoryEventFilterType } from "../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { Deadline } from "./calls.ts";
import { type ClientContext, encodeArgs, nameError } from "./context.ts";
import { pageEvents } from "./history.ts";
import type { TerminateInput, WorkflowTarget } from "./operation_inputs.ts";

const isGone = (error: unknown) =>
  error instanceof ServiceError && error.code === Code.NOT_FOUND && error.reason !== "NamespaceNotFound";

export async function terminateWorkflow(context: ClientContext, input: TerminateInput, deadline: Deadline): Promise<void> {
  const { workflowId, runId, reason, details } = input;
  const request = {
    namespace: context.namespace,
    workflowExecution: { workflowId, runId: runId ?? "" },
    firstExecutionRunId: input.firstExecutionRunId ?? "",
    identity: context.identity,
    reason,
    ...(details.length > 0 && { details: encodeArgs(context, "the details of the termination", details) }),
  };
  let repeated = false;
  try {
    await context.calls.call("terminateWorkflowExecution", request, deadline, () => repeated = true);
  } catch (error) {
    if (repeated && isGone(error) && (await wasOurs(context, input, deadline))) return;
    throw nameError(context, error, { what: "the termination", workflowId, runId });
  }
}

/** Did the run end by a termination of this client, with this reason? The identity names a process, so nobody else's is taken for it. */
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
    const page = await context.calls.longPoll("getWorkflowExecutionHistory", request, deadline, { asStored: true });
    const last = page && pageEvents(page).at(-1)?.attributes;
    return last?.case === "workflowExecutionTerminatedEventAttributes" &&
      last.value.identity === context.identity && last.value.reason === reason;
  } catch {
    // Nobody can tell; the caller hears what the service said.
    return false;
  }
}

export async function deleteWorkflow(
  context: ClientContext,
  { workflowId, runId }: WorkflowTarget,
  deadline: Deadline,
): Promise<void> {
  const request = { namespace: context.namespace, workflowExecution: { workflowId, runId: runId ?? "" } };
  let repeated = false;
  try {
    await context.calls.call("deleteWorkflowExecution", request, deadline, () => repeated = true);
  } catch (error) {
    // It was there at the first attempt's time, or that one would have said so.
    if (repeated && isGone(error)) return;
    throw nameError(context, error, { what: "the deletion", workflowId, runId });
  }
}
