// Handles of workflows and updates, with the official types.
import { randomId } from "../../platform/host.ts";
import { DescribeWorkflowExecutionResponseSchema } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Deadline } from "../../client/calls.ts";
import { WorkflowHandle as NativeHandle } from "../../client/handle.ts";
import type { UpdateHandle as NativeUpdateHandle } from "../../client/updates.ts";
import type {
  BaseWorkflowHandle,
  QueryDefinition,
  SignalDefinition,
  UpdateDefinition,
  Workflow,
  WorkflowQueryOptions,
  WorkflowResultType,
  WorkflowSignalOptions,
} from "../common/definitions.ts";
import type { Headers } from "../common/interceptors.ts";
import { fromPayloadsAtIndex } from "../common/payloads.ts";
import { toPlainHistory } from "../common/kept_history.ts";
import { type PlainMessage, toPlain } from "../common/plain_proto.ts";
import type { PayloadTypeInfo, SignalTypeInfo, TypeInfo } from "../common/type_info.ts";
import {
  decodeQueryRejectCondition,
  encodeQueryRejectCondition,
  type WorkflowUpdateStage,
} from "./enums.ts";
import {
  executionInfo,
  type WorkflowExecution,
  type WorkflowExecutionDescription,
} from "./infos.ts";
import {
  through,
  type WorkflowClientInterceptor,
  type WorkflowStartUpdateOutput,
} from "./interceptors.ts";
import { type Attached, attachedTo, attaching, QUERY, SIGNAL, UPDATE } from "./internal_options.ts";
import { type Concern, grpcErrorIn, officialUpdateError, refusing } from "./refusals.ts";
import type { WorkflowClient } from "./workflow_client.ts";
import { typedArgs, type WorkflowUpdateOptions } from "./workflow_options.ts";

// deno-lint-ignore no-explicit-any
type AnyArgs = any[];

/** Handle of an update. */
export interface WorkflowUpdateHandle<Ret> {
  updateId: string;
  workflowId: string;
  workflowRunId?: string | undefined;
  /** Returns the handler's result. */
  result(): Promise<Ret>;
}

/** Options of `getUpdateHandle`. */
export interface GetWorkflowUpdateHandleOptions {
  workflowRunId?: string;
  /** Type hint of the result. */
  typeInfo?: Pick<PayloadTypeInfo, "outputType">;
}

/** Handle of a workflow. */
export interface WorkflowHandle<T extends Workflow = Workflow> extends BaseWorkflowHandle<T> {
  /** Sends an update and waits for its result. */
  executeUpdate<Ret, Args extends AnyArgs = [], Name extends string = string>(
    def: UpdateDefinition<Ret, Args, Name> | string,
    ...options: Args extends [unknown, ...unknown[]] ? [WorkflowUpdateOptions & { args: Args }]
      : [(WorkflowUpdateOptions & { args?: Args })?]
  ): Promise<Ret>;
  /** Sends an update and returns once it is accepted. */
  startUpdate<Ret, Args extends AnyArgs = [], Name extends string = string>(
    def: UpdateDefinition<Ret, Args, Name> | string,
    options:
      & WorkflowUpdateOptions
      & { waitForStage: "ACCEPTED" }
      & (Args extends [unknown, ...unknown[]] ? { args: Args } : { args?: Args }),
  ): Promise<WorkflowUpdateHandle<Ret>>;
  /** Returns a handle for an update by its id. */
  getUpdateHandle<Ret>(
    updateId: string,
    options?: GetWorkflowUpdateHandleOptions,
  ): WorkflowUpdateHandle<Ret>;
  /** Queries the workflow. */
  query<Ret, Args extends AnyArgs = []>(
    def: QueryDefinition<Ret, Args> | string,
    ...args: Args
  ): Promise<Ret>;
  /** Queries the workflow, with options. */
  queryWithOptions<Ret, Args extends AnyArgs = []>(
    queryName: string,
    options: WorkflowQueryOptions<Args>,
  ): Promise<Ret>;
  /** Terminates the workflow at once. */
  terminate(reason?: string): Promise<PlainMessage>;
  /** Requests cancellation of the workflow. */
  cancel(): Promise<PlainMessage>;
  /** Returns the description of the run. */
  describe(): Promise<WorkflowExecutionDescription>;
  /** Returns the events of the run. */
  fetchHistory(): Promise<PlainMessage>;
  readonly client: WorkflowClient;
}

