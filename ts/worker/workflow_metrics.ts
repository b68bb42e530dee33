// Metrics that workflow code gives through `metricMeter`: the functions of the sink that they leave it by, on the worker's metrics. Labels
// are the workflow's tags, with namespace and task queue.
import type { Counter, Histogram, MetricLabels, Metrics } from "../base/metrics.ts";
import type { InjectedSinkFunction } from "../realm/sinks.ts";

type Tags = { readonly [name: string]: unknown };

/** Series by kind, name and labels. What a program makes up without end must not fill the memory. */
const MAX_SERIES = 5000;

/** What a name must be made of, for Prometheus. */
const plain = (name: string): string => name.replace(/[^a-zA-Z0-9_]/g, "_");

/** The sink of metrics. */
export function workflowMetrics(metrics: Metrics, { namespace, taskQueue }: { namespace: string; taskQueue: string }) {
  const series = new Map<string, unknown>();
  const seriesOf = <T>(
    kind: string,
    name: string,
    tags: Tags,
    make: (name: string, labels: MetricLabels) => T,
  ): T | undefined => {
    const labels = Object.fromEntries(
      Object.entries({ namespace, task_queue: taskQueue, ...tags }).map(([tag, value]) => [plain(labelOf(tag)), String(value)]),
    );
    const key = JSON.stringify([kind, name, labels]);
    let made = series.get(key) as T | undefined;
    if (made === undefined && series.size < MAX_SERIES) series.set(key, made = make(plain(name), labels));
    return made;
  };
  /** A value that is kept here and read when somebody looks. */
  const held = (name: string, labels: MetricLabels) => {
    const current = { value: 0 };
    metrics.gauge(name, labels, () => current.value);
    return current;
  };
  const functions: { readonly [method: string]: InjectedSinkFunction } = {
    addMetricCounterValue: {
      fn: (_, name: string, _unit, _description, value: number, tags: Tags) =>
        seriesOf<Counter>("counter", name, tags, (...series) => metrics.counter(...series))?.add(value),
    },
    addMetricUpDownCounterValue: {
      fn(_, name: string, _unit, _description, value: number, tags: Tags) {
        const current = seriesOf("held", name, tags, held);
        if (current !== undefined) current.value += value;
      },
    },
    setMetricGaugeValue: {
      fn(_, name: string, _type, _unit, _description, value: number, tags: Tags) {
        const current = seriesOf("held", name, tags, held);
        if (current !== undefined) current.value = value;
      },
    },
    recordMetricHistogramValue: {
      fn(_, name: string, _type, unit: string | undefined, _description, value: number, tags: Tags) {
        const values = (name: string, labels: MetricLabels): Histogram =>
          unit === "ms" || metrics.values === undefined ? metrics.histogram(name, labels) : metrics.values(name, labels);
        seriesOf("histogram", name, tags, values)?.record(value);
      },
    },
  };
  return { __temporal_metrics: functions };
}

/** The one tag that every metric has is named as the metrics of workers name it. */
const labelOf = (tag: string): string => tag === "workflowType" ? "workflow_type" : tag;
