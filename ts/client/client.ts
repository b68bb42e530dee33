// The client: starts workflows, finds them, and completes activities from outside. It stands on a RawService alone, so the same code
// talks to the embedded engine in this process and to a Temporal cluster.
import { type OptionNames, rejectMisspelledOptions, rejectUnknownOptions } from "../base/option_names.ts";
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
import { CALL_SETTINGS, CALL_TIMEOUT_MS, Calls, type CallSettings, checkSettings, Deadline } from "./calls.ts";
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
import type { AnyWorkflow, ArgsOption, Named, Signal, WorkflowArgs, WorkflowResult } from "./definitions.ts";
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
import { type ProcedureAddress, whichOf } from "./procedures.ts";
import type { UpdateHandle } from "./updates.ts";
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
  /** How values become payloads; must be the workers' one. Default: JSON. */
  converter?: PayloadConverter;
  /** Who calls, as histories show it. Default: the process id and a random part. */
  identity?: string;
  /** Queue of workflows whose start names none. */
  taskQueue?: string;
  /** Deadline of calls that do not wait for a result. Default: 10 s, 30 s for queries. */
  timeout?: Duration;
  /** Attempts while the service is unavailable. */
  retry?: Partial<RetryOptions>;
  /** Sizes of payloads that are warned of and refused. */
  payloadLimits?: Partial<PayloadLimits>;
  /** Code around its operations, the first one outermost: tracing, default options, headers. See {@link ClientInterceptor}. */
  interceptors?: readonly ClientInterceptor[];
  /** Where calls to the service are reported: a `MetricsRegistry`. Default: nothing is measured. */
  metrics?: Metrics;
  /** Told of warnings, such as payloads near the limit. Default: lines on standard error. */
  logger?: Logger;
}

/** Options of `client.start`. */
export type StartOptions<W extends AnyWorkflow> = WorkflowOptions & CallSettings & ArgsOption<WorkflowArgs<W>>;

/** Options of `client.signalWithStart`; `signal` is the message. */
export type SignalWithStartOptions<W extends AnyWorkflow, A extends unknown[]> =
  & WorkflowOptions
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
const PROCEDURE_ADDRESS: OptionNames<ProcedureAddress<unknown>> = { workflow: 1, runId: 1, name: 1, id: 1 };

/**
 * Starts workflows, finds them, and hands out handles to talk to them. Stands on any {@link RawService}: an engine, or a cluster.
 *
 * @example
 * const client = new Client({ service: engine, taskQueue: "orders" });
 * const handle = await client.start(order, { id: "order-1", args: [items] });
 */
export class Client {
  /** The namespace of all its calls. */
  readonly namespace: string;
  /** Who calls, as histories show it. */
  readonly identity: string;
  /** Schedules: workflows that a cluster starts by itself at given times. */
  readonly schedule: ScheduleClient;
  readonly #context: OperationContext;