/** Handle of a workflow with its first run. */
export interface WorkflowHandleWithFirstExecutionRunId<T extends Workflow = Workflow>
  extends WorkflowHandle<T> {
  readonly firstExecutionRunId: string;
}
/** Handle of a started workflow. */
export interface WorkflowHandleWithStartDetails<T extends Workflow = Workflow>
  extends WorkflowHandleWithFirstExecutionRunId<T> {
  /** True if the response contained the first task. */
  readonly eagerlyStarted: boolean;
}
/** Handle of a workflow that was signaled, and started if needed. */
export interface WorkflowHandleWithSignaledRunId<T extends Workflow = Workflow>
  extends WorkflowHandle<T> {
  /** Run that received the signal. */
  readonly signaledRunId: string;
}

/** Ids of a handle. */
export interface HandleOf {
  readonly workflowId: string;
  readonly runId?: string | undefined;
  readonly firstExecutionRunId?: string | undefined;
  readonly runIdForResult?: string | undefined;
  readonly interceptors: readonly WorkflowClientInterceptor[];
  readonly followRuns?: boolean | undefined;
  readonly typeInfo?: PayloadTypeInfo | undefined;
}

/** Returns name and type hints of a message given by name or definition. */
export function messageNameAndTypes<I extends PayloadTypeInfo | SignalTypeInfo>(
  what: string,
  def: { name: string; typeInfo?: I } | string,
  callSite?: I,
): { name: string; typeInfo: I | undefined } {
  if (typeof def === "string") return { name: def, typeInfo: callSite };
  if (callSite !== undefined) {
    throw new TypeError(
      `Cannot provide call-site ${what} TypeInfo with ${
        what === "Update" ? "an" : "a"
      } ${what} definition. ` +
        `Use define${what}(..., { typeInfo }) on the ${what} definition instead.`,
    );
  }
  return { name: def.name, typeInfo: def.typeInfo };
}

/** Returns the official handle of a native update. */
export function makeUpdateHandle<Ret>(
  client: WorkflowClient,
  native: NativeUpdateHandle,
  workflowId: string,
): WorkflowUpdateHandle<Ret> {
  return {
    updateId: native.updateId,
    workflowId,
    workflowRunId: native.runId,
    result: () =>
      refusing(
        client,
        () =>
          client.whileUpdateIsAwaited(workflowId, native.updateId, () =>
            native.result(client.callSettings())),
        { fallback: "Workflow Update Poll failed", workflowId, runId: native.runId },
        officialUpdateError,
      ) as Promise<Ret>,
  };
}

const concern = (fallback: string, { workflowId, runId }: WorkflowExecution): Concern => ({
  fallback,
  workflowId,
  runId,
});

/** Operations of one workflow, through the interceptors to the native client. */
class Operations {
  readonly #client: WorkflowClient;
  readonly #of: HandleOf;
  readonly #execution: WorkflowExecution;

