// The client: starts workflows, finds them, and completes activities from outside. It uses only a
// RawService, so the same code works with the embedded engine and with a Temporal cluster.
import { checkPageSize } from "../base/number_ranges.ts";
import {
  type OptionNames,
  rejectMisspelledOptions,
  rejectUnknownOptions,
} from "../base/option_names.ts";
import { checkOptions, needsOption } from "../base/option_kinds.ts";
import { CLIENT_OPTIONS } from "./option_kinds.ts";
import type { CodecOptions } from "../codec/codec.ts";
import type { Duration } from "../converter/duration.ts";
import { MessageCodec } from "../codec/message_codec.ts";
import { defaultPayloadConverter, type PayloadConverter } from "../converter/payload.ts";
import { consoleLogger, processIdentity } from "../platform/host.ts";
import { withCodec } from "../codec/coded_service.ts";
import { DEFAULT_PAYLOAD_LIMITS, type PayloadLimits } from "../service/limits.ts";
import { containedLogger, containedMetrics } from "../base/contained.ts";
import type { Logger } from "../base/logger.ts";
import { metered } from "../service/metered.ts";
import type { Metrics } from "../base/metrics.ts";
import type { RawService } from "../service/raw.ts";
import { DEFAULT_RETRY, type RetryOptions } from "../service/retry.ts";
import {
  CALL_SETTINGS,
  CALL_TIMEOUT_MS,
  Calls,
  type CallSettings,
  checkSettings,
  Deadline,
} from "./calls.ts";
import {
  type ActivityAddress,
  completeActivity,
  failActivity,
  heartbeatActivity,
  reportCancellation,
} from "./activity_completion.ts";
import type { SubscriptionFilter } from "../converter/subscriptions.ts";
import { sendBroadcast } from "./broadcast.ts";
import { deadlineOf, nameError } from "./context.ts";
import type {
  AnyWorkflow,
  ArgsOption,
  IdOption,
  Named,
  Signal,
  WorkflowArgs,
  WorkflowResult,
} from "./definitions.ts";
import { toSummary, type WorkflowStatus, type WorkflowSummary } from "./descriptions.ts";
import { byStatus, statusCounts, toCount, type WorkflowCount } from "./counts.ts";
import { WorkflowHandle } from "./handle.ts";
import {
  checkInterceptors,
  type ClientInterceptor,
  intercept,
  type OperationContext,
  type StartedWorkflow,
  type WorkflowPage,
} from "./interceptors.ts";
import type { ListInput } from "./operation_inputs.ts";
import type { WorkflowOptions } from "./options.ts";
import { PROCEDURE_ADDRESS, type ProcedureAddress, whichOf } from "./procedures.ts";
import { SyncMessageCodec } from "../codec/sync_codec.ts";
import { type TransactionTransport, TransactionWorkflows } from "./transaction_workflows.ts";
import { type AppFunction, callFunction, type FunctionArgs } from "./functions.ts";
import type { UpdateHandle } from "./updates.ts";
import { ActivityClient } from "./activities/activity_client.ts";
import { ScheduleClient } from "./schedules/schedule_client.ts";
import { signalWithStart, startRun } from "./starts.ts";
import type { WorkflowSelection } from "./belonging.ts";
import { WorkflowSet } from "./workflow_set.ts";
import {
  type StartUpdateWithStartOptions,
  type UpdateWithStart,
  updateWithStart,
  type UpdateWithStartOptions,
} from "./update_with_start.ts";

/** Options of a {@link Client}. */
export interface ClientOptions extends CodecOptions {
  /** An EmbeddedEngine, or a connection to a cluster. */
  service: RawService;
  /** Default: "default". */
  namespace?: string;
  /** Converts values to payloads; must match the workers' converter. Default: JSON. */
  converter?: PayloadConverter;
  /** Identity in histories. Default: the process id and a random part. */
  identity?: string;
  /** Default task queue of starts. */
  taskQueue?: string;
  /** Deadline of calls that do not wait for a result. Default: 10 s, 30 s for queries. */
  timeout?: Duration;
  /** Retries while the service is unavailable. */
  retry?: Partial<RetryOptions>;
  /** Payload sizes that cause a warning or an error. */
  payloadLimits?: Partial<PayloadLimits>;
  /**
   * Code around the client's operations, the first one outermost: tracing, default options,
   * headers. See {@link ClientInterceptor}.
   */
  interceptors?: readonly ClientInterceptor[];
  /** Reports metrics of calls to the service: a `MetricsRegistry`. Default: no metrics. */
  metrics?: Metrics;
  /** Receives warnings, such as payloads near the limit. Default: lines on standard error. */
  logger?: Logger;
}