  /** Throws a TypeError for an unknown option, one of a wrong type, and an interceptor with a misspelled method. */
  constructor(options: ClientOptions) {
    checkOptions("Client", options, CLIENT_OPTIONS);
    needsOption("Client", "service", { ...options }, CLIENT_OPTIONS);
    checkInterceptors(options.interceptors ?? []);
    this.namespace = options.namespace ?? "default";
    this.identity = options.identity ?? processIdentity();
    const logger = containedLogger(options.logger ?? consoleLogger());
    const limits = { ...DEFAULT_PAYLOAD_LIMITS, ...options.payloadLimits };
    const codec = MessageCodec.of(options);
    const plain = metered(options.service, options.metrics && containedMetrics(options.metrics), { namespace: this.namespace });
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
    this.schedule = new ScheduleClient(this.#context);
  }

  /**
   * Starts a workflow. Returns when the service has recorded the start.
   * Throws WorkflowExecutionAlreadyStartedError when its id is taken (see `idConflictPolicy` and `idReusePolicy`).
   */
  async start<W extends AnyWorkflow>(workflow: W, options: StartOptions<W>): Promise<WorkflowHandle<Named<W>>> {
    const { timeout, signal, ...given } = (options ?? {}) as StartOptions<string>; // without any: the id is what is missed
    return this.#started(await startRun(this.#context, workflow, given, this.#deadline({ timeout, signal })));
  }

  /** Starts a workflow and waits for its result. Throws as `start` and `handle.result`; `timeout` bounds the start only. */
  async execute<W extends AnyWorkflow>(workflow: W, options: StartOptions<W>): Promise<WorkflowResult<W>> {
    const handle = await this.start<string>(workflow as string, options as StartOptions<string>);
    return await handle.result({ signal: options.signal }) as WorkflowResult<W>;
  }

  /** Signals a workflow, and starts it first where it is not running, in one step. */
  async signalWithStart<W extends AnyWorkflow, A extends unknown[] = unknown[]>(
    workflow: W,
    options: SignalWithStartOptions<W, A>,
  ): Promise<WorkflowHandle<Named<W>>> {
    const { timeout, ...given } = options as unknown as SignalWithStartOptions<string, unknown[]>;
    return this.#started(await signalWithStart(this.#context, workflow, given, this.#deadline({ timeout })));
  }

  /**
   * Sends an update to a workflow, which is started first where it is not running, in one step; answers both once the update is accepted
   * or completed. Throws WorkflowExecutionAlreadyStartedError when the id is taken (`idConflictPolicy: "FAIL"`, or a reuse policy);
   * nothing has happened then. A rejected update is told by `update.result()`; the workflow runs nevertheless. The embedded engine
   * has no such call and says so.
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
    const { timeout, signal, ...given } = options as unknown as StartUpdateWithStartOptions<string, unknown[], R>;
    const done = await updateWithStart(this.#context, workflow, given, { timeout, signal });
    return { workflow: this.#started(done.workflow), update: done.update as UpdateHandle<R> };
  }

  /**
   * Sends an update to a workflow, which is started first where it is not running, in one step; waits for the update's answer. Throws as
   * `startUpdateWithStart`, and as `UpdateHandle.result` when the update was rejected or has failed.
   */
  async executeUpdateWithStart<W extends AnyWorkflow, A extends unknown[] = unknown[], R = unknown>(
    workflow: W,
    options: UpdateWithStartOptions<W, A, R>,
  ): Promise<R> {
    const { timeout, signal, ...given } = options as unknown as UpdateWithStartOptions<string, unknown[], R>;
    const deadline = new Deadline({ timeout, signal });
    const { update } = await updateWithStart(this.#context, workflow, { ...given, waitFor: "completed" }, { timeout, signal });
    const remaining = deadline.remaining();
    return await update.result({ signal, timeout: remaining === Infinity ? undefined : remaining }) as R;
  }

  /** A workflow by its id; asks nothing of the service. With a run id it means that run, otherwise the current one. */
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

  /** The runs that a visibility query selects (all without one), for instance `ExecutionStatus = "Running" AND WorkflowType = "Order"`. */
  async *list(query = "", options: ListOptions = {}): AsyncGenerator<WorkflowSummary, void, void> {
    rejectUnknownOptions("list", options, LIST_OPTIONS);
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
        return { runs: answer.executions.map((info) => toSummary(info, converter)), nextPageToken: answer.nextPageToken };
      });
      yield* page.runs;
      nextPageToken = page.nextPageToken;
    } while (nextPageToken.length > 0);
  }

  /**
   * Workflows that belong together, by entity, correlation or type: to list them, or to cancel, signal or terminate all that run.
   *
   * @example
   * await client.start(dot, { id: `dot-${target}`, args: [target], entityId: target, correlationId: spell });
   * await client.workflows({ correlationId: spell }).cancel("dispelled");
   */
  workflows(selection: WorkflowSelection): WorkflowSet {
    rejectUnknownOptions("workflows", selection, SELECTION);
    const handle = (workflowId: string, runId: string) => this.getHandle(undefined, workflowId, runId);
    return new WorkflowSet({ list: (...of) => this.list(...of), count: (...of) => this.count(...of), handle }, selection);
  }

  /**
   * Sends a signal to all workflows that have subscribed to it (`subscribe`): with a filter to those with the same filter and those without
   * one, without a filter (undefined) to all of them. Returns how many were reached. On the embedded engine it is one transaction, and
   * reaches exactly the subscriptions that were committed before; on a cluster the workflows are listed and signalled one by one.
   * Throws a {@link BroadcastIncompleteError} where some did not take it, with who they are; the others have it.
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

  /** How many runs a visibility query selects (all without one). */
  async count(query = "", settings: CallSettings = {}): Promise<number> {
    return (await this.countGroups(query, settings)).count;
  }

  /** As `count`, with the groups of a query such as `WorkflowType = "Order" GROUP BY ExecutionStatus`. */
  async countGroups(query = "", settings: CallSettings = {}): Promise<WorkflowCount> {
    checkSettings("the count of workflows", settings);
    const { calls, converter } = this.#context;
    return await intercept(this.#context, "count", { query }, async (asked) => {
      const request = { namespace: this.namespace, query: asked.query };
      const call = calls.call("countWorkflowExecutions", request, this.#deadline(settings));
      return toCount(await this.#named("the count of workflows", call), converter);
    });
  }

  /** How many runs a visibility query selects in each status: `{ RUNNING: 3, COMPLETED: 120 }`. Statuses without runs are left out. */
  async countByStatus(query = "", settings: CallSettings = {}): Promise<{ [status in WorkflowStatus]?: number }> {
    return statusCounts(await this.countGroups(byStatus(query), settings));
  }

  /** Completes an activity that said `completeAsync()`. Accepted once: a second completion throws ActivityNotFoundError. */
  completeActivity(address: ActivityAddress, result?: unknown, settings: CallSettings = {}): Promise<void> {
    return completeActivity(this.#context, address, result, settings);
  }

  /** Fails an activity from outside; its retry policy decides what follows. */
  failActivity(address: ActivityAddress, error: unknown, settings: CallSettings = {}): Promise<void> {
    return failActivity(this.#context, address, error, settings);
  }

  /** Says that an activity is alive, and how far it is. Throws ActivityCancelledError when it is to stop. */
  heartbeatActivity(address: ActivityAddress, details?: unknown, settings: CallSettings = {}): Promise<void> {
    return heartbeatActivity(this.#context, address, details === undefined ? [] : [details], settings);
  }

  /** Says that an activity has stopped because it was cancelled. */
  reportCancellation(address: ActivityAddress, details?: unknown, settings: CallSettings = {}): Promise<void> {
    return reportCancellation(this.#context, address, details === undefined ? [] : [details], settings);
  }

  /**
   * Gives a procedure of a workflow its result; answers the procedure's id. By its definition or name, of several that are open the oldest; or
   * by its id. Throws a ProcedureNotFoundError when it is not open, a WorkflowNotFoundError.
   *
   * @example
   * await client.completeProcedure({ workflow: "fight-1", name: game.computeDamage }, 12);
   */
  completeProcedure<R = unknown>(address: ProcedureAddress<R>, value?: NoInfer<R>, settings: CallSettings = {}): Promise<string> {
    return this.#procedureOf(address, settings).completeProcedure(whichOf(address), value);
  }

  /** Fails a procedure, as `completeProcedure`: the workflow gets an ActivityFailure with `error` as its cause. */
  failProcedure(address: ProcedureAddress<unknown>, error: unknown, settings: CallSettings = {}): Promise<string> {
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

  #started<W extends AnyWorkflow>({ workflowId, runId, firstExecutionRunId }: StartedWorkflow): WorkflowHandle<W> {
    return this.#handle(workflowId, { runId, firstExecutionRunId });
  }

  #handle<W extends AnyWorkflow>(workflowId: string, ids: ConstructorParameters<typeof WorkflowHandle>[2]): WorkflowHandle<W> {
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
