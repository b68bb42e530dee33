// Metrics of `Runtime.install({ telemetryOptions: { metrics: { prometheus } } })`: a registry with
// official names, served over HTTP, and the meter for activities. Names of the official core get
// its prefix; names of the program do not change.
import type { Histogram, MetricLabels, Metrics } from "../../base/metrics.ts";
import { FAMILIES } from "../../metrics/families.ts";
import { MetricsRegistry } from "../../metrics/registry.ts";
import { type Probes, serveProbes } from "../../server/probes.ts";
import { CustomMetrics } from "../../worker/metrics/custom_metrics.ts";
import { type MetricMeter, MetricMeterWithComposedTags, type MetricTags } from "../common/mod.ts";
import type { MetricsExporterConfig, PrometheusMetricsExporter } from "./runtime_options.ts";

/** Prefix of names in workers of this package. */
const OWN_PREFIX = "temporal_";
const OFFICIAL_SERVICE_NAME = "temporal-core-sdk";

/** Labels of workflow code's metrics in `@temporalio/worker`. */
const OFFICIAL_LABELS: { readonly [label: string]: string } = {
  task_queue: "taskQueue",
  workflow_type: "workflowType",
};

/** Options of Prometheus metrics, with the common ones of all exporters. */
export type PrometheusMetrics = Extract<MetricsExporterConfig, PrometheusMetricsExporter>;

/** Reports the workers' metrics under official names. */
class OfficialNames implements Metrics {
  readonly #registry: MetricsRegistry;
  readonly #prefix: string;
  readonly #counters: string;
  readonly #histograms: string;

  constructor(registry: MetricsRegistry, prefix: string, counters: string, histograms: string) {
    this.#registry = registry;
    this.#prefix = prefix;
    this.#counters = counters;
    this.#histograms = histograms;
  }

  #named(
    name: string,
    labels: MetricLabels,
  ): { own: boolean; name: string; labels: MetricLabels; help: string | undefined } {
    const family = Object.hasOwn(FAMILIES, name) ? FAMILIES[name] : undefined;
    if (family !== undefined) {
      return {
        own: true,
        name: this.#prefix + name.slice(OWN_PREFIX.length),
        labels,
        help: family.help,
      };
    }
    const official = Object.entries(labels).map((
      [label, value],
    ) => [OFFICIAL_LABELS[label] ?? label, value]);
    return { own: false, name, labels: Object.fromEntries(official), help: undefined };
  }

  counter(given: string, series: MetricLabels) {
    const { name, labels, help } = this.#named(given, series);
    return this.#registry.counter(name + this.#counters, labels, help);
  }

  histogram(given: string, series: MetricLabels): Histogram {
    const { own, name, labels, help } = this.#named(given, series);
    // Values of the program keep their unit.
    if (!own) return this.#registry.values(name, labels, help);
    return this.#registry.histogram(name + this.#histograms, labels, help);
  }

  values(given: string, series: MetricLabels): Histogram {
    return this.histogram(given, series);
  }

  gauge(given: string, series: MetricLabels, read: () => number): () => void {
    const { name, labels, help } = this.#named(given, series);
    return this.#registry.gauge(name, labels, read, help);
  }
}

/** Returns buckets by the final names, in milliseconds. Overrides may have the prefix or not. */
function buckets(
  prefix: string,
  suffix: string,
  overrides: { [name: string]: number[] },
  seconds: boolean,
) {
  const all: { [name: string]: readonly number[] } = {};
  for (const [name, family] of Object.entries(FAMILIES)) {
    const short = name.slice(OWN_PREFIX.length);
    const given = overrides[prefix + short] ?? overrides[short];
    const bounds = given?.map((bound) => seconds ? bound * 1000 : bound) ?? family.buckets;
    if (bounds !== undefined) all[prefix + short + suffix] = bounds;
  }
  // The rest are names of the program.
  for (const [name, bounds] of Object.entries(overrides)) all[name] ??= bounds;
  return all;
}

/** Metrics of a process, and the server that exports them. */
export interface ServedMetrics {
  readonly metrics: Metrics;
  /** Meter for activities and `Runtime.metricMeter`. */
  readonly meter: MetricMeter;
  /** Resolves when the server listens; rejects if the address is not available. */
  readonly listening: Promise<Probes>;
  /** Closes the server. */
  close(): Promise<void>;
}

/** Creates the registry and starts to listen. Throws a TypeError for invalid options. */
export function serveMetrics(config: PrometheusMetrics, noTemporalPrefix: boolean): ServedMetrics {
  const { prometheus, globalTags = {}, attachServiceName = true } = config;
  const prefix = config.metricPrefix ?? (noTemporalPrefix ? "" : OWN_PREFIX);
  const seconds = prometheus.useSecondsForDurations === true;
  const unit = prometheus.unitSuffix !== true ? "" : seconds ? "_seconds" : "_milliseconds";
  const registry = new MetricsRegistry({
    labels: { ...(attachServiceName && { service_name: OFFICIAL_SERVICE_NAME }), ...globalTags },
    durations: seconds ? "s" : "ms",
    buckets: buckets(prefix, unit, prometheus.histogramBucketOverrides ?? {}, seconds),
  });
  const metrics = new OfficialNames(
    registry,
    prefix,
    prometheus.countersTotalSuffix === true ? "_total" : "",
    unit,
  );
  const listening = serveProbes({
    listen: prometheus.bindAddress,
    metrics: registry,
    // The runtime lives as long as its server.
    worker: { state: "running", ready: true },
  });
  // Awaited when a worker is created; otherwise irrelevant.
  listening.catch(() => {});
  return {
    metrics,
    meter: adaptMeter(new CustomMetrics(metrics)),
    listening,
    close: () => listening.then((server) => server.close(), () => {}),
  };
}

/** Returns a meter over a program's metrics. */
export function adaptMeter(custom: CustomMetrics): MetricMeter {
  // `withTags` is implemented by the composed meter.
  const bare: MetricMeter = {
    createCounter: (name, unit, description) => ({
      ...{ kind: "counter", valueType: "int", name, unit, description },
      add(value, tags) {
        notNegative("MetricCounter", value);
        custom.count(name, value, tags ?? {});
      },
      withTags: unreachable,
    }),
    createUpDownCounter: (name, unit, description) => ({
      ...{ kind: "up-down-counter", valueType: "int", name, unit, description },
      add: (value, tags) => custom.countUpDown(name, value, tags ?? {}),
      withTags: unreachable,
    }),
    createHistogram: (name, valueType = "int", unit, description) => ({
      ...{ kind: "histogram", valueType, name, unit, description },
      record(value: number, tags?: MetricTags) {
        notNegative("MetricHistogram", value);
        custom.record(name, unit, value, tags ?? {});
      },
      withTags: unreachable,
    }),
    createGauge: (name, valueType = "int", unit, description) => ({
      ...{ kind: "gauge", valueType, name, unit, description },
      set(value: number, tags?: MetricTags) {
        notNegative("MetricGauge", value);
        custom.set(name, value, tags ?? {});
      },
      withTags: unreachable,
    }),
    withTags: unreachable,
  };
  return MetricMeterWithComposedTags.compose(bare, {}, true);
}

function notNegative(kind: string, value: number): void {
  if (value < 0) throw new Error(`${kind} value must be non-negative (got ${value})`);
}

function unreachable(): never {
  throw new Error("a metric of the meter below was asked for tags");
}