/** Options of `client.start`. */
export type StartOptions<W extends AnyWorkflow> =
  & Omit<WorkflowOptions, "id">
  & IdOption<W>
  & CallSettings
  & ArgsOption<WorkflowArgs<W>>;

/** Options of `client.signalWithStart`; `signal` is the message. */
export type SignalWithStartOptions<W extends AnyWorkflow, A extends unknown[]> =
  & Omit<WorkflowOptions, "id">
  & IdOption<W>
  & Pick<CallSettings, "timeout">
  & ArgsOption<WorkflowArgs<W>>
  & { signal: Signal<A> | string }
  & ([] extends A ? { signalArgs?: NoInfer<A> } : { signalArgs: NoInfer<A> });

/** Options of `client.list`. */
export interface ListOptions extends CallSettings {
  /** Runs per request. */
  pageSize?: number;
}

const LIST_OPTIONS: OptionNames<ListOptions> = { pageSize: 1, ...CALL_SETTINGS };
const SELECTION: OptionNames<WorkflowSelection> = { entityId: 1, correlationId: 1, workflow: 1 };

/**
 * Starts workflows, finds them, and creates handles for them. Works with any {@link RawService}: an
 * engine, or a cluster.
 *
 * @example
 * const client = new Client({ service: engine, taskQueue: "orders" });
 * const handle = await client.start(order, { id: "order-1", args: [items] });
 */
export class Client {
  /** Namespace of all calls. */
  readonly namespace: string;
  /** Identity in histories. */
  readonly identity: string;
  /** Activities without a workflow. */
  readonly activity: ActivityClient;
  /** Schedules: workflows started by the service at given times. */
  readonly schedule: ScheduleClient;
  readonly #context: OperationContext;
  readonly #codecs: CodecOptions;
  readonly #service: RawService;
  #syncCodec: { readonly codec: SyncMessageCodec | undefined } | undefined;

