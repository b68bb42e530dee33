// Context.current() and related functions: the official context of the running activity. A worker
// creates one for each attempt (ts/compat/worker), on top of the native context.
import type { Client } from "../client/mod.ts";
import {
  type ActivityCancellationDetails,
  type ActivityCancellationDetailsHolder,
  type Duration,
  IllegalStateError,
  type Logger,
  type LogLevel,
  type LogMetadata,
  type MetricMeter,
  type MetricTags,
  type NumericMetricValueType,
} from "../common/mod.ts";
import { msToNumber } from "../common/time.ts";
import { type AsyncStorage, asyncStorage } from "../../platform/async_context.ts";
import type { Info } from "./info.ts";

/** Key of the official package, so that another copy of it uses the same context. */
const STORAGE = Symbol.for("__temporal_activity_context_storage__");
const holder = globalThis as { [STORAGE]?: AsyncStorage<Context> };

/** Holds the context of the running activity. */
export const asyncLocalStorage: AsyncStorage<Context> = holder[STORAGE] ??=
  asyncStorage<Context>() ?? withoutStorage();

function withoutStorage(): AsyncStorage<Context> {
  const refuse = (): never => {
    throw new Error(
      "this runtime has no AsyncLocalStorage, by which activities find their context: run them in Node or Deno",
    );
  };
  return { getStore: () => undefined, run: refuse, enterWith: refuse };
}

/** Context of a running activity. */
export class Context {
  /** Information about this attempt. */
  readonly info: Info;
  /** Rejects with a CancelledFailure on cancellation; never resolves. */
  readonly cancelled: Promise<never>;
  readonly cancellationSignal: AbortSignal;
  /** Adds the activity's ids to each line. */
  log: Logger;
  /** Metrics with the activity's tags. */
  readonly metricMeter: MetricMeter;
  /** Sends a heartbeat with these details. */
  // deno-lint-ignore no-explicit-any
  protected readonly heartbeatFn: (details?: any) => void;
  /** Client of the worker's connection, if there is one. */
  protected readonly _client: Client | undefined;
  /** Reason of the cancellation. */
  protected readonly _cancellationDetails: ActivityCancellationDetailsHolder;

  /** Returns the context of the calling activity. Throws outside of one. */
  static current(): Context {
    const context = asyncLocalStorage.getStore();
    if (context === undefined) throw new Error("Activity context not initialized");
    return context;
  }

  /** For workers and tests. */
  constructor(
    info: Info,
    cancelled: Promise<never>,
    cancellationSignal: AbortSignal,
    // deno-lint-ignore no-explicit-any
    heartbeat: (details?: any) => void,
    client: Client | undefined,
    log: Logger,
    metricMeter: MetricMeter,
    details: ActivityCancellationDetailsHolder,
  ) {
    this.info = info;
    this.cancelled = cancelled;
    this.cancellationSignal = cancellationSignal;
    this.heartbeatFn = heartbeat;
    this._client = client;
    this.log = log;
    this.metricMeter = metricMeter;
    this._cancellationDetails = details;
  }

  // Properties, so that they can be detached from the context.

  /**
   * Sends a heartbeat with progress details. Only activities that heartbeat are notified of
   * cancellation.
   */
  readonly heartbeat = (details?: unknown): void => this.heartbeatFn(details);

  /** Waits. Rejects with a CancelledFailure on cancellation. */
  sleep = (ms: Duration): Promise<void> => {
    let timer: ReturnType<typeof setTimeout>;
    const over = new Promise<void>((resolve) => timer = setTimeout(resolve, msToNumber(ms)));
    return Promise.race([this.cancelled.finally(() => clearTimeout(timer)), over]);
  };

  /**
   * Client with the worker's connection, namespace and converter. Its calls end on cancellation.
   */
  get client(): Client {
    if (this._client !== undefined) return this._client;
    throw new IllegalStateError(
      "No Client available. This may be a MockActivityEnvironment that was created without a Client.",
    );
  }

  /** Details of the cancellation from the server; undefined before it. */
  get cancellationDetails(): ActivityCancellationDetails | undefined {
    return this._cancellationDetails.details;
  }
}

/** Returns information about the calling attempt. */
export function activityInfo(): Info {
  return Context.current().info;
}

/** `Context.current().sleep(ms)` */
export function sleep(ms: Duration): Promise<void> {
  return Context.current().sleep(ms);
}

/** `Context.current().heartbeat(details)` */
export function heartbeat(details?: unknown): void {
  Context.current().heartbeat(details);
}

/** `Context.current().cancelled` */
export function cancelled(): Promise<never> {
  return Context.current().cancelled;
}

/** `Context.current().cancellationDetails` */
export function cancellationDetails(): ActivityCancellationDetails | undefined {
  return Context.current().cancellationDetails;
}

/** `Context.current().cancellationSignal` */
export function cancellationSignal(): AbortSignal {
  return Context.current().cancellationSignal;
}

/** `Context.current().client` */
export function getClient(): Client {
  return Context.current().client;
}

/** Logger of the calling activity; interceptors can replace it in the context. */
export const log: Logger = {
  log: (level: LogLevel, message: string, meta?: LogMetadata) =>
    Context.current().log.log(level, message, meta),
  trace: (message: string, meta?: LogMetadata) => Context.current().log.trace(message, meta),
  debug: (message: string, meta?: LogMetadata) => Context.current().log.debug(message, meta),
  info: (message: string, meta?: LogMetadata) => Context.current().log.info(message, meta),
  warn: (message: string, meta?: LogMetadata) => Context.current().log.warn(message, meta),
  error: (message: string, meta?: LogMetadata) => Context.current().log.error(message, meta),
};

/** Metrics of the calling activity. */
export const metricMeter: MetricMeter = {
  createCounter: (name: string, unit?: string, description?: string) =>
    Context.current().metricMeter.createCounter(name, unit, description),
  createHistogram: (
    name: string,
    valueType?: NumericMetricValueType,
    unit?: string,
    description?: string,
  ) => Context.current().metricMeter.createHistogram(name, valueType, unit, description),
  createGauge: (
    name: string,
    valueType?: NumericMetricValueType,
    unit?: string,
    description?: string,
  ) => Context.current().metricMeter.createGauge(name, valueType, unit, description),
  withTags: (tags: MetricTags) => Context.current().metricMeter.withTags(tags),
};