  constructor(client: WorkflowClient, of: HandleOf) {
    this.#client = client;
    this.#of = of;
    this.#execution = {
      workflowId: of.workflowId,
      ...(of.runId !== undefined && { runId: of.runId }),
    };
  }

  #context(workflowId: string, more?: { headers?: Headers; outputType?: TypeInfo | undefined }) {
    const { namespace } = this.#client.options;
    return this.#client.operationContext({ type: "workflow", namespace, workflowId }, more);
  }

  /** Returns the native handle; with a run id, for that run only. */
  native(
    { workflowId, runId }: WorkflowExecution,
    firstExecutionRunId?: string,
    more?: {
      headers?: Headers;
      outputType?: TypeInfo | undefined;
      queryRejectCondition?: number | undefined;
      attached?: Attached | undefined;
    },
  ): NativeHandle {
    const ids = { pinned: runId !== undefined, runId, firstExecutionRunId };
    const reject = decodeQueryRejectCondition(more?.queryRejectCondition);
    return new NativeHandle(
      attaching(this.#context(workflowId, more), more?.attached),
      workflowId,
      ids,
      {
        ...this.#client.callSettings(),
        ...(reject !== undefined && reject !== "NONE" && { queryRejectCondition: reject }),
      },
    );
  }

  #typed(
    args: readonly unknown[],
    typeInfo: PayloadTypeInfo | SignalTypeInfo | undefined,
  ): unknown[] {
    return typedArgs(
      args,
      typeInfo?.inputTypes,
      this.#client.options.loadedDataConverter.payloadConverter,
    );
  }

  signal(
    signalName: string,
    args: unknown[],
    typeInfo?: SignalTypeInfo,
    attached?: Attached,
  ): Promise<void> {
    const send = through(this.#of.interceptors, "signal", (input) =>
      refusing(this.#client, () => {
        const native = this.native(input.workflowExecution, undefined, {
          headers: input.headers,
          attached,
        });
        return native.signal(input.signalName, ...this.#typed(input.args, input.typeInfo));
      }, concern("Failed to signal Workflow", input.workflowExecution)));
    return send({ workflowExecution: this.#execution, signalName, args, typeInfo, headers: {} });
  }

  query(
    queryType: string,
    args: unknown[],
    typeInfo?: PayloadTypeInfo,
    attached?: Attached,
  ): Promise<unknown> {
    const send = through(this.#of.interceptors, "query", (input) =>
      refusing(this.#client, () => {
        const { headers, queryRejectCondition } = input;
        const outputType = input.typeInfo?.outputType;
        const more = { headers, queryRejectCondition, outputType, attached };
        const native = this.native(input.workflowExecution, undefined, more);
        return native.query(input.queryType, ...this.#typed(input.args, input.typeInfo));
      }, concern("Failed to query Workflow", input.workflowExecution)));
    return send({
      workflowExecution: this.#execution,
      queryRejectCondition: encodeQueryRejectCondition(this.#client.options.queryRejectCondition),
      queryType,
      args,
      typeInfo,
      headers: {},
    });
  }

  /** Returns undefined if an interceptor replaced the result: the id is then sufficient. */
  async update(
    // deno-lint-ignore no-explicit-any
    def: UpdateDefinition<unknown, any> | string,
    stage: WorkflowUpdateStage,
    { args = [], typeInfo: callSite, ...options }: WorkflowUpdateOptions & {
      args?: AnyArgs;
      waitForStage?: unknown;
    } = {},
  ): Promise<
    { sent: WorkflowUpdateHandle<unknown> | undefined; output: WorkflowStartUpdateOutput }
  > {
    const { name, typeInfo } = messageNameAndTypes("Update", def, callSite);
    let sent: WorkflowUpdateHandle<unknown> | undefined;
    const send = through(this.#of.interceptors, "startUpdate", (input) =>
      refusing(
        this.#client,
        async () => {
          const outputType = input.typeInfo?.outputType;
          const { workflowExecution, firstExecutionRunId, headers } = input;
          const more = { headers, outputType, attached: attachedTo(input.options, UPDATE) };
          const { updateName } = input;
          const { workflowId } = workflowExecution;
          const updateId = input.options.updateId ?? randomId();
          const waitFor = stage === "COMPLETED" ? "completed" : "accepted";
          const args = this.#typed(input.args, input.typeInfo);
          const send = () =>
            this.native(workflowExecution, firstExecutionRunId, more).startUpdate(updateName, {
              args,
              updateId,
              waitFor,
            });
          const update = await this.#client.whileUpdateIsAwaited(
            workflowId,
            updateId,
            send,
            updateName,
          );
          sent = makeUpdateHandle(this.#client, update, workflowId);
          return {
            updateId: update.updateId,
            workflowRunId: update.runId ?? "",
            outputTypeInfo: outputType,
          };
        },
        concern("Workflow Update failed", input.workflowExecution),
        officialUpdateError,
      ));
    const output = await send({
      workflowExecution: this.#execution,
      firstExecutionRunId: this.#of.firstExecutionRunId,
      updateName: name,
      args,
      typeInfo,
      headers: {},
      options,
      // Not in the declared type, but in the official client's object.
      ...{ waitForStage: stage },
    });
    return { sent, output };
  }

  terminate(reason: string | undefined): Promise<PlainMessage> {
    const { interceptors, firstExecutionRunId } = this.#of;
    const send = through(interceptors, "terminate", (input) =>
      refusing(this.#client, async () => {
        const native = this.native(input.workflowExecution, input.firstExecutionRunId);
        await native.terminate(input.reason, ...input.details ?? []);
        return {};
      }, concern("Failed to terminate Workflow", input.workflowExecution)));
    return send({ workflowExecution: this.#execution, reason, firstExecutionRunId });
  }

  cancel(): Promise<PlainMessage> {
    const { interceptors, firstExecutionRunId } = this.#of;
    const send = through(interceptors, "cancel", (input) =>
      refusing(this.#client, async () => {
        await this.native(input.workflowExecution, input.firstExecutionRunId).cancel();
        return {};
      }, concern("Failed to cancel workflow", input.workflowExecution)));
    return send({ workflowExecution: this.#execution, firstExecutionRunId });
  }

  async describe(): Promise<WorkflowExecutionDescription> {
    const { namespace, loadedDataConverter } = this.#client.options;
    const send = through(
      this.#of.interceptors,
      "describe",
      (input) =>
        refusing(this.#client, async () => {
          const { workflowId, runId = "" } = input.workflowExecution;
          const request = { namespace, execution: { workflowId, runId } };
          const { calls } = this.#context(workflowId);
          const deadline = new Deadline(this.#client.callSettings());
          const response = await calls.call(
            "describeWorkflowExecution",
            request,
            deadline,
            undefined,
            { asStored: true },
          );
          return toPlain(DescribeWorkflowExecutionResponseSchema, response);
        }, concern("Failed to describe workflow", input.workflowExecution)),
    );
    const raw = await send({ workflowExecution: this.#execution });
    const decoded = await this.#client.decoded(DescribeWorkflowExecutionResponseSchema, raw);
    const metadata = decoded.executionConfig?.userMetadata;
    const context = { type: "workflow", namespace, workflowId: this.#of.workflowId } as const;
    const text = (payload: PlainMessage) =>
      Promise.resolve(
        payload
          ? fromPayloadsAtIndex<string>(loadedDataConverter.payloadConverter, 0, [payload], context)
          : undefined,
      );
    return {
      ...executionInfo(decoded.workflowExecutionInfo ?? {}, loadedDataConverter, raw, namespace),
      staticDetails: () => text(metadata?.details),
      staticSummary: () => text(metadata?.summary),
    };
  }

  fetchHistory(): Promise<PlainMessage> {
    return refusing(
      this.#client,
      async () => toPlainHistory(await this.native(this.#execution).fetchHistory()),
      concern("Failed to get Workflow execution history", this.#execution),
      // The official client passes gRPC's error on.
      (thrown, concern) => grpcErrorIn(thrown, concern) ?? thrown,
    );
  }
}

/** Creates a handle: an object of functions, which programs copy and destructure. */
export function makeWorkflowHandle<T extends Workflow>(
  client: WorkflowClient,
  of: HandleOf,
): WorkflowHandle<T> {
  const { workflowId, runId } = of;
  const operations = new Operations(client, of);
  const getUpdateHandle = <Ret>(
    updateId: string,
    options: GetWorkflowUpdateHandleOptions = {},
  ): WorkflowUpdateHandle<Ret> => {
    const execution = { workflowId, runId: options.workflowRunId ?? runId } as WorkflowExecution;
    const native = operations.native(execution, undefined, {
      outputType: options.typeInfo?.outputType,
    });
    return makeUpdateHandle<Ret>(client, native.getUpdateHandle(updateId), workflowId);
  };
  const update = async (
    ...sent: Parameters<Operations["update"]>
  ): Promise<WorkflowUpdateHandle<never>> => {
    const { sent: made, output } = await operations.update(...sent);
    return (made ??
      getUpdateHandle(output.updateId, {
        workflowRunId: output.workflowRunId,
      })) as WorkflowUpdateHandle<never>;
  };
  const handle: WorkflowHandle<T> = {
    client,
    workflowId,
    result() {
      return client.result<T>(workflowId, of.runIdForResult, {
        followRuns: of.followRuns ?? true,
        ...(of.typeInfo !== undefined && { typeInfo: of.typeInfo }),
      }) as Promise<WorkflowResultType<T>>;
    },
    terminate: (reason) => operations.terminate(reason),
    cancel: () => operations.cancel(),
    describe: () => operations.describe(),
    fetchHistory: () => operations.fetchHistory(),
    startUpdate: (def, options) => update(def, options.waitForStage, options as never),
    executeUpdate: async (def, ...[options]) =>
      await (await update(def, "COMPLETED", options as never)).result(),
    getUpdateHandle,
    signal(def: SignalDefinition<AnyArgs> | string, ...args: AnyArgs) {
      const { name, typeInfo } = messageNameAndTypes<SignalTypeInfo>("Signal", def);
      return operations.signal(name, args, typeInfo, attachedTo(handle, SIGNAL));
    },
    signalWithOptions: (
      name: string,
      { args = [] as never, typeInfo }: WorkflowSignalOptions<AnyArgs>,
    ) => operations.signal(name, args, typeInfo),
    query(def: QueryDefinition<unknown, AnyArgs> | string, ...args: AnyArgs) {
      const { name, typeInfo } = messageNameAndTypes<PayloadTypeInfo>("Query", def);
      return operations.query(name, args, typeInfo, attachedTo(handle, QUERY)) as never;
    },
    queryWithOptions: (
      name: string,
      { args = [] as never, typeInfo }: WorkflowQueryOptions<AnyArgs>,
    ) => operations.query(name, args, typeInfo) as never,
  };
  return handle;
}
