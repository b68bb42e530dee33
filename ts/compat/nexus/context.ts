// Context of Nexus operation handlers: `log`, `metricMeter`, `getClient()`, `operationInfo()`. A
// worker sets it for each request (ts/compat/worker/nexus_run.ts).
import type { Client } from "../client/mod.ts";
import type {
  Logger,
  LogLevel,
  LogMetadata,
  MetricMeter,
  MetricTags,
  NumericMetricValueType,
} from "../common/mod.ts";
import { type AsyncStorage, asyncStorage } from "../../platform/async_context.ts";
import type { CancelOperationContext, StartOperationContext } from "./types.ts";

/** Context of the running request. */
export interface HandlerContext {
  /** Adds information about the request. */
  readonly log: Logger;
  /** Metrics with the request's tags. */
  readonly metrics: MetricMeter;
  /** Client of the worker's connection. */
  readonly client: Client;
  /** Namespace of the worker. */
  readonly namespace: string;
  /** Task queue of the worker. */
  readonly taskQueue: string;
  /** Endpoint of the request; "" if the server does not report it. */
  readonly endpoint: string;
}

/** Key of the official package, so that another copy of it uses the same context. */
const STORAGE = Symbol.for("__temporal_nexus_context_storage__");
const holder = globalThis as { [STORAGE]?: AsyncStorage<HandlerContext> };

/** Holds the context of the running request. */
export const asyncLocalStorage: AsyncStorage<HandlerContext> = holder[STORAGE] ??=
  asyncStorage<HandlerContext>() ??
    withoutStorage();

function withoutStorage(): AsyncStorage<HandlerContext> {
  const refuse = (): never => {
    throw new Error(
      "this runtime has no AsyncLocalStorage, by which Nexus handlers find their context: run them in Node or Deno",
    );
  };
  return { getStore: () => undefined, run: refuse, enterWith: refuse };
}

/** Returns the context of the calling handler. Throws a ReferenceError outside of one. */
export function getHandlerContext(): HandlerContext {
  const context = asyncLocalStorage.getStore();
  if (context === undefined || context === null) {
    throw new ReferenceError("Not in a Nexus handler context");
  }
  return context;
}

/** Information about the running operation. */
export interface OperationInfo {
  /** Namespace of the worker. */
  readonly namespace: string;
  /** Task queue of the worker. */
  readonly taskQueue: string;
  /** Endpoint of the request; servers before 1.30 do not report it. */
  readonly endpoint: string;
}

/** Context of the start handler of a {@link TemporalOperationHandler}. */
export interface TemporalStartOperationContext extends StartOperationContext {}
/** Context of the cancel handlers of a {@link TemporalOperationHandler}. */
export interface TemporalCancelOperationContext extends CancelOperationContext {}

/** Logger of the calling handler. */
export const log: Logger = {
  log: (level: LogLevel, message: string, meta?: LogMetadata) =>
    getHandlerContext().log.log(level, message, meta),
  trace: (message: string, meta?: LogMetadata) => getHandlerContext().log.trace(message, meta),
  debug: (message: string, meta?: LogMetadata) => getHandlerContext().log.debug(message, meta),
  info: (message: string, meta?: LogMetadata) => getHandlerContext().log.info(message, meta),
  warn: (message: string, meta?: LogMetadata) => getHandlerContext().log.warn(message, meta),
  error: (message: string, meta?: LogMetadata) => getHandlerContext().log.error(message, meta),
};

/** Metrics of the calling handler. */
export const metricMeter: MetricMeter = {
  createCounter: (name: string, unit?: string, description?: string) =>
    getHandlerContext().metrics.createCounter(name, unit, description),
  createHistogram: (
    name: string,
    valueType: NumericMetricValueType = "int",
    unit?: string,
    description?: string,
  ) => getHandlerContext().metrics.createHistogram(name, valueType, unit, description),
  createGauge: (
    name: string,
    valueType: NumericMetricValueType = "int",
    unit?: string,
    description?: string,
  ) => getHandlerContext().metrics.createGauge(name, valueType, unit, description),
  withTags: (tags: MetricTags) => getHandlerContext().metrics.withTags(tags),
};

/**
 * Returns a client with the worker's connection, namespace and converter. Its calls end on
 * cancellation.
 */
export function getClient(): Client {
  return getHandlerContext().client;
}

/** Returns information about the handler's operation. */
export function operationInfo(): OperationInfo {
  const { namespace, taskQueue, endpoint } = getHandlerContext();
  return { namespace, taskQueue, endpoint };
}
