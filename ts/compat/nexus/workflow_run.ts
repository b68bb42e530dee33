// Operations backed by workflow runs: started with the request's id, links and callback, canceled
// by token.
import type { WithWorkflowArgs, Workflow, WorkflowResultType } from "../common/definitions.ts";
import { type Attached, START } from "../client/internal_options.ts";
import type {
  WorkflowSignalWithStartOptions as ClientSignalWithStartOptions,
  WorkflowStartOptions as ClientStartOptions,
} from "../client/workflow_options.ts";
import { backing, ON_CONFLICT, requestLinks, takeResponseLink } from "./attachments.ts";
import { getClient, getHandlerContext } from "./context.ts";
import { makeNexusHandle, TAKEN, type WorkflowHandle } from "./handles.ts";
import { readToken, readWorkflowRun, workflowRunToken } from "./tokens.ts";
import type { CancelOperationContext, StartOperationContext, StartResult } from "./types.ts";

type QueueOptional<T> = Omit<T, "taskQueue"> & {
  /** Default: the worker's task queue. */
  taskQueue?: string;
};

/** Options of `startWorkflow`. */
export type WorkflowStartOptions<T extends Workflow> = QueueOptional<ClientStartOptions<T>>;
/** Options of `signalWithStartWorkflow`. */
// deno-lint-ignore no-explicit-any
export type WorkflowSignalWithStartOptions<SignalArgs extends any[] = []> = QueueOptional<
  ClientSignalWithStartOptions<SignalArgs>
>;

function startOptions(options: object, attached: Attached): never {
  const { taskQueue, ...rest } = options as { taskQueue?: string };
  return {
    ...rest,
    taskQueue: taskQueue || getHandlerContext().taskQueue,
    [START]: attached,
  } as never;
}

/**
 * Starts the workflow whose run backs the operation; with `workflowIdConflictPolicy` "USE_EXISTING"
 * also an existing run.
 */
export async function startWorkflow<T extends Workflow>(
  ctx: StartOperationContext,
  workflowTypeOrFunc: string | T,
  workflowOptions: WorkflowStartOptions<T>,
): Promise<WorkflowHandle<WorkflowResultType<T>>> {
  const { client, namespace } = getHandlerContext();
  const { workflowId } = workflowOptions as { workflowId: string };
  const attached = {
    ...backing(ctx, workflowRunToken(namespace, workflowId)),
    onConflictOptions: ON_CONFLICT,
  };
  const handle = await client.workflow.start(
    workflowTypeOrFunc,
    startOptions(workflowOptions, attached),
  );
  takeResponseLink(ctx, attached);
  return makeNexusHandle(ctx, handle.workflowId, handle.firstExecutionRunId, TAKEN);
}

/** Signals a workflow and starts it if it is not running. */
// deno-lint-ignore no-explicit-any
export async function signalWithStartWorkflow<T extends Workflow, SignalArgs extends any[] = []>(
  ctx: StartOperationContext,
  workflowTypeOrFunc: string | T,
  workflowOptions: WithWorkflowArgs<T, WorkflowSignalWithStartOptions<SignalArgs>>,
): Promise<WorkflowHandle<WorkflowResultType<T>>> {
  const attached: Attached = { links: requestLinks(ctx) };
  const { workflow } = getHandlerContext().client;
  const handle = await workflow.signalWithStart<T, SignalArgs>(
    workflowTypeOrFunc as T,
    startOptions(workflowOptions, attached),
  );
  takeResponseLink(ctx, attached);
  return makeNexusHandle(ctx, handle.workflowId, handle.signaledRunId, TAKEN);
}

/** Starts the workflow whose run backs the operation: returns the result of `startWorkflow`. */
export type WorkflowRunOperationStartHandler<I, O> = (
  ctx: StartOperationContext,
  input: I,
) => Promise<WorkflowHandle<O>>;

/** Handler of an operation backed by a workflow run. */
export class WorkflowRunOperationHandler<I, O> {
  readonly handler: WorkflowRunOperationStartHandler<I, O>;

  constructor(handler: WorkflowRunOperationStartHandler<I, O>) {
    this.handler = handler;
  }

  /** Starts the workflow. The type is that of nexus-rpc's handlers. */
  // deno-lint-ignore no-explicit-any
  async start(ctx: StartOperationContext, input: I): Promise<any> {
    const { namespace } = getHandlerContext();
    const { workflowId } = await this.handler(ctx, input);
    return { isAsync: true, token: workflowRunToken(namespace, workflowId) } satisfies StartResult<
      O
    >;
  }

  /** Cancels the workflow. */
  async cancel(_ctx: CancelOperationContext, token: string): Promise<void> {
    const { workflowId } = readWorkflowRun(readToken(token));
    await getClient().workflow.getHandle(workflowId).cancel();
  }
}
