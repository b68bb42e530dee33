// `@temporalio/worker`: workers of this package under the official names.
import type { InjectedSinks } from "./sinks.ts";
import type { WorkerInterceptors } from "./interceptors.ts";
import type { Logger } from "./logger.ts";

export { type DataConverter, defaultPayloadConverter, IllegalStateError } from "../common/mod.ts";
export { activityLogAttributes } from "./activity_info.ts";
export type {
  BundleOptions,
  BundlerPlugin,
  WorkflowBundle,
  WorkflowBundleOption,
  WorkflowBundlePath,
  WorkflowBundlePathWithSourceMap,
  WorkflowBundleWithSourceMap,
} from "./bundle_options.ts";
export { bundleWorkflowCode } from "./bundler.ts";
export type { CompiledWorkerInterceptors, CompiledWorkerOptions } from "./compiled_options.ts";
export { NativeConnection } from "./connection.ts";
export type {
  DNSLoadBalancingConfig,
  GrpcCompressionConfig,
  NativeConnectionOptions,
  NativeConnectionPlugin,
  TLSConfig,
} from "./connection_options.ts";
export {
  ActivityInboundLogInterceptor,
  type LoggerSinks,
  WorkflowInboundLogInterceptor,
  workflowLogAttributes,
  WorkflowLogInterceptor,
} from "./deprecated.ts";
export {
  CombinedWorkerRunError,
  type CombinedWorkerRunErrorCause,
  errors,
  GracefulShutdownPeriodExpiredError,
  PromiseCompletionTimeoutError,
  ShutdownError,
  TransportError,
  UnexpectedError,
  UnhandledRejectionError,
} from "./errors.ts";
export type {
  ActivityExecuteInput,
  ActivityInboundCallsInterceptor,
  ActivityInboundCallsInterceptorFactory,
  ActivityInterceptors,
  ActivityInterceptorsFactory,
  ActivityOutboundCallsInterceptor,
  GetLogAttributesInput,
  GetMetricTagsInput,
  Headers,
  Next,
  NexusCancelOperationInput,
  NexusInboundCallsInterceptor,
  NexusInterceptors,
  NexusInterceptorsFactory,
  NexusOutboundCallsInterceptor,
  NexusStartOperationInput,
  NexusStartOperationOutput,
  WorkerInterceptors,
} from "./interceptors.ts";
export {
  DefaultLogger,
  type LogEntry,
  type Logger,
  type LogLevel,
  type LogMetadata,
  LogTimestamp,
} from "./logger.ts";
export {
  type BufferedMetricUpdate,
  MetricsBuffer,
  type MetricsBufferOptions,
} from "./metrics_buffer.ts";
export {
  ChangedValuesError,
  type History,
  ReplayError,
  type ReplayHistoriesIterable,
  type ReplayResult,
} from "./replay.ts";
export { Runtime } from "./runtime.ts";
export {
  type ConsoleLogger,
  type ForwardLogger,
  type LogExporterConfig,
  makeTelemetryFilterString,
  type MetricsExporterConfig,
  type MetricsExporterConfig as MetricsExporter,
  type OtelCollectorExporter,
  type PrometheusMetricsExporter,
  type RuntimeOptions,
  type TelemetryOptions,
} from "./runtime_options.ts";
export type { InjectedSink, InjectedSinkFunction, InjectedSinks } from "./sinks.ts";
export {
  type ActivitySlotInfo,
  type CustomSlotSupplier,
  type FixedSizeSlotSupplier,
  type LocalActivitySlotInfo,
  ResourceBasedController,
  type ResourceBasedSlotOptions,
  type ResourceBasedSlotsForType,
  type ResourceBasedTuner,
  type ResourceBasedTunerOptions,
  type ResourceBasedTunerWithController,
  type SlotInfo,
  type SlotMarkUsedContext,
  type SlotPermit,
  type SlotReleaseContext,
  type SlotReserveContext,
  type SlotSupplier,
  type TunerHolder,
  type WorkerTuner,
  type WorkflowSlotInfo,
} from "./tuner.ts";
export {
  type PollerState,
  type RunUntilOptions,
  type State,
  Worker,
  type WorkerStatus,
} from "./worker.ts";
export type {
  PatchActivationCallback,
  PatchActivationInput,
  PollerBehavior,
  PollerBehaviorAutoscaling,
  PollerBehaviorSimpleMaximum,
  ReplayWorkerOptions,
  WorkerDeploymentOptions,
  WorkerOptions,
  WorkerPlugin,
} from "./worker_options.ts";

/** Deprecated: always empty. */
export const defaultWorkflowInterceptorModules: never[] = [];

/** Deprecated: lines of workflow code go to `Runtime.logger` by default. */
// deno-lint-ignore no-explicit-any
export function defaultSinks(_logger?: Logger): InjectedSinks<any> {
  return {};
}

/** Deprecated: lines of activities go to `Runtime.logger` by default. Returns its argument. */
export function appendDefaultInterceptors(
  interceptors: WorkerInterceptors,
  _logger?: Logger,
): WorkerInterceptors {
  return interceptors;
}
