// `WorkflowClient` of `@temporalio/client`, over operations of the native client.
import { type OptionNames, rejectMisspelledOptions } from "../../base/option_names.ts";
import { START_OPTIONS } from "../common/option_names.ts";
import { randomId } from "../../platform/host.ts";
import { CountWorkflowExecutionsResponseSchema } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { WorkflowExecutionInfoSchema } from "../../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import { Deadline } from "../../client/calls.ts";
import { signalWithStart as nativeSignalWithStart, startRun } from "../../client/starts.ts";
import { WorkflowHandle as NativeHandle } from "../../client/handle.ts";
import { updateWithStart } from "../../client/update_with_start.ts";
import type {
  HistoryAndWorkflowId,
  UpdateDefinition,
  WithWorkflowArgs,
  Workflow,
  WorkflowResultType,
} from "../common/definitions.ts";
import { extractWorkflowTypeAndConfig } from "../common/definitions.ts";
import { toPlain } from "../common/plain_proto.ts";
import type { PayloadTypeInfo, WorkflowSerializationContext } from "../common/type_info.ts";
import { BaseClient, type BaseClientOptions, type LoadedWithDefaults } from "./base_client.ts";
import { startEagerly } from "./eager_start.ts";
import type { QueryRejectCondition } from "./enums.ts";
import {
  type CountWorkflowExecution,
  decodeCount,
  executionInfo,
  type WorkflowExecutionInfo,
} from "./infos.ts";
import { attachedTo, attaching, START } from "./internal_options.ts";
import { intoHistories } from "./into_histories.ts";
import {
  checkWorkflowInterceptors,
  through,
  withStartDetails,
  type WorkflowClientInterceptor,
  type WorkflowClientInterceptors,
  type WorkflowStartInput,
  type WorkflowStartOutput,
  type WorkflowStartUpdateWithStartInput,
} from "./interceptors.ts";
import type { WorkflowService } from "./plain_service.ts";
import { officialOutcome, officialUpdateError, refusing } from "./refusals.ts";
import { OPERATION, type WithStartWorkflowOperation } from "./with_start_operation.ts";
import {
  makeUpdateHandle,
  makeWorkflowHandle,
  messageNameAndTypes,
  type WorkflowHandle,
  type WorkflowHandleWithSignaledRunId,
  type WorkflowHandleWithStartDetails,
  type WorkflowUpdateHandle,
} from "./workflow_handle.ts";
import {
  type CompiledWorkflowOptions,
  compileWorkflowOptions,
  nativeStart,
  typedArgs,
  type WorkflowOptions,
  type WorkflowSignalWithStartOptions,
  type WorkflowStartOptions,
  type WorkflowUpdateOptions,
} from "./workflow_options.ts";

/** Options of a {@link WorkflowClient}. */
export interface WorkflowClientOptions extends BaseClientOptions {
  /** Interceptors of its operations, the first one outermost; or factories (deprecated). */
  interceptors?: WorkflowClientInterceptors | WorkflowClientInterceptor[];
  /** Workflow states in which queries are rejected. Default: none. */
  queryRejectCondition?: QueryRejectCondition;
}
/** Options with their defaults. */
export type LoadedWorkflowClientOptions = LoadedWithDefaults<WorkflowClientOptions>;

/** Options of `result`. */
export interface WorkflowResultOptions {
  /** Follow continue-as-new, retries and cron to the last run. Default: true. */
  followRuns?: boolean;
  /** Type hints of arguments and result. */
  typeInfo?: PayloadTypeInfo;
}
/** Options of `getHandle`. */
export interface GetWorkflowHandleOptions extends WorkflowResultOptions {
  /** Restricts calls to runs of the chain that began with this one. */
  firstExecutionRunId?: string;
}
/** Options of `list`. */
export interface ListOptions {
  /** Runs per request. */
  pageSize?: number;
  /** A visibility query. Default: all. */
  query?: string;
}
/** Options of `intoHistories`. */
export interface IntoHistoriesOptions {
  /** Maximum concurrent reads of histories. Default: 5. */
  concurrency?: number;
  /** Maximum buffered histories. */
  bufferLimit?: number;
}
/** An iterable of runs. */
export interface AsyncWorkflowListIterable extends AsyncIterable<WorkflowExecutionInfo> {
  /** Returns the history of each run. */
  intoHistories: (options?: IntoHistoriesOptions) => AsyncIterable<HistoryAndWorkflowId>;
}

