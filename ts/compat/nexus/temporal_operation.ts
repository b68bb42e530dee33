// TemporalOperationHandler: operations backed by a run, an update or an activity, chosen for each
// request.
import type { WithWorkflowArgs, Workflow, WorkflowResultType } from "../common/definitions.ts";
import type { Client } from "../client/mod.ts";
import {
  getClient,
  getHandlerContext,
  type TemporalCancelOperationContext,
  type TemporalStartOperationContext,
} from "./context.ts";
import { handlerError } from "./errors.ts";
import { makeNexusHandle, type Reservation, type UpdatableWorkflowHandle } from "./handles.ts";
import { startResult, TemporalOperationResult } from "./results.ts";
import {
  type OperationToken,
  readActivityIds,
  readToken,
  readUpdateIds,
  readWorkflowRun,
  TokenType,
  workflowRunToken,
} from "./tokens.ts";
import type { CancelOperationContext, StartOperationContext } from "./types.ts";
import {
  signalWithStartWorkflow,
  startWorkflow,
  type WorkflowSignalWithStartOptions,
  type WorkflowStartOptions,
} from "./workflow_run.ts";

/** Options of an activity that backs an operation. */
// deno-lint-ignore no-explicit-any
export type ActivityOptions = { [option: string]: any; id: string; taskQueue?: string };
/** Options of an activity with typed arguments. */
export type ActivityOptionsFor<T, N extends keyof T & string> = ActivityOptions & {
  // deno-lint-ignore no-explicit-any
  args?: T[N] extends (...args: infer A) => any ? A : never;
};

/** Starts activities of these types. */
export interface NexusTypedActivityClient<T> {
  /** Throws: operations by standalone activities are not supported. */
  startActivity<N extends keyof T & string>(
    activity: N,
    options: ActivityOptionsFor<T, N>,
  ): Promise<
    // deno-lint-ignore no-explicit-any
    TemporalOperationResult<T[N] extends (...args: any[]) => Promise<infer R> ? R : unknown>
  >;
}

/** Client for the start handler of a {@link TemporalOperationHandler}. */
export interface TemporalNexusClient {
  /** The worker's client. */
  readonly client: Client;
  /** Starts a workflow whose run backs the operation. */
  startWorkflow<T extends Workflow>(
    workflowTypeOrFunc: string | T,
    workflowOptions: WorkflowStartOptions<T>,
  ): Promise<TemporalOperationResult<WorkflowResultType<T>>>;
  /** Returns an existing workflow; its updates can back the operation. */
  getWorkflowHandle<T extends Workflow>(
    workflowId: string,
    runId?: string,
  ): UpdatableWorkflowHandle<WorkflowResultType<T>>;
  /** Signals a workflow and starts it if it is not running. */
  // deno-lint-ignore no-explicit-any
  signalWithStartWorkflow<T extends Workflow, SignalArgs extends any[] = []>(
    workflowTypeOrFunc: string | T,
    workflowOptions: WithWorkflowArgs<T, WorkflowSignalWithStartOptions<SignalArgs>>,
  ): Promise<void>;
  /** Throws: operations by standalone activities are not supported. */
  // deno-lint-ignore no-explicit-any
  startActivity<R = any>(
    activity: string,
    options: ActivityOptions,
  ): Promise<TemporalOperationResult<R>>;
  /** Returns this client with activity types. */
  typedActivity<T>(): NexusTypedActivityClient<T>;
}

class RequestClient implements TemporalNexusClient {
  readonly #ctx: TemporalStartOperationContext;
  #started = false;

  constructor(ctx: TemporalStartOperationContext) {
    this.#ctx = ctx;
  }

  readonly #reserve: Reservation = async (start) => {
    if (this.#started) {
      throw handlerError(
        "BAD_REQUEST",
        "Only one async operation can be started per operation handler invocation. Use TemporalNexusClient.client for additional " +
          "workflow interactions",
      );
    }
    this.#started = true;
    try {
      return await start();
    } catch (error) {
      this.#started = false;
      throw error;
    }
  };

  get client(): Client {
    return getClient();
  }

  getWorkflowHandle<T extends Workflow>(workflowId: string, runId?: string) {
    return makeNexusHandle<WorkflowResultType<T>>(this.#ctx, workflowId, runId, this.#reserve);
  }

  async startWorkflow<T extends Workflow>(
    workflowTypeOrFunc: string | T,
    workflowOptions: WorkflowStartOptions<T>,
  ) {
    return await this.#reserve(async () => {
      const { workflowId } = await startWorkflow(this.#ctx, workflowTypeOrFunc, workflowOptions);
      const { namespace } = getHandlerContext();
      return TemporalOperationResult.async<WorkflowResultType<T>>(
        workflowRunToken(namespace, workflowId),
      );
    });
  }

  // deno-lint-ignore no-explicit-any
  async signalWithStartWorkflow<T extends Workflow, SignalArgs extends any[] = []>(
    workflowTypeOrFunc: string | T,
    workflowOptions: WithWorkflowArgs<T, WorkflowSignalWithStartOptions<SignalArgs>>,
  ): Promise<void> {
    await signalWithStartWorkflow(this.#ctx, workflowTypeOrFunc, workflowOptions);
  }

  async startActivity<R>(
    activity: string,
    _options: ActivityOptions,
  ): Promise<TemporalOperationResult<R>> {
    return await this.#reserve(() => {
      // Permanent: a server retries all other errors.
      throw handlerError(
        "NOT_IMPLEMENTED",
        `an operation by the standalone activity "${activity}" is not supported by temporalex yet; start a workflow that calls it`,
      );
    });
  }

  typedActivity<T>(): NexusTypedActivityClient<T> {
    return this as unknown as NexusTypedActivityClient<T>;
  }
}