  /**
   * Throws a TypeError for an unknown option, a wrong type, and an interceptor with a misspelled
   * method.
   */
  constructor(options: ClientOptions) {
    checkOptions("Client", options, CLIENT_OPTIONS);
    needsOption("Client", "service", { ...options }, CLIENT_OPTIONS);
    checkInterceptors(options.interceptors ?? []);
    this.namespace = options.namespace ?? "default";
    this.identity = options.identity ?? processIdentity();
    const logger = containedLogger(options.logger ?? consoleLogger());
    const limits = { ...DEFAULT_PAYLOAD_LIMITS, ...options.payloadLimits };
    const codec = MessageCodec.of(options);
    const plain = metered(options.service, options.metrics && containedMetrics(options.metrics), {
      namespace: this.namespace,
    });
    const service = codec === undefined ? plain : withCodec(plain, codec, { limits, logger });
    this.#context = {
      calls: new Calls(service, { ...DEFAULT_RETRY, ...options.retry }),
      namespace: this.namespace,
      identity: this.identity,
      converter: options.converter ?? defaultPayloadConverter,
      codec,
      limits: service.checksPayloads ? undefined : limits,
      logger,
      defaultTaskQueue: options.taskQueue,
      defaultTimeout: options.timeout,
      interceptors: [...options.interceptors ?? []],
    };
    this.#codecs = options;
    this.#service = options.service;
    this.activity = new ActivityClient(this.#context);
    this.schedule = new ScheduleClient(this.#context);
  }

  /**
   * @internal The messages of a transaction. Throws a TypeError if the codec is only asynchronous.
   */
  workflowsIn(transport: TransactionTransport): TransactionWorkflows {
    this.#syncCodec ??= { codec: SyncMessageCodec.of(this.#codecs, "transactions") };
    return TransactionWorkflows.createWithin(this.#context, this.#syncCodec.codec, transport);
  }

  /**
   * Starts a workflow. Returns when the service has recorded the start. Throws
   * WorkflowExecutionAlreadyStartedError if the id is in use (see `idConflictPolicy` and
   * `idReusePolicy`). With an id that the workflow derives (`workflow(name, { id })`), a duplicate
   * start returns the open run; an `id` in the options takes precedence.
   */
  async start<W extends AnyWorkflow>(
    workflow: W,
    options: StartOptions<W>,
  ): Promise<WorkflowHandle<Named<W>>> {
    const { timeout, signal, ...given } = (options ?? {}) as StartOptions<string>; // without any: the id is what is missed
    return this.#started(
      await startRun(this.#context, workflow, given, this.#deadline({ timeout, signal })),
    );
  }

  /**
   * Starts a workflow and waits for its result. Throws like `start` and `handle.result`; `timeout`
   * limits only the start.
   */
  async execute<W extends AnyWorkflow>(
    workflow: W,
    options: StartOptions<W>,
  ): Promise<WorkflowResult<W>> {
    const handle = await this.start<string>(workflow as string, options as StartOptions<string>);
    return await handle.result({ signal: options.signal }) as WorkflowResult<W>;
  }

  /** Signals a workflow and starts it first if it is not running, in one atomic call. */
  async signalWithStart<W extends AnyWorkflow, A extends unknown[] = unknown[]>(
    workflow: W,
    options: SignalWithStartOptions<W, A>,
  ): Promise<WorkflowHandle<Named<W>>> {
    const { timeout, ...given } = options as unknown as SignalWithStartOptions<string, unknown[]>;
    return this.#started(
      await signalWithStart(this.#context, workflow, given, this.#deadline({ timeout })),
    );
  }

  /**
   * Sends an update to a workflow and starts it first if it is not running, in one atomic call.
   * Returns once the update is accepted or completed. Throws WorkflowExecutionAlreadyStartedError
   * if the id is in use (`idConflictPolicy: "FAIL"`, or a reuse policy); nothing has happened then.
   * If the update is rejected, `update.result()` throws, and the workflow runs nevertheless. Not
   * supported by the embedded engine.
   *
   * @example
   * const { workflow, update } = await client.startUpdateWithStart(cart, {
   *   id: "cart-1", args: [customer], update: addItem, updateArgs: [item], waitFor: "accepted",
   * });
   */
  async startUpdateWithStart<W extends AnyWorkflow, A extends unknown[] = unknown[], R = unknown>(
    workflow: W,
    options: StartUpdateWithStartOptions<W, A, R>,
  ): Promise<UpdateWithStart<Named<W>, R>> {
    const { timeout, signal, ...given } = options as unknown as StartUpdateWithStartOptions<
      string,
      unknown[],
      R
    >;
    const done = await updateWithStart(this.#context, workflow, given, { timeout, signal });
    return { workflow: this.#started(done.workflow), update: done.update as UpdateHandle<R> };
  }

  /**
   * Sends an update to a workflow, which is started first if it is not running, and waits for the
   * update's result. Throws like `startUpdateWithStart`, and like `UpdateHandle.result` if the
   * update was rejected or has failed.
   */
  async executeUpdateWithStart<W extends AnyWorkflow, A extends unknown[] = unknown[], R = unknown>(
    workflow: W,
    options: UpdateWithStartOptions<W, A, R>,
  ): Promise<R> {
    const { timeout, signal, ...given } = options as unknown as UpdateWithStartOptions<
      string,
      unknown[],
      R
    >;
    const deadline = new Deadline({ timeout, signal });
    const { update } = await updateWithStart(this.#context, workflow, {
      ...given,
      waitFor: "completed",
    }, { timeout, signal });
    const remaining = deadline.remaining();
    return await update.result({
      signal,
      timeout: remaining === Infinity ? undefined : remaining,
    }) as R;
  }

  /**
   * Returns a handle without a request. With a run id, calls go to that run, otherwise to the
   * current one.
   */
  getHandle<W extends AnyWorkflow = string>(
    workflow: W | undefined,
    workflowId: string,
    runId?: string,
  ): WorkflowHandle<Named<W>> {
    if (typeof workflowId !== "string" || workflowId === "") {
      const given = typeof workflow === "string"
        ? JSON.stringify(workflow)
        : workflow === undefined
        ? "undefined"
        : "a definition";
      const id = typeof workflow === "string" && workflowId === undefined ? given : '"order-1"';
      throw new TypeError(
        `getHandle needs the workflow (definition, type name or undefined) and then the id, but received ` +
          `${given} and ${
            workflowId === undefined ? "no id" : JSON.stringify(workflowId)
          }; write getHandle(order, ${id}) or getHandle(undefined, ${id})`,
      );
    }
    return this.#handle(workflowId, { runId, pinned: true });
  }

  /**
   * Lists the runs of a visibility query (all without one), such as `ExecutionStatus = "Running"
   * AND WorkflowType = "Order"`.
   */
  async *list(query = "", options: ListOptions = {}): AsyncGenerator<WorkflowSummary, void, void> {
    rejectUnknownOptions("list", options, LIST_OPTIONS);
    checkPageSize(options.pageSize);
    const { calls, converter } = this.#context;
    let nextPageToken: Uint8Array = new Uint8Array(0);
    do {
      const input: ListInput = { query, pageSize: options.pageSize ?? 0, nextPageToken };
      const page: WorkflowPage = await intercept(this.#context, "list", input, async (asked) => {
        const request = { namespace: this.namespace, ...asked };
        const answer = await this.#named(
          "the list of workflows",
          calls.call("listWorkflowExecutions", request, this.#deadline(options)),
        );
        return {
          runs: answer.executions.map((info) => toSummary(info, converter)),
          nextPageToken: answer.nextPageToken,
        };
      });
      yield* page.runs;
      nextPageToken = page.nextPageToken;
    } while (nextPageToken.length > 0);
  }

  /**
   * Selects workflows by entity, correlation or type: to list them, or to cancel, signal or
   * terminate all that run.
   *
   * @example
   * await client.start(dot, { id: `dot-${target}`, args: [target], entityId: target, correlationId: spell });
   * await client.workflows({ correlationId: spell }).cancel("dispelled");
   */
  workflows(selection: WorkflowSelection): WorkflowSet {
    rejectUnknownOptions("workflows", selection, SELECTION);
    const handle = (workflowId: string, runId: string) =>
      this.getHandle(undefined, workflowId, runId);
    return new WorkflowSet({
      list: (...of) => this.list(...of),
      count: (...of) => this.count(...of),
      handle,
    }, selection);
  }

  /**
   * Signals all workflows that have subscribed to the signal (`subscribe`). With a filter, reaches
   * subscriptions with the same filter or without one; without a filter (undefined), all of them.
   * Returns the number of workflows reached. On the embedded engine this is one transaction that
   * reaches exactly the subscriptions committed before; on a cluster, workflows are listed and
   * signaled one by one. Throws a {@link BroadcastIncompleteError} with the workflows that did not
   * receive the signal.
   *
   * @example
   * const reached = await client.broadcast(quest.enemyKilled, "orc", { by: "ada" });
   */
  async broadcast<A extends unknown[] = unknown[]>(
    signal: Signal<A> | string,
    filter: SubscriptionFilter | undefined,
    ...args: NoInfer<A>
  ): Promise<number> {
    return await this.broadcastWithin({}, signal as string, filter, args);
  }

  /** @internal `broadcast` with a deadline. */
  async broadcastWithin(
    settings: CallSettings,
    signal: string,
    filter: SubscriptionFilter | undefined,
    args: readonly unknown[],
  ): Promise<number> {
    return await sendBroadcast(this.#context, signal, filter, args, this.#deadline(settings));
  }

  /**
   * Runs a function of the application (`open({ functions })`) in the process that has the engine,
   * in one transaction, and resolves with its result after the commit. Works from other processes
   * and tabs. Rejects with a FunctionFailedError if the function throws, and with a ServiceError if
   * it is unknown (NOT_FOUND) or the service is a cluster (UNIMPLEMENTED). Calls are not repeated:
   * after a DeadlineExceededError or UNAVAILABLE the function may have run.
   *
   * @example
   * import type { damageNpc } from "./functions.ts"; // (db: Transaction, id: string, amount: number) => number
   * const hp = await client.call<typeof damageNpc>("damageNpc", "npc-7", 10);
   */
  async call<F extends AppFunction = AppFunction>(
    name: string,
    ...args: FunctionArgs<F>
  ): Promise<ReturnType<F>> {
    return await callFunction(this.#context, this.#service, name, args) as ReturnType<F>;
  }

  /** Counts the runs of a visibility query (all without one). */
  async count(query = "", settings: CallSettings = {}): Promise<number> {
    return (await this.countGroups(query, settings)).count;
  }

  /**
   * Same as `count`, with the groups of a query such as `WorkflowType = "Order" GROUP BY
   * ExecutionStatus`.
   */
  async countGroups(query = "", settings: CallSettings = {}): Promise<WorkflowCount> {
    checkSettings("the count of workflows", settings);
    const { calls, converter } = this.#context;
    return await intercept(this.#context, "count", { query }, async (asked) => {
      const request = { namespace: this.namespace, query: asked.query };
      const call = calls.call("countWorkflowExecutions", request, this.#deadline(settings));
      return toCount(await this.#named("the count of workflows", call), converter);
    });
  }

  /**
   * Counts the runs of a visibility query by status: `{ RUNNING: 3, COMPLETED: 120 }`. Leaves out
   * statuses without runs.
   */
  async countByStatus(
    query = "",
    settings: CallSettings = {},
  ): Promise<{ [status in WorkflowStatus]?: number }> {
    return statusCounts(await this.countGroups(byStatus(query), settings));
  }

  /**
   * Completes an activity that called `completeAsync()`. A second completion throws
   * ActivityNotFoundError.
   */
  completeActivity(
    address: ActivityAddress,
    result?: unknown,
    settings: CallSettings = {},
  ): Promise<void> {
    return completeActivity(this.#context, address, result, settings);
  }

  /** Fails an activity from outside; its retry policy applies. */
  failActivity(
    address: ActivityAddress,
    error: unknown,
    settings: CallSettings = {},
  ): Promise<void> {
    return failActivity(this.#context, address, error, settings);
  }

  /**
   * Records a heartbeat of an activity. Throws ActivityCancelledError if the activity is canceled.
   */
  heartbeatActivity(
    address: ActivityAddress,
    details?: unknown,
    settings: CallSettings = {},
  ): Promise<void> {
    return heartbeatActivity(
      this.#context,
      address,
      details === undefined ? [] : [details],
      settings,
    );
  }

  /** Reports an activity as canceled. */
  reportCancellation(
    address: ActivityAddress,
    details?: unknown,
    settings: CallSettings = {},
  ): Promise<void> {
    return reportCancellation(
      this.#context,
      address,
      details === undefined ? [] : [details],
      settings,
    );
  }

  /**
   * Completes a procedure of a workflow with a result; returns the procedure's id. By definition or
   * name, selects the oldest pending one; or by id. Throws a ProcedureNotFoundError if it is not
   * pending, and a WorkflowNotFoundError.
   *
   * @example
   * await client.completeProcedure({ workflow: "fight-1", name: game.computeDamage }, 12);
   */
  completeProcedure<R = unknown>(
    address: ProcedureAddress<R>,
    value?: NoInfer<R>,
    settings: CallSettings = {},
  ): Promise<string> {
    return this.#procedureOf(address, settings).completeProcedure(whichOf(address), value);
  }

  /**
   * Fails a procedure, selected as in `completeProcedure`: the workflow receives an ActivityFailure
   * with `error` as its cause.
   */
  failProcedure(
    address: ProcedureAddress<unknown>,
    error: unknown,
    settings: CallSettings = {},
  ): Promise<string> {
    return this.#procedureOf(address, settings).failProcedure(whichOf(address), error);
  }

  #procedureOf(address: ProcedureAddress<unknown>, settings: CallSettings): WorkflowHandle {
    rejectMisspelledOptions("the address of a procedure", address, PROCEDURE_ADDRESS);
    checkSettings("the result of a procedure", settings);
    const { workflow, runId } = address;
    return this.getHandle(undefined, workflow, runId).with(settings) as WorkflowHandle;
  }

  #deadline(settings: CallSettings): Deadline {
    return deadlineOf(this.#context, settings, CALL_TIMEOUT_MS);
  }

  #started<W extends AnyWorkflow>(
    { workflowId, runId, firstExecutionRunId }: StartedWorkflow,
  ): WorkflowHandle<W> {
    return this.#handle(workflowId, { runId, firstExecutionRunId });
  }

  #handle<W extends AnyWorkflow>(
    workflowId: string,
    ids: ConstructorParameters<typeof WorkflowHandle>[2],
  ): WorkflowHandle<W> {
    return new WorkflowHandle<W>(this.#context, workflowId, ids);
  }

  async #named<T>(what: string, call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw nameError(this.#context, error, { what });
    }
  }
}