const CLIENT_START_OPTIONS: OptionNames<WorkflowOptions> = {
  ...START_OPTIONS,
  ...{ followRuns: 1, startDelay: 1, versioningOverride: 1, requestEagerStart: 1 },
};

const SIGNAL_WITH_START_OPTIONS = {
  ...CLIENT_START_OPTIONS,
  signal: 1,
  signalArgs: 1,
  signalTypeInfo: 1,
};

function checkRequiredOptions(options: Partial<WorkflowOptions>): void {
  if (!options?.taskQueue) throw new TypeError("Missing WorkflowOptions.taskQueue");
  if (!options.workflowId) throw new TypeError("Missing WorkflowOptions.workflowId");
}

function compiled(options: object, typeInfo: PayloadTypeInfo | undefined): CompiledWorkflowOptions {
  rejectMisspelledOptions("the start of a workflow", options, CLIENT_START_OPTIONS);
  checkRequiredOptions(options as WorkflowOptions);
  return compileWorkflowOptions(
    { args: [], ...options, typeInfo } as unknown as WorkflowOptions,
  ) as CompiledWorkflowOptions;
}

/** Starts workflows, finds them, and creates handles for them. */
export class WorkflowClient extends BaseClient {
  /** Options with defaults. */
  declare readonly options: LoadedWorkflowClientOptions;

  /** Throws a TypeError for an interceptor with a misspelled method. */
  constructor(options: WorkflowClientOptions = {}) {
    super(options);
    if (Array.isArray(options.interceptors)) checkWorkflowInterceptors(options.interceptors);
  }

  /** Temporal's WorkflowService. */
  get workflowService(): WorkflowService {
    return this.connection.workflowService;
  }

  /** Returns the serialization context of a workflow. */
  protected workflowSerializationContext(workflowId: string): WorkflowSerializationContext {
    return { type: "workflow", namespace: this.options.namespace, workflowId };
  }

  /** Returns the interceptors of a workflow's operations. */
  protected getOrMakeInterceptors(workflowId: string, runId?: string): WorkflowClientInterceptor[] {
    const { interceptors } = this.options;
    if (Array.isArray(interceptors)) return interceptors;
    return checkWorkflowInterceptors(
      (interceptors?.calls ?? []).map((make) => make({ workflowId, runId })),
    );
  }

