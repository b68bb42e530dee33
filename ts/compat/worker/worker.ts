// Worker: official names and states over a worker of this package (ts/worker).
import { rejectMisspelledOptions } from "../../base/option_names.ts";
import { checkWorkerInterceptors } from "./interceptors.ts";
import { inlineWorker } from "../../core/inline_worker.ts";
import { describeNamespace } from "./namespace.ts";
import { Client } from "../client/mod.ts";
import {
  type Duration,
  IllegalStateError,
  type Logger,
  LoggerWithComposedMetadata,
  SdkComponent,
} from "../common/mod.ts";
import { encodesErrorText } from "../common/data_converter.ts";
import { msToNumber } from "../common/time.ts";
import { throwIfReservedName } from "../common/reserved.ts";
import { MessageCodec } from "../../codec/message_codec.ts";
import { readValueCheck } from "../../realm/value_check.ts";
import type { RawService } from "../../service/raw.ts";
import { VERSION } from "../../base/version.ts";
import { Worker as AnyWorker } from "../../worker/worker.ts";
import type { ActivityEnvironment } from "./activity_run.ts";
import { temporalActivities } from "./activity_dialect.ts";
import { NativeConnection } from "./connection.ts";
import { importDataConverter } from "../client/load_data_converter.ts";
import {
  CombinedWorkerRunError,
  GracefulShutdownPeriodExpiredError,
  PromiseCompletionTimeoutError,
} from "./errors.ts";
import { defaultIdentity } from "./host.ts";
import { nativeLogger } from "./logger.ts";
import { openNexusServices } from "./nexus_services.ts";
import { converters, failureErrorTypes, limits, refuseOptions } from "./native_options.ts";
import { workflowCode } from "./workflow_code.ts";
import type { History, ReplayHistoriesIterable, ReplayResult } from "./replay.ts";
import { replayHistories } from "./replay_histories.ts";
import { Runtime } from "./runtime.ts";
import { adaptSinks, workflowLog } from "./worker_log.ts";
import { compiledOptions, type CompiledWorkerOptions } from "./compiled_options.ts";
import {
  type ReplayWorkerOptions,
  WORKER_OPTION_NAMES,
  type WorkerOptions,
  type WorkerPlugin,
} from "./worker_options.ts";

const NativeWorker = /* @__PURE__ */ inlineWorker(AnyWorker);

/** Lifecycle state of a worker. */
export type State =
  | "INITIALIZED"
  | "RUNNING"
  | "STOPPED"
  | "STOPPING"
  | "DRAINING"
  | "DRAINED"
  | "FAILED";
/** State of polls. */
export type PollerState = "POLLING" | "SHUTDOWN" | "FAILED";

/** Status of a worker. */
export interface WorkerStatus {
  /** Lifecycle state. */
  runState: State;
  /** Polls for workflow tasks. */
  workflowPollerState: PollerState;
  /** Polls for activities. */
  activityPollerState: PollerState;
  /** True while it polls for workflow tasks. */
  hasOutstandingWorkflowPoll: boolean;
  /** True while it polls for activities. */
  hasOutstandingActivityPoll: boolean;
  /** Number of workflow tasks in progress. */
  numInFlightWorkflowActivations: number;
  /** Number of running activities. */
  numInFlightActivities: number;
  /** Number of running non-local activities. */
  numInFlightNonLocalActivities: number;
  /** Number of running local activities. */
  numInFlightLocalActivities: number;
  numCachedWorkflows: number;
  /** Number of running activities that have sent a heartbeat. */
  numHeartbeatingActivities: number;
}

/** Options of `runUntil`. */
export interface RunUntilOptions {
  /** Time for the promise after the worker has stopped. Default: no limit. */
  promiseCompletionTimeout?: Duration;
}

