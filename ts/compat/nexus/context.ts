// What a handler of Nexus operations has around it: `log`, `metricMeter`, `getClient()`, `operationInfo()`. A worker sets it for each request
// (ts/compat/worker/nexus_run.ts).
import type { Client } from "../client/mod.ts";
import type { Logger, LogLevel, LogMetadata, MetricMeter, MetricTags, NumericMetricValueType } from "../common/mod.ts";
import { type AsyncStorage, asyncStorage } from "../../platform/async_context.ts";
import type { CancelOperationContext, StartOperationContext } from "./types.ts";

/** What a worker knows of the request that runs. */
export interface HandlerContext {
  /** Adds what the request is. */
  readonly log: Logger;
  /** Metrics with the request's tags. */
  readonly metrics: MetricMeter;
  /** Of the worker's connection. */
  readonly client: Client;
  /** The worker's. */
  readonly namespace: string;
  /** The worker's. */
  readonly taskQueue: string;
  /** By which endpoint the request came; "" where the server does not say. */
  readonly endpoint: string;
}

/** The key is the official package's: code that found its own copy of it finds the same context. */
const STORAGE = Symbol.for("__temporal_nexus_context_storage__");
const holder = globalThis as { [STORAGE]?: AsyncStorage<HandlerContext> };

/** Holds the context of the request that runs. */
export const asyncLocalStorage: AsyncStorage<HandlerContext> = holder[STORAGE] ??= asyncStorage<HandlerContext>() ??
  withoutStorage();

function withoutStorage(): AsyncStorage<HandlerContext> {
  const refuse = (): never => {
    throw new Error(
      "this runtime has no AsyncLocalStorage, by which Nexus handlers find their context: run them in Node or Deno",
    );
  };
  return { getStore: () => undefined, run: refuse, enterWith: refuse };
}

/** The context of the request whose handler calls. Throws a ReferenceError outside of one. */
export function getHandlerContext(): HandlerContext {
  const context = asyncLocalStorage.getStore();
  if (context === undefined || context === null) throw new ReferenceError("Not in a Nexus handler context");
  return context;
}

/** Facts about the operation that runs. */
export interface OperationInfo {
  /** Namespace of the worker. */
  readonly namespace: string;
  /** Task queue of the worker. */
  readonly taskQueue: string;
  /** By which endpoint the request came; servers before 1.30 do not say. */
  readonly endpoint: string;
}

/** What the start handler of a {@link TemporalOperationHandler} is told. */
export interface TemporalStartOperationContext extends StartOperationContext {}
/** What the cancel handlers of a {@link TemporalOperationHandler} are told. */
export interface TemporalCancelOperationContext extends CancelOperationContext {}

/** The log of the handler that calls. */
export const log: Logger = {
  log: (level: LogLevel, message: string, meta?: LogMetadata) => getHandlerContext().log.log(level, message, meta),
  trace: (message: string, meta?: LogMetadata) => getHandlerContext().log.trace(message, meta),
  debug: (message: string, meta?: LogMetadata) => getHandlerContext().log.debug(message, meta),
  info: (message: string, meta?: LogMetadata) => getHandlerContext().log.info(message, meta),
  warn: (message: string, meta?: LogMetadata) => getHandlerContext().log.warn(message, meta),
  error: (message: string, meta?: LogMetadata) => getHandlerContext().log.error(message, meta),
};

/** Metrics of the handler that calls. */
export const metricMeter: MetricMeter = {
  createCounter: (name: string, unit?: string, description?: string) =>
    getHandlerContext().metrics.createCounter(name, unit, description),
  createHistogram: (name: string, valueType: NumericMetricValueType = "int", unit?: string, description?: string) =>
    getHandlerContext().metrics.createHistogram(name, valueType, unit, description),
  createGauge: (name: string, valueType: NumericMetricValueType = "int", unit?: string, description?: string) =>
    getHandlerContext().metrics.createGauge(name, valueType, unit, description),
  withTags: (tags: MetricTags) => getHandlerContext().metrics.withTags(tags),
};

/** A client with the worker's connection, namespace and converter. Calls made with it end when the handler is to stop. */
export function getClient(): Client {
  return getHandlerContext().client;
}

/** Facts about the operation whose handler calls. */
export function operationInfo(): OperationInfo {
  const { namespace, taskQueue, endpoint } = getHandlerContext();
  return { namespace, taskQueue, endpoint };
}
