// Handles of workflows in handlers: their signals, queries and updates are linked with the request.
import type { UpdateDefinition } from "../common/definitions.ts";
import type { QueryDefinition, SignalDefinition } from "../common/mod.ts";
import { type Attached, QUERY, SIGNAL, UPDATE } from "../client/internal_options.ts";
import { backing, requestLinks, takeResponseLink } from "./attachments.ts";
import { getHandlerContext } from "./context.ts";
import { handlerError, operationFailed } from "./errors.ts";
import { TemporalOperationResult } from "./results.ts";
import { updateToken } from "./tokens.ts";
import type { StartOperationContext } from "./types.ts";

/** A workflow for handlers of Nexus operations. */
export interface WorkflowHandle<T> {
  readonly workflowId: string;
  /** The run, if a specific one is meant. */
  readonly runId?: string;
  /** Sends a signal, linked with the operation. */
  // deno-lint-ignore no-explicit-any
  signal<Args extends any[] = [], Name extends string = string>(
    def: SignalDefinition<Args, Name> | string,
    ...args: Args
  ): Promise<void>;
  /** Sends a query. */
  // deno-lint-ignore no-explicit-any
  query<Ret, Args extends any[] = []>(
    def: QueryDefinition<Ret, Args> | string,
    ...args: Args
  ): Promise<Ret>;
  /** @internal Result type. */
  readonly __result?: T;
}

/** Options of an update that backs an operation. */
export interface NexusUpdateWorkflowOptions {
  /** Default: the id of the request, so that a repeated request sends no second update. */
  readonly updateId?: string;
}

/** A workflow whose updates can back operations. */
export interface UpdatableWorkflowHandle<T> extends WorkflowHandle<T> {
  /** Sends an update that backs the operation. */
  // deno-lint-ignore no-explicit-any
  update<Ret, Args extends [any, ...any[]], Name extends string = string>(
    def: UpdateDefinition<Ret, Args, Name> | string,
    options: NexusUpdateWorkflowOptions & { readonly args: Args },
  ): Promise<TemporalOperationResult<Ret>>;
  /** Sends an update without arguments that backs the operation. */
  update<Ret, Args extends [] = [], Name extends string = string>(
    def: UpdateDefinition<Ret, Args, Name> | string,
    options?: NexusUpdateWorkflowOptions & { readonly args?: Args },
  ): Promise<TemporalOperationResult<Ret>>;
}

/** Starts what backs an operation; at most one. */
export type Reservation = <T>(start: () => Promise<T>) => Promise<T>;

/** For a handle whose operation is a run already. */
export const TAKEN: Reservation = () => {
  throw handlerError(
    "BAD_REQUEST",
    "Only one async operation can be started per operation handler invocation, and the Workflow run this handle refers to already " +
      "backs it. Use TemporalNexusClient.client for additional Workflow interactions",
  );
};

interface AnyHandle {
  signal(def: unknown, ...args: unknown[]): Promise<void>;
  query(def: unknown, ...args: unknown[]): Promise<unknown>;
  startUpdate(
    def: unknown,
    options: object,
  ): Promise<{ workflowRunId?: string; result(): Promise<unknown> }>;
}

/** Returns a handle of the worker's client with attachments for its signals or queries. */
function attached(
  workflowId: string,
  runId: string | undefined,
  key: symbol,
  what: Attached,
): AnyHandle {
  return Object.assign(getHandlerContext().client.workflow.getHandle(workflowId, runId), {
    [key]: what,
  }) as unknown as AnyHandle;
}

/** Returns a workflow by its id. */
export function makeNexusHandle<T>(
  ctx: StartOperationContext,
  workflowId: string,
  runId: string | undefined,
  reserve: Reservation,
): UpdatableWorkflowHandle<T> {
  return {
    workflowId,
    ...(runId !== undefined && { runId }),
    async signal(def: unknown, ...args: unknown[]) {
      const what: Attached = { links: requestLinks(ctx) };
      await attached(workflowId, runId, SIGNAL, what).signal(def, ...args);
      takeResponseLink(ctx, what);
    },
    async query(def: unknown, ...args: unknown[]) {
      const what: Attached = {};
      try {
        return await attached(workflowId, runId, QUERY, what).query(def, ...args);
      } finally {
        // A failed query has a link as well.
        takeResponseLink(ctx, what);
      }
    },
    update: (def: unknown, options?: NexusUpdateWorkflowOptions & { args?: unknown[] }) =>
      update(ctx, { workflowId, runId, def, options }, reserve),
  } as unknown as UpdatableWorkflowHandle<T>;
}

interface UpdateOf {
  readonly workflowId: string;
  readonly runId: string | undefined;
  readonly def: unknown;
  readonly options: (NexusUpdateWorkflowOptions & { args?: unknown[] }) | undefined;
}

async function update(
  ctx: StartOperationContext,
  { workflowId, runId, def, options }: UpdateOf,
  reserve: Reservation,
): Promise<TemporalOperationResult<unknown>> {
  if (!ctx.callbackUrl) {
    throw handlerError(
      "BAD_REQUEST",
      "A callback URL is required for async UpdateWorkflow operation invocations",
    );
  }
  const updateId = options?.updateId || ctx.requestId;
  return await reserve(async () => {
    const { client, namespace } = getHandlerContext();
    const what = backing(ctx, updateToken(namespace, workflowId, runId ?? "", updateId));
    const handle = client.workflow.getHandle(workflowId, runId) as unknown as AnyHandle;
    const sent = await handle.startUpdate(def, {
      args: options?.args,
      updateId,
      waitForStage: "ACCEPTED",
      [UPDATE]: what,
    });
    takeResponseLink(ctx, what);
    if (what.outcome === undefined) {
      // The run found by the server, to which a cancellation goes.
      return TemporalOperationResult.async(
        updateToken(namespace, workflowId, sent.workflowRunId ?? runId ?? "", updateId),
      );
    }
    try {
      return TemporalOperationResult.sync(await sent.result());
    } catch (error) {
      throw operationFailed((error as Error).message, error);
    }
  });
}