interface Parts {
  readonly native: AnyWorker;
  readonly options: CompiledWorkerOptions;
  readonly connection: NativeConnection;
  /** True if the worker created and closes it. */
  readonly ownsConnection: boolean;
  readonly runtime: Runtime;
  readonly releaseRuntime: () => Promise<void>;
  readonly logger: Logger;
  readonly service: SwitchedService;
  readonly heartbeating: { count: number };
}

/**
 * Maximum time for ending polls and notifying the service, after which an idle worker counts as
 * late.
 */
const POLLS_END_MS = 10_000;

/** Sends calls to the current connection of a worker. */
class SwitchedService implements RawService {
  readonly losesCancelledPolls = true;
  to: RawService;

  constructor(to: RawService) {
    this.to = to;
  }

  call(...args: Parameters<RawService["call"]>): Promise<Uint8Array> {
    return this.to.call(...args);
  }
}

/**
 * The worker of one task queue: `await Worker.create({ connection, taskQueue, workflowsPath,
 * activities })`, then `run()`.
 */
export class Worker {
  static #replays = 0;

  /** Options with defaults: activities as a Map, times in milliseconds. */
  readonly options: CompiledWorkerOptions;
  readonly #parts: Parts;
  readonly #logger: Logger;
  #connection: NativeConnection;
  #client: Client | undefined;
  #state: State = "INITIALIZED";
  #release: () => void;

  protected constructor(parts: Parts) {
    if ((parts as Partial<Parts> | undefined)?.native === undefined) {
      throw new TypeError('Worker has no public constructor: use "await Worker.create(options)"');
    }
    this.#parts = parts;
    this.options = parts.options;
    this.#logger = parts.logger;
    this.#connection = parts.connection;
    this.#release = this.#hold(parts.connection);
  }

