// Handles of workflows and updates, in the official form.
import { randomId } from "../../platform/host.ts";
import { HistorySchema } from "../../api/generated/temporal/api/history/v1/message_pb.ts";
import { DescribeWorkflowExecutionResponseSchema } from "../../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
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
import { type PlainMessage, toPlain } from "../common/plain_proto.ts";
import type { PayloadTypeInfo, SignalTypeInfo, TypeInfo } from "../common/type_info.ts";
import { callSettings } from "./call_context.ts";
import { decodeQueryRejectCondition, encodeQueryRejectCondition, type WorkflowUpdateStage } from "./enums.ts";
import { executionInfo, type WorkflowExecution, type WorkflowExecutionDescription } from "./infos.ts";
import { through, type WorkflowClientInterceptor } from "./interceptors.ts";
import { type Concern, grpcErrorIn, officialUpdateError, refusing } from "./refusals.ts";
import type { WorkflowClient } from "./workflow_client.ts";
import { typedArgs, type WorkflowUpdateOptions } from "./workflow_options.ts";

// deno-lint-ignore no-explicit-any
type AnyArgs = any[];

/** An update that was sent. */
export interface WorkflowUpdateHandle<Ret> {
  /** Id of the update. */
  updateId: string;
  /** Id of the workflow. */
  workflowId: string;
  /** The run that has it. */
  workflowRunId?: string | undefined;
  /** What its handler returns. */
  result(): Promise<Ret>;
}

/** Options of `getUpdateHandle`. */
export interface GetWorkflowUpdateHandleOptions {
  /** The run that has it. */
  workflowRunId?: string;
  /** Type of the result. */
  typeInfo?: Pick<PayloadTypeInfo, "outputType">;
}

/** A workflow to talk to. */
export interface WorkflowHandle<T extends Workflow = Workflow> extends BaseWorkflowHandle<T> {
  /** Sends an update, and waits for its result. */
  executeUpdate<Ret, Args extends AnyArgs = [], Name extends string = string>(
    def: UpdateDefinition<Ret, Args, Name> | string,
    ...options: Args extends [unknown, ...unknown[]] ? [WorkflowUpdateOptions & { args: Args }]
      : [(WorkflowUpdateOptions & { args?: Args })?]
  ): Promise<Ret>;
  /** Sends an update, and returns when it is accepted. */
  startUpdate<Ret, Args extends AnyArgs = [], Name extends string = string>(
    def: UpdateDefinition<Ret, Args, Name> | string,
    options:
      & WorkflowUpdateOptions
      & { waitForStage: "ACCEPTED" }
      & (Args extends [unknown, ...unknown[]] ? { args: Args } : { args?: Args }),
  ): Promise<WorkflowUpdateHandle<Ret>>;
  /** An update by its id. */
  getUpdateHandle<Ret>(updateId: string, options?: GetWorkflowUpdateHandleOptions): WorkflowUpdateHandle<Ret>;
  /** Asks for a value of the workflow. */
  query<Ret, Args extends AnyArgs = []>(def: QueryDefinition<Ret, Args> | string, ...args: Args): Promise<Ret>;
  /** Asks for a value of the workflow, with options. */
  queryWithOptions<Ret, Args extends AnyArgs = []>(queryName: string, options: WorkflowQueryOptions<Args>): Promise<Ret>;
  /** Ends the workflow at once. */
  terminate(reason?: string): Promise<PlainMessage>;
  /** Asks the workflow to stop. */
  cancel(): Promise<PlainMessage>;
  /** What the service knows of the run. */
  describe(): Promise<WorkflowExecutionDescription>;
  /** The events of the run. */
  fetchHistory(): Promise<PlainMessage>;
  /** The client that made it. */
  readonly client: WorkflowClient;
}

/** A workflow whose first run is known. */
export interface WorkflowHandleWithFirstExecutionRunId<T extends Workflow = Workflow> extends WorkflowHandle<T> {
  /** Its first run. */
  readonly firstExecutionRunId: string;
}
/** A workflow that was started. */
export interface WorkflowHandleWithStartDetails<T extends Workflow = Workflow> extends WorkflowHandleWithFirstExecutionRunId<T> {
  /** Its first task came with the answer. */
  readonly eagerlyStarted: boolean;
}
/** A workflow that was signalled, and perhaps started. */
export interface WorkflowHandleWithSignaledRunId<T extends Workflow = Workflow> extends WorkflowHandle<T> {
  /** The run that has the signal. */
  readonly signaledRunId: string;
}

/** Which workflow a handle means. */
export interface HandleOf {
  readonly workflowId: string;
  readonly runId?: string | undefined;
  readonly firstExecutionRunId?: string | undefined;
  readonly runIdForResult?: string | undefined;
  readonly interceptors: readonly WorkflowClientInterceptor[];
  readonly followRuns?: boolean | undefined;
  readonly typeInfo?: PayloadTypeInfo | undefined;
}

