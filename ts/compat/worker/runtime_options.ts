// Options of `Runtime.install`. The runtime of the official SDK is a native library; what configures that library alone cannot be honoured
// here, and is refused by name.
import { msToNumber } from "../common/time.ts";
import type { Duration, Logger, LogLevel } from "../common/mod.ts";
import { DefaultLogger } from "./logger.ts";
import type { MetricsBuffer } from "./metrics_buffer.ts";
import { type ServedMetrics, serveMetrics } from "./telemetry.ts";

/** What the core's lines are filtered by. */
export interface CoreLogFilterOptions {
  /** Of the worker itself. */
  core: LogLevel;
  /** Of the libraries beneath it. */
  other?: LogLevel;
}

/** The core's lines go to the console. */
export interface ConsoleLogger {
  /** How they are written. */
  console: { format?: "compact" | "pretty" | "json" };
}

/** The core's lines go to the runtime's logger. */
export interface ForwardLogger {
  /** From which level on. */
  forward: { level?: LogLevel };
}

/** Where the core's lines go. */
export type LogExporterConfig = { filter?: string | CoreLogFilterOptions } & Partial<ConsoleLogger | ForwardLogger>;

/** Metrics that a Prometheus server reads. */
export interface PrometheusMetricsExporter {
  /** Where they are served. */
  prometheus: {
    /** `host:port`. */
    bindAddress: string;
    countersTotalSuffix?: boolean;
    unitSuffix?: boolean;
    useSecondsForDurations?: boolean;
    histogramBucketOverrides?: Record<string, number[]>;
  };
}

/** Metrics that are sent to an OpenTelemetry collector. */
export interface OtelCollectorExporter {
  /** Where to. */
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

/** Metrics that lang code takes out of a buffer. */
export interface BufferedMetricsExporter {
  /** The buffer. */
  buffer: MetricsBuffer;
}

/** Where metrics go. */
export type MetricsExporterConfig = {
  temporality?: "cumulative" | "delta";
  metricPrefix?: string;
  globalTags?: Record<string, string>;
  attachServiceName?: boolean;
} & (PrometheusMetricsExporter | OtelCollectorExporter | BufferedMetricsExporter);

/** What the runtime tells of itself. */
export interface TelemetryOptions {
  /** Deprecated: `logging.filter`. */
  tracingFilter?: string;
  /** Deprecated: `metrics.metricPrefix`. */
  noTemporalPrefixForMetrics?: boolean;
  /** Where the core's lines go. */
  logging?: LogExporterConfig;
  /** Where metrics go. */
  metrics?: MetricsExporterConfig;
  /** Deprecated, and without effect. */
  tracing?: unknown;
}

/** Options of `Runtime.install`. */
export interface RuntimeOptions {
  /** Where lines go. Default: standard error, from INFO on. */
  logger?: Logger;
  /** What the runtime tells of itself. */
  telemetryOptions?: TelemetryOptions;
  /** How often workers tell the server of themselves. */
  workerHeartbeatInterval?: Duration;
  /** Signals that stop the workers. */
  shutdownSignals?: string[];
}

/** The options with their defaults. */
export interface CompiledRuntimeOptions {
  /** Signals that stop the workers. */
  readonly shutdownSignals: readonly string[];
  /** Where lines go. */
  readonly logger: Logger;
  /** The least serious lines of the worker itself that get there. */
  readonly coreLevel: LogLevel;
  /** What workers report to, and the server that tells of it. */
  readonly metrics: ServedMetrics | undefined;
}

/** A filter as text. */
export function makeTelemetryFilterString({ core, other }: CoreLogFilterOptions): string {
  return `${other ?? "ERROR"},temporalio_sdk_core=${core},temporalio_client=${core},temporalio_common=${core}`;
}

const LEVELS: readonly string[] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"];

/** The level that a filter has for the worker itself. */
function levelOf(filter: string | CoreLogFilterOptions): LogLevel {
  const text = typeof filter === "string" ? filter : makeTelemetryFilterString(filter);
  const own = /temporal(?:io)?_sdk_core=(\w+)/.exec(text)?.[1] ?? /^(\w+)(?:,|$)/.exec(text)?.[1] ?? "";
  const level = own.toUpperCase();
  if (LEVELS.includes(level)) return level as LogLevel;
  throw new TypeError(
    `telemetryOptions.logging.filter ${
      JSON.stringify(filter)
    } has no level for temporalio_sdk_core; use makeTelemetryFilterString`,
  );
}

/** What to do instead of a buffer of metrics. */
export const INSTEAD_OF_BUFFER =
  "use telemetryOptions.metrics.prometheus and read what it serves, or give a native worker (`temporalex/worker`) `metrics` of your own, " +
  "which gets each value";

/** Refuses, by its name, an option that cannot be honoured. */
export function refuseOption(option: string, why: string): never {
  throw new TypeError(`${option} cannot be used with temporalex: ${why}`);
}

/** Throws a TypeError that names the option which cannot be honoured. */
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
    refuseOption("RuntimeOptions.workerHeartbeatInterval", "workers send no heartbeats of their own; leave it out, or give 0");
  }
  const forwarded = logging !== undefined && "forward" in logging ? logging.forward?.level : undefined;
  const filter = logging?.filter ?? tracingFilter;
  return {
    logger: logger ?? new DefaultLogger("INFO"),
    shutdownSignals: shutdownSignals ?? ["SIGINT", "SIGTERM", "SIGQUIT", "SIGUSR2"],
    coreLevel: filter !== undefined ? levelOf(filter) : forwarded ?? "WARN",
    metrics: metrics !== undefined && "prometheus" in metrics
      ? serveMetrics(metrics, telemetryOptions.noTemporalPrefixForMetrics === true)
      : undefined,
  };
}