  /** Registers the worker with a connection; returns the function that unregisters it. */
  #hold(connection: NativeConnection): () => void {
    const { namespace, taskQueue } = this.options;
    const { native } = this.#parts;
    const release = connection.hold(this);
    const leave = connection.eagerStarts.add(
      namespace,
      taskQueue,
      () => native.reserveWorkflowTask(),
    );
    return () => {
      leave();
      release();
    };
  }

  /**
   * Loads the workflows, and connects if no connection is given. Rejects with a TypeError for an
   * unsupported option, a WorkflowLoadError for workflow code that does not load, a TransportError
   * if the server or the namespace cannot be used, and an Error if the runtime's metrics cannot be
   * served.
   */
  static async create(given: WorkerOptions): Promise<Worker> {
    const plugins = [
      ...given.plugins ?? [],
      ...(given.connection?.plugins ?? []) as WorkerPlugin[],
    ];
    let options: WorkerOptions = { ...given, plugins };
    for (const plugin of plugins) options = await plugin.configureWorker?.(options) ?? options;
    rejectMisspelledOptions("Worker.create", options, WORKER_OPTION_NAMES);
    checkWorkerInterceptors(options.interceptors);
    if (!options.taskQueue) throw new TypeError("Task queue name is required");
    throwIfReservedName("task queue", options.taskQueue);
    refuseOptions(options);
    for (const name of Object.keys(options.sinks ?? {})) throwIfReservedName("sink", name);
    const runtime = Runtime.instance();
    const { taskQueue, namespace = "default", identity = defaultIdentity(), activities } = options;
    const logger = LoggerWithComposedMetadata.compose(runtime.logger, {
      sdkComponent: SdkComponent.worker,
      taskQueue,
    });
    await runtime.options.metrics?.listening;
    const dataConverter = await importDataConverter(options.dataConverter);
    const functions = activityFunctions(activities);
    const numbers = limits(options, (message) => logger.warn(message));
    const made = compiledOptions(options, {
      namespace,
      identity,
      activities: functions,
      dataConverter,
      native: numbers,
    });
    const heartbeating = { count: 0 };
    let worker: Worker | undefined;
    const environment: ActivityEnvironment = {
      namespace,
      taskQueue,
      converter: dataConverter,
      activities: new Map(functions),
      logger,
      metricMeter: runtime.metricMeter.withTags({ namespace, taskQueue }),
      interceptors: made.interceptors.activity,
      heartbeating,
      client: () => worker?.client,
    };
    const services = made.nexusServiceHandlers;
    const converted = converters(dataConverter);
    const hidesText = converted.encodeCommonAttributes === true;
    const nexus = services &&
      openNexusServices(
        { ...environment, services, interceptors: made.interceptors.nexus },
        MessageCodec.of(converted),
      );
    const releaseRuntime = runtime.holdWorker({});
    let connection = options.connection;
    try {
      connection ??= await NativeConnection.connect();
      const service = new SwitchedService(connection.service);
      await describeNamespace(service, namespace);
      const native = await NativeWorker.create({
        service,
        taskQueue,
        namespace,
        identity,
        ...workflowCode(options, logger),
        sinks: adaptSinks(options.sinks, logger, hidesText),
        ...converted,
        ...{ ...numbers, ...failureErrorTypes(options) },
        ...(functions.length > 0 && { activities: Object.fromEntries(functions) }),
        activityDialect: temporalActivities(environment),
        ...(nexus !== undefined && { nexus }),
        ...(runtime.options.metrics !== undefined && { metrics: runtime.options.metrics.metrics }),
        logger: nativeLogger(
          runtime.logger,
          { sdkComponent: "core", taskQueue },
          runtime.options.coreLevel,
        ),
        workflowLog: workflowLog(runtime.logger, namespace, taskQueue, hidesText),
      });
      const ownsConnection = options.connection === undefined;
      return worker = new this({
        native,
        options: made,
        connection,
        ownsConnection,
        runtime,
        releaseRuntime,
        logger,
        service,
        heartbeating,
      });
    } catch (error) {
      if (options.connection === undefined) await connection?.close();
      await releaseRuntime();
      throw error;
    }
  }

  /**
   * Replays one history. Rejects with a DeterminismViolationError for a divergence, and a
   * ReplayError if the replay fails.
   */
  static async runReplayHistory(
    options: ReplayWorkerOptions,
    history: History | unknown,
    workflowId = "fake",
  ): Promise<void> {
    const histories = [{ history: history as History, workflowId }];
    for await (const { error } of this.runReplayHistories(options, histories)) {
      if (error !== undefined) throw error;
    }
  }

  /** Replays histories one after the other; yields a result for each. */
  static async *runReplayHistories(
    given: ReplayWorkerOptions,
    histories: ReplayHistoriesIterable,
  ): AsyncIterableIterator<ReplayResult> {
    let options = given;
    for (const plugin of given.plugins ?? []) {
      options = await plugin.configureReplayWorker?.(options) ?? options;
    }
    refuseOptions(options, true);
    const values = readValueCheck(options.values, "ReplayWorkerOptions.values");
    const { logger } = Runtime.instance();
    const { workflows, ...code } = workflowCode(options, logger);
    if (workflows === undefined) {
      throw new TypeError("ReplayWorkerOptions must contain workflowsPath or workflowBundle");
    }
    const dataConverter = await importDataConverter(options.dataConverter);
    const settings = {
      code: { workflows, ...code },
      codec: MessageCodec.of(converters(dataConverter)),
      hidesText: encodesErrorText(dataConverter),
      ...{ logger, values },
      taskQueue: `${options.replayName ?? "fake_replay_queue"}-${Worker.#replays++}`,
      sinks: options.sinks,
      hasPlugins: (options.plugins ?? []).length > 0 ||
        options.bundlerOptions?.webpackConfigHook !== undefined,
      runOptions: {
        namespace: "default",
        identity: options.identity ?? defaultIdentity(),
        ...{ sdkVersion: VERSION, ...failureErrorTypes(options) },
      },
    };
    yield* replayHistories(settings, histories);
  }

  /** Returns the lifecycle state. */
  getState(): State {
    return this.#state;
  }

  /** Returns the status. */
  getStatus(): WorkerStatus {
    const { native, heartbeating } = this.#parts;
    const running = this.#state === "RUNNING";
    const poller: PollerState = this.#state === "FAILED"
      ? "FAILED"
      : running || this.#state === "INITIALIZED"
      ? "POLLING"
      : "SHUTDOWN";
    const all = native.runningActivities, local = native.runningLocalActivities;
    return {
      runState: this.#state,
      workflowPollerState: poller,
      activityPollerState: poller,
      hasOutstandingWorkflowPoll: running &&
        (native.workflowTypes.length > 0 || native.takesAnyType),
      hasOutstandingActivityPoll: running && native.activityTypes.length > 0 &&
        this.options.enableNonLocalActivities !== false,
      numInFlightWorkflowActivations: native.busyWorkflowTasks,
      numInFlightActivities: all,
      numInFlightNonLocalActivities: all - local,
      numInFlightLocalActivities: local,
      numCachedWorkflows: native.cachedRuns,
      numHeartbeatingActivities: heartbeating.count,
    };
  }

  /** Client with its connection, namespace and converters, which activities use. */
  get client(): Client | undefined {
    const { namespace, identity, interceptors, loadedDataConverter: dataConverter } = this.options;
    return this.#client ??= new Client({
      connection: this.#connection,
      dataConverter,
      namespace,
      identity,
      interceptors: interceptors.client,
    });
  }

  /** The worker's connection. It can be replaced; pending calls stay with the old one. */
  get connection(): NativeConnection | undefined {
    return this.#connection;
  }

  set connection(connection: NativeConnection) {
    if (connection === this.#connection) return;
    const { service, ownsConnection } = this.#parts;
    const old = this.#connection;
    this.#release();
    this.#release = this.#hold(connection);
    service.to = connection.service;
    this.#connection = connection;
    this.#client = undefined;
    if (ownsConnection) {
      old.close().catch((err) => {
        this.#logger.error(
          "Error closing previous connection after replacement of worker connection",
          { err },
        );
      });
    }
  }

  /** Throws: use `getStatus()`. */
  get numInFlightActivations$(): never {
    return refuseObservable("numInFlightActivations$");
  }
  /** Throws: use `getStatus()`. */
  get numInFlightActivities$(): never {
    return refuseObservable("numInFlightActivities$");
  }
  /** Throws: use `getStatus()`. */
  get numRunningWorkflowInstances$(): never {
    return refuseObservable("numRunningWorkflowInstances$");
  }

  #setState(state: State): void {
    this.#logger.info("Worker state changed", { state });
    this.#state = state;
  }

  /**
   * Begins the shutdown; `run()` resolves when it is complete. Throws an IllegalStateError if the
   * worker is not running.
   */
  shutdown(): void {
    if (this.#state !== "RUNNING") {
      throw new IllegalStateError(`Not running. Current state: ${this.#state}`);
    }
    this.#setState("STOPPING");
    // Errors are reported by run().
    void this.#parts.native.shutdown();
    this.#setState("DRAINING");
    this.#onStopping?.();
  }

  #onStopping: (() => void) | undefined;

  /**
   * Runs until `shutdown`, or one of the runtime's `shutdownSignals`; resolves when all received
   * tasks are complete.
   */
  async run(): Promise<void> {
    let run = (worker: Worker): Promise<void> => worker.#run();
    for (const plugin of [...this.options.plugins ?? []].reverse()) {
      const next = run;
      if (plugin.runWorker !== undefined) run = (worker) => plugin.runWorker!(worker, next);
    }
    await run(this);
  }

  async #run(): Promise<void> {
    if (this.#state !== "INITIALIZED") throw new IllegalStateError("Poller was already started");
    const { native, runtime, releaseRuntime, ownsConnection } = this.#parts;
    this.#setState("RUNNING");
    const stop = () => {
      if (this.#state === "RUNNING") this.shutdown();
    };
    runtime.registerShutdownSignalCallback(stop);
    try {
      await Promise.race([native.run(), this.#expired()]);
      this.#setState("DRAINED");
      this.#setState("STOPPED");
    } catch (error) {
      this.#logger.error("Worker failed", { error });
      this.#setState("FAILED");
      throw error;
    } finally {
      clearTimeout(this.#forceTimer);
      runtime.deregisterShutdownSignalCallback(stop);
      this.#release();
      if (ownsConnection) await this.#connection.close();
      runtime.flushLogs();
      await releaseRuntime();
    }
  }

  #forceTimer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Rejects when tasks have been running for `shutdownForceTime` of a shutdown. Waiting for empty
   * polls does not count.
   */
  #expired(): Promise<never> {
    const { shutdownForceTime } = this.options;
    return new Promise((_, reject) => {
      if (shutdownForceTime === undefined) return;
      const forceMs = msToNumber(shutdownForceTime);
      this.#onStopping = () => {
        const last = performance.now() + forceMs + POLLS_END_MS;
        const wait = () => {
          this.#forceTimer = setTimeout(() => {
            if (this.#parts.native.runningTasks === 0 && performance.now() < last) return wait();
            reject(
              new GracefulShutdownPeriodExpiredError(
                "Timed out while waiting for worker to shutdown gracefully",
              ),
            );
          }, forceMs);
        };
        wait();
      };
    });
  }

  /** Runs until a promise, or the result of a function, is settled; returns its value. */
  async runUntil<R>(
    fnOrPromise: Promise<R> | (() => Promise<R>),
    options: RunUntilOptions = {},
  ): Promise<R> {
    const running = this.run();
    running.catch(() => {});
    let inner: PromiseSettledResult<R> | undefined;
    const work = (async () => {
      try {
        inner = {
          status: "fulfilled",
          value: await (typeof fnOrPromise === "function" ? fnOrPromise() : fnOrPromise),
        };
      } catch (reason) {
        inner = { status: "rejected", reason };
      }
      if (this.#state === "RUNNING") this.shutdown();
    })();
    let failed: { error: unknown } | undefined;
    await running.catch((error) => failed = { error });
    const extraMs = msToNumber(options.promiseCompletionTimeout ?? 0);
    if (inner === undefined && extraMs > 0) await within(work, extraMs);
    const end = (inner ?? {
      status: "rejected",
      reason: new PromiseCompletionTimeoutError(
        `Promise did not resolve within ${extraMs}ms after Worker completed shutdown`,
      ),
    }) as PromiseSettledResult<R>;
    if (failed === undefined) {
      if (end.status === "fulfilled") return end.value;
      throw end.reason;
    }
    const { error: workerError } = failed as { error: unknown };
    if (end.status === "fulfilled") throw workerError;
    throw new CombinedWorkerRunError("Worker terminated with fatal error in `runUntil`", {
      cause: { workerError, innerError: end.reason },
    });
  }
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise((resolve) => timer = setTimeout(resolve, ms));
  await Promise.race([work, over]);
  clearTimeout(timer);
}

/** Returns the activity functions by name, including methods of class instances. */
function activityFunctions(activities: object | undefined): [string, unknown][] {
  const found = new Map<string, unknown>();
  for (
    let level = activities;
    level && level !== Object.prototype;
    level = Object.getPrototypeOf(level)
  ) {
    for (const name of Object.getOwnPropertyNames(level)) {
      const value = (activities as { [name: string]: unknown })[name];
      if (name === "constructor" || typeof value !== "function" || found.has(name)) continue;
      throwIfReservedName("activity", name);
      found.set(name, level === activities ? value : Object.assign(value.bind(activities), value));
    }
  }
  return [...found];
}

function refuseObservable(name: string): never {
  throw new TypeError(
    `Worker.${name} is an Observable of rxjs, which temporalex does not have: call Worker.getStatus()`,
  );
}