/** Name and types of a message that is given as its name or its definition. */
export function messageOf<I extends PayloadTypeInfo | SignalTypeInfo>(
  what: string,
  def: { name: string; typeInfo?: I } | string,
  callSite?: I,
): { name: string; typeInfo: I | undefined } {
  if (typeof def === "string") return { name: def, typeInfo: callSite };
  if (callSite !== undefined) {
    throw new TypeError(
      `Cannot provide call-site ${what} TypeInfo with ${what === "Update" ? "an" : "a"} ${what} definition. ` +
        `Use define${what}(..., { typeInfo }) on the ${what} definition instead.`,
    );
  }
  return { name: def.name, typeInfo: def.typeInfo };
}

/** The handle of an update of the product's client. */
export function makeUpdateHandle<Ret>(native: NativeUpdateHandle, workflowId: string): WorkflowUpdateHandle<Ret> {
  return {
    updateId: native.updateId,
    workflowId,
    workflowRunId: native.runId,
    result: () =>
      refusing(
        () => native.result(callSettings()),
        { fallback: "Workflow Update Poll failed", workflowId, runId: native.runId },
        officialUpdateError,
      ) as Promise<Ret>,
  };
}

/** The operations of one workflow, as the last in the chain of interceptors. */
class Operations {
  readonly #client: WorkflowClient;

  constructor(client: WorkflowClient) {
    this.#client = client;
  }

  context(workflowId: string, more?: { headers?: Headers; outputType?: TypeInfo | undefined }) {
    const { namespace } = this.#client.options;
    return this.#client.operationContext({ type: "workflow", namespace, workflowId }, more);
  }

  /** The workflow in the product's client; with a run, that very run. */
  native(
    { workflowId, runId }: WorkflowExecution,
    firstExecutionRunId?: string,
    more?: { headers?: Headers; outputType?: TypeInfo | undefined; queryRejectCondition?: number | undefined },
  ): NativeHandle {
    const ids = { pinned: runId !== undefined, runId, firstExecutionRunId };
    const reject = decodeQueryRejectCondition(more?.queryRejectCondition);
    return new NativeHandle(this.context(workflowId, more), workflowId, ids, {
      ...callSettings(),
      ...(reject !== undefined && reject !== "NONE" && { queryRejectCondition: reject }),
    });
  }