  async #start(input: WorkflowStartInput): Promise<WorkflowStartOutput> {
    const { workflowType, options, headers } = input;
    const { workflowId } = options;
    const plain = this.operationContext(this.workflowSerializationContext(workflowId), { headers });
    const context = attaching(plain, attachedTo(options, START));
    return await refusing(
      this,
      async () => {
        const native = nativeStart(options, this.dataConverter.payloadConverter);
        const start = (around: typeof context) =>
          startRun(around, workflowType, native, new Deadline(this.callSettings()));
        if (options.requestEagerStart !== true) {
          return { runId: (await start(context)).runId, eagerlyStarted: false };
        }
        return await startEagerly(
          this.connection,
          context,
          async (asking) => (await start(asking)).runId,
        );
      },
      { fallback: "Failed to start Workflow", workflowType, workflowId },
    );
  }

  #startThrough(
    interceptors: readonly WorkflowClientInterceptor[],
    workflowType: string,
    options: CompiledWorkflowOptions,
  ): Promise<WorkflowStartOutput> {
    const start = through(
      interceptors.map(withStartDetails),
      "startWithDetails",
      (input) => this.#start(input),
    );
    return start({ options, headers: {}, workflowType });
  }

  /** Starts a workflow. */
  async start<T extends Workflow>(
    workflowTypeOrFunc: string | T,
    options: WorkflowStartOptions<T>,
  ): Promise<WorkflowHandleWithStartDetails<T>> {
    const { type, typeInfo } = extractWorkflowTypeAndConfig(workflowTypeOrFunc, options.typeInfo);
    const { workflowId } = options;
    const interceptors = this.getOrMakeInterceptors(workflowId);
    const { runId, eagerlyStarted } = await this.#startThrough(
      interceptors,
      type,
      compiled(options, typeInfo),
    );
    const handle = makeWorkflowHandle<T>(this, {
      workflowId,
      firstExecutionRunId: runId,
      runIdForResult: runId,
      interceptors,
      followRuns: options.followRuns,
      typeInfo,
    });
    return Object.assign(handle, { firstExecutionRunId: runId, eagerlyStarted });
  }

  /** Starts a workflow and waits for its result. */
  async execute<T extends Workflow>(
    workflowTypeOrFunc: string | T,
    options: WorkflowStartOptions<T>,
  ): Promise<WorkflowResultType<T>> {
    const handle = await this.start(workflowTypeOrFunc, options);
    // By id, like the official client, so that a replacing run is followed.
    return await this.result<T>(handle.workflowId, undefined, {
      followRuns: options.followRuns ?? true,
      ...(options.typeInfo !== undefined && { typeInfo: options.typeInfo }),
    });
  }

  /** Signals a workflow and starts it if it is not running. */
  async signalWithStart<WorkflowFn extends Workflow, SignalArgs extends unknown[] = []>(
    workflowTypeOrFunc: string | WorkflowFn,
    options: WithWorkflowArgs<WorkflowFn, WorkflowSignalWithStartOptions<SignalArgs>>,
  ): Promise<WorkflowHandleWithSignaledRunId<WorkflowFn>> {
    rejectMisspelledOptions("signalWithStart", options, SIGNAL_WITH_START_OPTIONS);
    const { signal, signalArgs = [], signalTypeInfo, ...rest } = options as unknown as
      & WorkflowSignalWithStartOptions<unknown[]>
      & WorkflowOptions;
    const { type, typeInfo } = extractWorkflowTypeAndConfig(workflowTypeOrFunc, rest.typeInfo);
    const message = messageNameAndTypes("Signal", signal, signalTypeInfo);
    const { workflowId } = rest;
    const interceptors = this.getOrMakeInterceptors(workflowId);
    const send = through(interceptors, "signalWithStart", (input) => {
      const { payloadConverter } = this.dataConverter;
      const serialization = this.workflowSerializationContext(input.options.workflowId);
      const plain = this.operationContext(serialization, { headers: input.headers });
      const context = attaching(plain, attachedTo(input.options, START));
      return refusing(
        this,
        async () => {
          const native = {
            ...nativeStart(input.options, payloadConverter),
            signal: input.signalName,
            signalArgs: typedArgs(
              input.signalArgs,
              input.signalTypeInfo?.inputTypes,
              payloadConverter,
            ),
          };
          return (await nativeSignalWithStart(
            context,
            input.workflowType,
            native,
            new Deadline(this.callSettings()),
          )).runId;
        },
        {
          fallback: "Failed to signalWithStart Workflow",
          workflowType: input.workflowType,
          workflowId: input.options.workflowId,
        },
      );
    });
    const runId = await send({
      options: compiled(rest, typeInfo),
      headers: {},
      workflowType: type,
      signalName: message.name,
      signalArgs: [...signalArgs],
      signalTypeInfo: message.typeInfo,
    });
    const handle = makeWorkflowHandle<WorkflowFn>(this, {
      workflowId,
      runIdForResult: runId,
      interceptors,
      followRuns: rest.followRuns,
      typeInfo,
    });
    return Object.assign(handle, { signaledRunId: runId });
  }

  /** Starts a workflow, or uses the running one, sends it an update, and waits for its result. */
  async executeUpdateWithStart<T extends Workflow, Ret, Args extends unknown[]>(
    updateDef: UpdateDefinition<Ret, Args> | string,
    updateOptions: WorkflowUpdateOptions & {
      args?: Args;
      startWorkflowOperation: WithStartWorkflowOperation<T>;
    },
  ): Promise<Ret> {
    return await (await this.#updateWithStart<T, Ret>(updateDef, updateOptions, "completed"))
      .result();
  }

  /**
   * Starts a workflow, or uses the running one, and sends it an update; returns once the update is
   * accepted.
   */
  startUpdateWithStart<T extends Workflow, Ret, Args extends unknown[]>(
    updateDef: UpdateDefinition<Ret, Args> | string,
    updateOptions: WorkflowUpdateOptions & {
      args?: Args;
      waitForStage: "ACCEPTED";
      startWorkflowOperation: WithStartWorkflowOperation<T>;
    },
  ): Promise<WorkflowUpdateHandle<Ret>> {
    return this.#updateWithStart<T, Ret>(updateDef, updateOptions, "accepted");
  }

  async #updateWithStart<T extends Workflow, Ret>(
    // deno-lint-ignore no-explicit-any
    updateDef: UpdateDefinition<Ret, any> | string,
    options: WorkflowUpdateOptions & {
      args?: unknown[];
      startWorkflowOperation: WithStartWorkflowOperation<T>;
    },
    waitFor: "accepted" | "completed",
  ): Promise<WorkflowUpdateHandle<Ret>> {
    const { args = [], startWorkflowOperation, typeInfo: callSite, ...updateOptions } = options;
    const message = messageNameAndTypes("Update", updateDef, callSite);
    const { workflowTypeOrFunc, options: startOptions } = startWorkflowOperation;
    const begun = startWorkflowOperation[OPERATION]();
    const { type, typeInfo } = extractWorkflowTypeAndConfig(
      workflowTypeOrFunc,
      startOptions.typeInfo,
    );
    const { workflowId } = startOptions;
    const interceptors = this.getOrMakeInterceptors(workflowId);
    let started: WorkflowUpdateHandle<Ret> | undefined;
    const send = through(
      interceptors,
      "startUpdateWithStart",
      async (input: WorkflowStartUpdateWithStartInput) => {
        try {
          const answer = await this.#sendUpdateWithStart(input, waitFor);
          begun.resolve(makeWorkflowHandle<T>(this, {
            workflowId,
            firstExecutionRunId: answer.workflow.runId,
            interceptors,
            followRuns: startOptions.followRuns,
            typeInfo,
          }));
          const { updateId, runId = "" } = answer.update;
          started = makeUpdateHandle<Ret>(this, answer.update, workflowId);
          return {
            workflowExecution: { workflowId, runId },
            updateId,
            updateOutputTypeInfo: input.updateTypeInfo?.outputType,
          };
        } catch (error) {
          begun.reject(error);
          throw error;
        }
      },
    );
    const output = await send({
      workflowType: type,
      workflowStartOptions: compiled(startOptions, typeInfo),
      workflowStartHeaders: {},
      updateName: message.name,
      updateArgs: args,
      updateTypeInfo: message.typeInfo,
      updateOptions,
      updateHeaders: {},
    });
    return started ?? this.getHandle(workflowId).getUpdateHandle<Ret>(output.updateId);
  }

  /** @internal Overridden by clients of a server with skippable time. */
  whileUpdateIsAwaited<T>(
    _workflowId: string,
    _updateId: string,
    work: () => Promise<T>,
    _name?: string,
  ): Promise<T> {
    return work();
  }

  #sendUpdateWithStart(
    input: WorkflowStartUpdateWithStartInput,
    waitFor: "accepted" | "completed",
  ) {
    const { workflowStartOptions, workflowType, updateTypeInfo } = input;
    const { workflowId } = workflowStartOptions;
    const { payloadConverter } = this.dataConverter;
    const context = this.operationContext(this.workflowSerializationContext(workflowId), {
      outputType: updateTypeInfo?.outputType,
      headers: input.workflowStartHeaders,
      otherHeaders: input.updateHeaders,
    });
    const concern = { fallback: "Update-With-Start failed", workflowType, workflowId };
    return refusing(
      this,
      () => {
        const updateId = input.updateOptions.updateId ?? randomId();
        const given = {
          ...nativeStart(workflowStartOptions, payloadConverter),
          update: input.updateName,
          updateArgs: typedArgs(input.updateArgs, updateTypeInfo?.inputTypes, payloadConverter),
          updateId,
          waitFor,
        };
        const send = () => updateWithStart(context, workflowType, given, this.callSettings());
        return this.whileUpdateIsAwaited(workflowId, updateId, send, input.updateName);
      },
      concern,
      officialUpdateError,
    );
  }

  /**
   * Waits for the result of a workflow. Throws a WorkflowFailedError with the reason in `cause`.
   */
  async result<T extends Workflow>(
    workflowId: string,
    runId?: string,
    opts: WorkflowResultOptions = {},
  ): Promise<WorkflowResultType<T>> {
    const context = this.operationContext(this.workflowSerializationContext(workflowId), {
      outputType: opts.typeInfo?.outputType,
    });
    const handle = new NativeHandle(context, workflowId, { runId });
    return await refusing(
      this,
      () => handle.result({ followRuns: opts.followRuns ?? true, ...this.callSettings() }),
      { fallback: "Failed to get Workflow execution history", workflowId, runId },
      officialOutcome,
    ) as WorkflowResultType<T>;
  }

  /** Returns a handle for a workflow without a request. */
  getHandle<T extends Workflow>(
    workflowId: string,
    runId?: string,
    options: GetWorkflowHandleOptions = {},
  ): WorkflowHandle<T> {
    return makeWorkflowHandle<T>(this, {
      workflowId,
      runId,
      firstExecutionRunId: options.firstExecutionRunId,
      runIdForResult: runId ?? options.firstExecutionRunId,
      interceptors: this.getOrMakeInterceptors(workflowId, runId),
      followRuns: options.followRuns,
      typeInfo: options.typeInfo,
    });
  }

  async *#list(
    { query = "", pageSize = 0 }: ListOptions,
  ): AsyncGenerator<WorkflowExecutionInfo, void, void> {
    const { namespace } = this.options;
    const { calls } = this.operationContext();
    let nextPageToken: Uint8Array = new Uint8Array(0);
    do {
      const request = { namespace, query, pageSize, nextPageToken };
      const page = await refusing(
        this,
        () =>
          calls.call(
            "listWorkflowExecutions",
            request,
            new Deadline(this.callSettings()),
            undefined,
            { asStored: true },
          ),
        { fallback: "Failed to list workflows" },
      );
      for (const execution of page.executions) {
        const raw = toPlain(WorkflowExecutionInfoSchema, execution);
        const decoded = await this.decoded(WorkflowExecutionInfoSchema, raw);
        yield executionInfo(decoded, this.dataConverter, raw, namespace);
      }
      nextPageToken = page.nextPageToken;
    } while (nextPageToken.length > 0);
  }

  /** Lists the runs of a query. */
  list(options: ListOptions = {}): AsyncWorkflowListIterable {
    return {
      [Symbol.asyncIterator]: () => this.#list(options),
      intoHistories: ({ concurrency = 5 } = {}) =>
        intoHistories(
          this.#list(options),
          async ({ workflowId, runId }) => ({
            workflowId,
            history: await this.getHandle(workflowId, runId).fetchHistory() as unknown,
          }),
          concurrency,
        ),
    };
  }

  /** Counts the runs of a query. */
  async count(query = ""): Promise<CountWorkflowExecution> {
    const { namespace } = this.options;
    const { calls } = this.operationContext();
    const response = await refusing(
      this,
      () =>
        calls.call(
          "countWorkflowExecutions",
          { namespace, query },
          new Deadline(this.callSettings()),
        ),
      { fallback: "Failed to count workflows" },
    );
    return decodeCount(toPlain(CountWorkflowExecutionsResponseSchema, response));
  }
}