/** Starts an operation. */
export type TemporalOperationStartHandler<I, O> = (
  ctx: TemporalStartOperationContext,
  client: TemporalNexusClient,
  input: I,
) => Promise<TemporalOperationResult<O>>;

/** The run to cancel. */
export interface CancelWorkflowRunOptions {
  readonly workflowId: string;
}
/** The update to cancel. */
export interface CancelWorkflowUpdateOptions {
  readonly workflowId: string;
  /** The run; "" if no specific one is meant. */
  readonly runId: string;
  readonly updateId: string;
}
/** The activity to cancel. */
export interface CancelActivityOptions {
  readonly activityId: string;
  readonly runId: string;
}

/** Cancellation of a {@link TemporalOperationHandler}'s operations. */
export interface TemporalOperationHandlerOptions {
  /** Default: cancels the workflow. */
  cancelWorkflowRun?: (
    ctx: TemporalCancelOperationContext,
    options: CancelWorkflowRunOptions,
  ) => Promise<void>;
  /** Default: throws, because updates cannot be canceled. */
  cancelWorkflowUpdate?: (
    ctx: TemporalCancelOperationContext,
    options: CancelWorkflowUpdateOptions,
  ) => Promise<void>;
  /** Default: cancels the activity. */
  cancelActivity?: (
    ctx: TemporalCancelOperationContext,
    options: CancelActivityOptions,
  ) => Promise<void>;
}

const DEFAULTS: Required<TemporalOperationHandlerOptions> = {
  cancelWorkflowRun: async (_, { workflowId }) => {
    await getClient().workflow.getHandle(workflowId).cancel();
  },
  cancelWorkflowUpdate: () =>
    Promise.reject(handlerError("NOT_IMPLEMENTED", "cannot cancel an UpdateWorkflow operation")),
  cancelActivity: async (_, { activityId, runId }) => {
    const handle = getClient().activity.getHandle(activityId, runId) as {
      cancel(reason: string): Promise<void>;
    };
    await handle.cancel("Nexus Operation cancellation requested");
  },
};

/** Calls `read` for a token; reports which kind is invalid. */
function tokenPart<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw handlerError("BAD_REQUEST", `invalid ${what}`, { cause });
  }
}

/** Handler of an operation whose start chooses what backs it: a run, an update or an activity. */
export class TemporalOperationHandler<I, O> {
  readonly #start: TemporalOperationStartHandler<I, O>;
  readonly #options: Required<TemporalOperationHandlerOptions>;

  constructor(
    { start, ...options }:
      & { start: TemporalOperationStartHandler<I, O> }
      & TemporalOperationHandlerOptions,
  ) {
    this.#start = start;
    const given = Object.fromEntries(
      Object.entries(options).filter(([, handler]) => handler !== undefined && handler !== null),
    );
    this.#options = { ...DEFAULTS, ...given };
  }

  /** Starts the operation. The type is that of nexus-rpc's handlers. */
  // deno-lint-ignore no-explicit-any
  async start(ctx: StartOperationContext, input: I): Promise<any> {
    return startResult(await this.#start(ctx, new RequestClient(ctx), input));
  }

  /** Requests cancellation of what backs the operation. */
  async cancel(ctx: CancelOperationContext, text: string): Promise<void> {
    const token: OperationToken = tokenPart("operation token", () => readToken(text));
    const { cancelWorkflowRun, cancelActivity, cancelWorkflowUpdate } = this.#options;
    switch (token.t) {
      case TokenType.WORKFLOW_RUN:
        return await cancelWorkflowRun(
          ctx,
          tokenPart("workflow run operation token", () => readWorkflowRun(token)),
        );
      case TokenType.ACTIVITY:
        return await cancelActivity(
          ctx,
          tokenPart("activity operation token", () => readActivityIds(token)),
        );
      case TokenType.UPDATE_WORKFLOW:
        return await cancelWorkflowUpdate(
          ctx,
          tokenPart("update workflow operation token", () => readUpdateIds(token)),
        );
      default:
        throw handlerError("BAD_REQUEST", `Unsupported operation token type: ${token.t}`);
    }
  }
}
