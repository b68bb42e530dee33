// The client: starts workflows, finds them, and completes activities from outside. It stands on a RawService alone, so the same code
// talks to the embedded engine in this process and to a Temporal cluster.
import type { CodecOptions } from "../codec/codec.ts";
import type { Duration } from "../converter/duration.ts";
import { MessageCodec } from "../codec/message_codec.ts";
import { defaultPayloadConverter, type PayloadConverter } from "../converter/payload.ts";
import { consoleLogger, processIdentity } from "../platform/host.ts";
import { withCodec } from "../codec/coded_service.ts";
import { DEFAULT_PAYLOAD_LIMITS, type PayloadLimits } from "../service/limits.ts";
import type { Logger } from "../service/logger.ts";
import { Code, type RawService, ServiceError } from "../service/raw.ts";
import { DEFAULT_RETRY, type RetryOptions } from "../service/retry.ts";
import { CALL_TIMEOUT_MS, Calls, type CallSettings, type Deadline } from "./calls.ts";
import {
  type ActivityAddress,
  completeActivity,
  failActivity,
  heartbeatActivity,
  reportCancellation,
} from "./activity_completion.ts";
import { type ClientContext, deadlineOf, encodeArgs, nameError } from "./context.ts";
import type { AnyDefinition, AnyWorkflow, ArgsOption, Signal, WorkflowArgs, WorkflowResult } from "./definitions.ts";
import { nameOf } from "./definitions.ts";
import { toSummary, type WorkflowSummary } from "./descriptions.ts";
import { WorkflowExecutionAlreadyStartedError } from "./errors.ts";
import { WorkflowHandle } from "./handle.ts";
import { toStartFields, type WorkflowOptions } from "./options.ts";

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
  & ([] extends A ? { signalArgs?: A } : { signalArgs: A });

