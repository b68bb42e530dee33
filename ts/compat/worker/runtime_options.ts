// Options of `Runtime.install`. Options that configure only the official SDK's native library are
// not supported and rejected by name.
import { msToNumber } from "../common/time.ts";
import type { Duration, Logger, LogLevel } from "../common/mod.ts";
import { DefaultLogger } from "./logger.ts";
import type { MetricsBuffer } from "./metrics_buffer.ts";
import { type ServedMetrics, serveMetrics } from "./telemetry.ts";

/** Log levels of the core. */
export interface CoreLogFilterOptions {
  /** Level of the worker itself. */
  core: LogLevel;
  /** Level of its libraries. */
  other?: LogLevel;
}

/** Writes the core's log to the console. */
export interface ConsoleLogger {
  /** Format of the lines. */
  console: { format?: "compact" | "pretty" | "json" };
}

/** Sends the core's log to the runtime's logger. */
export interface ForwardLogger {
  /** Minimum level. */
  forward: { level?: LogLevel };
}

/** Destination of the core's log. */
export type LogExporterConfig =
  & { filter?: string | CoreLogFilterOptions }
  & Partial<ConsoleLogger | ForwardLogger>;

/** Metrics for a Prometheus server. */
export interface PrometheusMetricsExporter {
  /** Address of the metrics. */
  prometheus: {
    /** `host:port`. */
    bindAddress: string;
    countersTotalSuffix?: boolean;
    unitSuffix?: boolean;
    useSecondsForDurations?: boolean;
    histogramBucketOverrides?: Record<string, number[]>;
  };
}

/** Metrics for an OpenTelemetry collector. */
export interface OtelCollectorExporter {
  /** Destination of the metrics. */
  otel: {
    url: string;
    http?: boolean;
    headers?: Record<string, string>;
    metricsExportInterval?: Duration;
    useSecondsForDurations?: boolean;
    temporality?: "cumulative" | "delta";
    histogramBucketOverrides?: Record<string, number[]>;
  };
}

/** Metrics in a buffer. */
export interface BufferedMetricsExporter {
  buffer: MetricsBuffer;
}

/** Destination of the metrics. */
export type MetricsExporterConfig = {
  temporality?: "cumulative" | "delta";
  metricPrefix?: string;
  globalTags?: Record<string, string>;
  attachServiceName?: boolean;
} & (PrometheusMetricsExporter | OtelCollectorExporter | BufferedMetricsExporter);

/** Logs and metrics of the runtime. */
export interface TelemetryOptions {
  /** Deprecated: use `logging.filter`. */
  tracingFilter?: string;
  /** Deprecated: use `metrics.metricPrefix`. */
  noTemporalPrefixForMetrics?: boolean;
  /** Destination of the core's log. */
  logging?: LogExporterConfig;
  /** Destination of the metrics. */
  metrics?: MetricsExporterConfig;
  /** Deprecated, no effect. */
  tracing?: unknown;
}

/** Options of `Runtime.install`. */
export interface RuntimeOptions {
  /** Receives log lines. Default: standard error, from INFO on. */
  logger?: Logger;
  /** Logs and metrics of the runtime. */
  telemetryOptions?: TelemetryOptions;
  /** Interval of worker heartbeats to the server. */
  workerHeartbeatInterval?: Duration;
  /** Signals that stop the workers. */
  shutdownSignals?: string[];
}

/** The options with their defaults. */
export interface CompiledRuntimeOptions {
  /** Signals that stop the workers. */
  readonly shutdownSignals: readonly string[];
  /** Receives log lines. */
  readonly logger: Logger;
  /** Minimum level of the worker's own lines. */
  readonly coreLevel: LogLevel;
  /** Metrics of workers, and the server that exports them. */
  readonly metrics: ServedMetrics | undefined;
}

/** Returns a filter as text. */
export function makeTelemetryFilterString({ core, other }: CoreLogFilterOptions): string {
  return `${
    other ?? "ERROR"
  },temporalio_sdk_core=${core},temporalio_client=${core},temporalio_common=${core}`;
}

const LEVELS: readonly string[] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"];

/** Returns the filter's level for the worker itself. */
function parseLogLevel(filter: string | CoreLogFilterOptions): LogLevel {
  const text = typeof filter === "string" ? filter : makeTelemetryFilterString(filter);
  const own = /temporal(?:io)?_sdk_core=(\w+)/.exec(text)?.[1] ?? /^(\w+)(?:,|$)/.exec(text)?.[1] ??
    "";
  const level = own.toUpperCase();
  if (LEVELS.includes(level)) return level as LogLevel;
  throw new TypeError(
    `telemetryOptions.logging.filter ${
      JSON.stringify(filter)
    } has no level for temporalio_sdk_core; use makeTelemetryFilterString`,
  );
}

/** Alternative to a buffer of metrics. */
export const INSTEAD_OF_BUFFER =
  "use telemetryOptions.metrics.prometheus and read what it serves, or give a native worker (`temporalex/worker`) your own `metrics`, " +
  "which gets each value";

/** Throws for an unsupported option, by name. */
export function refuseOption(option: string, why: string): never {
  throw new TypeError(`${option} cannot be used with temporalex: ${why}`);
}

/** Throws a TypeError that names an unsupported option. */
export function compileOptions(options: RuntimeOptions): CompiledRuntimeOptions {
  const { logger, telemetryOptions = {}, workerHeartbeatInterval, shutdownSignals } = options;
  const { logging, metrics, tracingFilter } = telemetryOptions;
  if (metrics !== undefined && "otel" in metrics) {
    refuseOption(
      "RuntimeOptions.telemetryOptions.metrics.otel",
      "use telemetryOptions.metrics.prometheus, and let the collector read it",
    );
  }
  if (metrics !== undefined && "buffer" in metrics) {
    refuseOption("RuntimeOptions.telemetryOptions.metrics.buffer", INSTEAD_OF_BUFFER);
  }
  if (logging !== undefined && "console" in logging && logging.console?.format !== undefined) {
    refuseOption(
      "RuntimeOptions.telemetryOptions.logging.console.format",
      "lines of the worker go to RuntimeOptions.logger; format them there",
    );
  }
  if (workerHeartbeatInterval !== undefined && msToNumber(workerHeartbeatInterval) !== 0) {
    refuseOption(
      "RuntimeOptions.workerHeartbeatInterval",
      "worker heartbeats are not supported; omit it or set it to 0",
    );
  }
  const forwarded = logging !== undefined && "forward" in logging
    ? logging.forward?.level
    : undefined;
  const filter = logging?.filter ?? tracingFilter;
  return {
    logger: logger ?? new DefaultLogger("INFO"),
    shutdownSignals: shutdownSignals ?? ["SIGINT", "SIGTERM", "SIGQUIT", "SIGUSR2"],
    coreLevel: filter !== undefined ? parseLogLevel(filter) : forwarded ?? "WARN",
    metrics: metrics !== undefined && "prometheus" in metrics
      ? serveMetrics(metrics, telemetryOptions.noTemporalPrefixForMetrics === true)
      : undefined,
  };
}