  typed(args: readonly unknown[], typeInfo: PayloadTypeInfo | SignalTypeInfo | undefined): unknown[] {
    return typedArgs(args, typeInfo?.inputTypes, this.#client.options.loadedDataConverter.payloadConverter);
  }
}

/** A handle. */
export function makeHandle<T extends Workflow>(client: WorkflowClient, of: HandleOf): WorkflowHandle<T> {
  const { workflowId, runId, firstExecutionRunId, interceptors } = of;
  const operations = new Operations(client);
  const workflowExecution = { workflowId, ...(runId !== undefined && { runId }) };
  const concern = (fallback: string, { workflowId, runId }: WorkflowExecution): Concern => ({ fallback, workflowId, runId });

  const sendSignal = (signalName: string, args: unknown[], typeInfo?: SignalTypeInfo): Promise<void> =>
    through(interceptors, "signal", (input) =>
      refusing(() => {
        const native = operations.native(input.workflowExecution, undefined, { headers: input.headers });
        return native.signal(input.signalName, ...operations.typed(input.args, input.typeInfo));
      }, concern("Failed to signal Workflow", input.workflowExecution)))(
        { workflowExecution, signalName, args, typeInfo, headers: {} },
      );

  const ask = (queryType: string, args: unknown[], typeInfo?: PayloadTypeInfo): Promise<unknown> =>
    through(interceptors, "query", (input) =>
      refusing(() => {
        const { headers, queryRejectCondition } = input;
        const native = operations.native(input.workflowExecution, undefined, {
          headers,
          queryRejectCondition,
          outputType: input.typeInfo?.outputType,
        });
        return native.query(input.queryType, ...operations.typed(input.args, input.typeInfo));
      }, concern("Failed to query Workflow", input.workflowExecution)))(
        {
          workflowExecution,
          queryRejectCondition: encodeQueryRejectCondition(client.options.queryRejectCondition),
          queryType,
          args,
          typeInfo,
          headers: {},
        },
      );

  const update = async <Ret>(
    // deno-lint-ignore no-explicit-any
    def: UpdateDefinition<Ret, any> | string,
    stage: WorkflowUpdateStage,
    { args = [], typeInfo: callSite, ...options }: WorkflowUpdateOptions & { args?: AnyArgs; waitForStage?: unknown } = {},
  ): Promise<WorkflowUpdateHandle<Ret>> => {
    const { name, typeInfo } = messageOf("Update", def, callSite);
    let made: WorkflowUpdateHandle<Ret> | undefined;
    const send = through(interceptors, "startUpdate", (input) =>
      refusing(
        async () => {
          const native = operations.native(input.workflowExecution, input.firstExecutionRunId, {
            headers: input.headers,
            outputType: input.typeInfo?.outputType,
          });
          const sent = await native.startUpdate(input.updateName, {
            args: operations.typed(input.args, input.typeInfo),
            updateId: input.options.updateId ?? randomId(),
            waitFor: stage === "COMPLETED" ? "completed" : "accepted",
          });
          made = makeUpdateHandle<Ret>(sent, input.workflowExecution.workflowId);
          return {
            updateId: sent.updateId,
            workflowRunId: sent.runId ?? "",
            outputTypeInfo: input.typeInfo?.outputType,
          };
        },
        concern("Workflow Update failed", input.workflowExecution),
        officialUpdateError,
      ));
    const output = await send({
      workflowExecution,
      firstExecutionRunId,
      updateName: name,
      args,
      typeInfo,
      headers: {},
      options,
      // Beside what its type says, as the official client has it.
      ...{ waitForStage: stage },
    });
    return made ?? handle.getUpdateHandle<Ret>(output.updateId, { workflowRunId: output.workflowRunId });
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
    terminate: (reason) =>
      through(interceptors, "terminate", (input) =>
        refusing(async () => {
          const native = operations.native(input.workflowExecution, input.firstExecutionRunId);
          await native.terminate(input.reason, ...input.details ?? []);
          return {};
        }, concern("Failed to terminate Workflow", input.workflowExecution)))(
          { workflowExecution, reason, firstExecutionRunId },
        ),
    cancel: () =>
      through(interceptors, "cancel", (input) =>
        refusing(async () => {
          await operations.native(input.workflowExecution, input.firstExecutionRunId).cancel();
          return {};
        }, concern("Failed to cancel workflow", input.workflowExecution)))({ workflowExecution, firstExecutionRunId }),
    async describe() {
      const { namespace, loadedDataConverter } = client.options;
      const raw = await through(interceptors, "describe", (input) =>
        refusing(async () => {
          const { calls } = operations.context(input.workflowExecution.workflowId);
          const { workflowId, runId = "" } = input.workflowExecution;
          const request = { namespace, execution: { workflowId, runId } };
          const response = await calls.call("describeWorkflowExecution", request, new Deadline(callSettings()));
          return toPlain(DescribeWorkflowExecutionResponseSchema, response);
        }, concern("Failed to describe workflow", input.workflowExecution)))({ workflowExecution });
      const metadata = raw.executionConfig?.userMetadata;
      const text = (payload: PlainMessage) =>
        Promise.resolve(
          payload
            ? fromPayloadsAtIndex<string>(loadedDataConverter.payloadConverter, 0, [payload], {
              type: "workflow",
              namespace,
              workflowId,
            })
            : undefined,
        );
      return {
        ...executionInfo(raw.workflowExecutionInfo ?? {}, loadedDataConverter, raw, namespace),
        staticDetails: () => text(metadata?.details),
        staticSummary: () => text(metadata?.summary),
      };
    },
    fetchHistory: () =>
      refusing(
        async () => toPlain(HistorySchema, await operations.native(workflowExecution).fetchHistory()),
        concern("Failed to get Workflow execution history", workflowExecution),
        // The official client hands on what gRPC says.
        (thrown) => grpcErrorIn(thrown) ?? thrown,
      ),
    startUpdate: (def, options) => update(def, options.waitForStage, options as never),
    async executeUpdate(def, ...[options]) {
      return await (await update(def, "COMPLETED", options as never)).result() as never;
    },
    getUpdateHandle<Ret>(updateId: string, options: GetWorkflowUpdateHandleOptions = {}) {
      const execution = { workflowId, runId: options.workflowRunId ?? runId } as WorkflowExecution;
      const native = operations.native(execution, undefined, { outputType: options.typeInfo?.outputType });
      return makeUpdateHandle<Ret>(native.getUpdateHandle(updateId), workflowId);
    },
    signal(def: SignalDefinition<AnyArgs> | string, ...args: AnyArgs) {
      const { name, typeInfo } = messageOf<SignalTypeInfo>("Signal", def);
      return sendSignal(name, args, typeInfo);
    },
    signalWithOptions: (name: string, { args = [] as never, typeInfo }: WorkflowSignalOptions<AnyArgs>) =>
      sendSignal(name, args, typeInfo),
    query(def: QueryDefinition<unknown, AnyArgs> | string, ...args: AnyArgs) {
      const { name, typeInfo } = messageOf<PayloadTypeInfo>("Query", def);
      return ask(name, args, typeInfo) as never;
    },
    queryWithOptions: (name: string, { args = [] as never, typeInfo }: WorkflowQueryOptions<AnyArgs>) =>
      ask(name, args, typeInfo) as never,
  };
  return handle;
}