/** Options of `client.list`. */
export interface ListOptions extends CallSettings {
  /** Runs per request. */
  pageSize?: number;
}

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
  readonly #context: ClientContext;

  constructor(options: ClientOptions) {
    this.namespace = options.namespace ?? "default";
    this.identity = options.identity ?? processIdentity();
    const logger = options.logger ?? consoleLogger();
    const limits = { ...DEFAULT_PAYLOAD_LIMITS, ...options.payloadLimits };
    const codec = MessageCodec.of(options);
    const service = codec === undefined ? options.service : withCodec(options.service, codec, { limits, logger });
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
    };
  }

  /**
   * Starts a workflow. Returns when the service has recorded the start.
   * Throws WorkflowExecutionAlreadyStartedError when its id is taken (see `idConflictPolicy` and `idReusePolicy`).
   */
  async start<W extends AnyDefinition>(workflow: W, options: StartOptions<W>): Promise<WorkflowHandle<W>>;
  async start(workflow: string, options: StartOptions<string>): Promise<WorkflowHandle<string>>;
  async start(workflow: AnyWorkflow, options: StartOptions<string>): Promise<WorkflowHandle<AnyWorkflow>> {
    const type = nameOf(workflow);
    const request = {
      ...this.#start(type, options),
      namespace: this.namespace,
      identity: this.identity,
      workflowType: { name: type },
      input: encodeArgs(this.#context, `the arguments of workflow ${type}`, options.args ?? []),
    };
    try {
      const response = await this.#context.calls.call("startWorkflowExecution", request, this.#deadline(options));
      return this.#started(options.id, response);
    } catch (error) {
      throw this.#startError(error, type, options);
    }
  }

  /** Starts a workflow and waits for its result. Throws as `start` and `handle.result`; `timeout` bounds the start only. */
  async execute<W extends AnyDefinition>(workflow: W, options: StartOptions<W>): Promise<WorkflowResult<W>>;
  async execute(workflow: string, options: StartOptions<string>): Promise<unknown>;
  async execute(workflow: AnyWorkflow, options: StartOptions<string>): Promise<unknown> {
    const handle = await this.start(workflow as string, options);
    return handle.result({ signal: options.signal });
  }

  /** Signals a workflow, and starts it first where it is not running, in one step. */
  async signalWithStart<W extends AnyDefinition, A extends unknown[]>(
    workflow: W,
    options: SignalWithStartOptions<W, A>,
  ): Promise<WorkflowHandle<W>>;
  async signalWithStart(workflow: string, options: SignalWithStartOptions<string, unknown[]>): Promise<WorkflowHandle<string>>;
  async signalWithStart(
    workflow: AnyWorkflow,
    options: SignalWithStartOptions<string, unknown[]>,
  ): Promise<WorkflowHandle<AnyWorkflow>> {
    const type = nameOf(workflow);
    const signal = nameOf(options.signal);
    const request = {
      ...this.#start(type, options),
      namespace: this.namespace,
      identity: this.identity,
      workflowType: { name: type },
      input: encodeArgs(this.#context, `the arguments of workflow ${type}`, options.args ?? []),
      signalName: signal,
      signalInput: encodeArgs(this.#context, `the arguments of signal "${signal}"`, options.signalArgs ?? []),
    };
    try {
      const response = await this.#context.calls.call(
        "signalWithStartWorkflowExecution",
        request,
        this.#deadline({ timeout: options.timeout }),
      );
      return this.#started(options.id, response);
    } catch (error) {
      throw this.#startError(error, type, options);
    }
  }

  /** A workflow by its id; asks nothing of the service. With a run id it means that run, otherwise the current one. */
  getHandle<W extends AnyDefinition>(workflow: W | undefined, workflowId: string, runId?: string): WorkflowHandle<W>;
  getHandle(workflow: string | undefined, workflowId: string, runId?: string): WorkflowHandle<string>;
  getHandle(_workflow: AnyWorkflow | undefined, workflowId: string, runId?: string): WorkflowHandle<AnyWorkflow> {
    return this.#handle(workflowId, { runId, pinned: true });
  }

  /** The runs that a visibility query selects (all without one), for instance `ExecutionStatus = "Running" AND WorkflowType = "Order"`. */
  async *list(query = "", options: ListOptions = {}): AsyncGenerator<WorkflowSummary, void, void> {
    let nextPageToken: Uint8Array = new Uint8Array(0);
    do {
      const request = { namespace: this.namespace, query, pageSize: options.pageSize ?? 0, nextPageToken };
      const page = await this.#named(
        "the list of workflows",
        this.#context.calls.call("listWorkflowExecutions", request, this.#deadline(options)),
      );
      for (const info of page.executions) yield toSummary(info, this.#context.converter);
      nextPageToken = page.nextPageToken;
    } while (nextPageToken.length > 0);
  }

  /** How many runs a visibility query selects. */
  async count(query = "", settings: CallSettings = {}): Promise<number> {
    const request = { namespace: this.namespace, query };
    const call = this.#context.calls.call("countWorkflowExecutions", request, this.#deadline(settings));
    return Number((await this.#named("the count of workflows", call)).count);
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

  #deadline(settings: CallSettings): Deadline {
    return deadlineOf(this.#context, settings, CALL_TIMEOUT_MS);
  }

  #start(type: string, options: WorkflowOptions) {
    const taskQueue = options.taskQueue ?? this.#context.defaultTaskQueue;
    if (typeof options.id !== "string" || options.id === "") throw new TypeError(`the start of workflow ${type} needs an id`);
    if (!taskQueue) {
      throw new TypeError(`the start of workflow ${type} names no task queue: pass taskQueue, or give the client a default one`);
    }
    return toStartFields(options, taskQueue, this.#context.converter);
  }

  #started(workflowId: string, response: { runId: string; firstExecutionRunId: string }): WorkflowHandle<AnyWorkflow> {
    return this.#handle(workflowId, {
      runId: response.runId,
      firstExecutionRunId: response.firstExecutionRunId || response.runId,
    });
  }

  #handle(workflowId: string, ids: ConstructorParameters<typeof WorkflowHandle>[2]): WorkflowHandle<AnyWorkflow> {
    return new WorkflowHandle(this.#context, workflowId, ids);
  }

  #startError(error: unknown, type: string, options: WorkflowOptions): unknown {
    if (error instanceof ServiceError && error.code === Code.ALREADY_EXISTS) {
      const runId = error.metadata["run_id"] ?? error.metadata["runId"];
      return new WorkflowExecutionAlreadyStartedError(options.id, type, runId || undefined, { cause: error });
    }
    return nameError(this.#context, error, { what: `the start of workflow ${options.id}` });
  }

  async #named<T>(what: string, call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw nameError(this.#context, error, { what });
    }
  }
}
