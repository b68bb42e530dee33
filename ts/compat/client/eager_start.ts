// A start that requests the first workflow task for a worker of the same connection, which
// ts/worker/eager_starts.ts passes the task to.
import type { Deadline } from "../../client/calls.ts";
import type { OperationContext } from "../../client/interceptors.ts";
import { type ConnectionLike, EAGER } from "./connection.ts";
import type { WorkflowStartOutput } from "./interceptors.ts";

/** Starts a workflow eagerly. Throws an Error for a connection that workers cannot share. */
export async function startEagerly(
  connection: ConnectionLike,
  context: OperationContext,
  start: (context: OperationContext) => Promise<string>,
): Promise<WorkflowStartOutput> {
  if (connection[EAGER] !== true) {
    throw new Error(
      "Eager workflow start requires a NativeConnection shared between client and worker. " +
        "Pass a NativeConnection via ClientOptions.connection, or disable requestEagerStart.",
    );
  }
  let eagerlyStarted = false;
  const { calls } = context;
  const asking = {
    async call(
      method: "startWorkflowExecution",
      request: Parameters<typeof calls.call<typeof method>>[1],
      deadline: Deadline,
    ) {
      const answer = await calls.call(
        method,
        { ...request, requestEagerExecution: true },
        deadline,
      );
      eagerlyStarted = answer.eagerWorkflowTask !== undefined;
      return answer;
    },
  };
  const runId = await start({ ...context, calls: asking as unknown as typeof calls });
  return { runId, eagerlyStarted };
}
