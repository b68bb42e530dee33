// Metrics of workflow code from `metricMeter`: the functions of its sink, recorded in the worker's
// metrics. Labels are the workflow's tags, namespace and task queue.
import type { Metrics } from "../../base/metrics.ts";
import type { InjectedSinkFunction } from "../../realm/sinks.ts";
import { CustomMetrics } from "./custom_metrics.ts";

type Tags = { readonly [name: string]: unknown };

/** Returns the sink of metrics. */
export function workflowMetrics(
  metrics: Metrics,
  { namespace, taskQueue }: { namespace: string; taskQueue: string },
) {
  const custom = new CustomMetrics(
    metrics,
    (tags) => ({ namespace, task_queue: taskQueue, ...withTypeAsWorkers(tags) }),
  );
  const functions: { readonly [method: string]: InjectedSinkFunction } = {
    addMetricCounterValue: {
      fn: (_, name: string, _unit, _description, value: number, tags: Tags) =>
        custom.count(name, value, tags),
    },
    addMetricUpDownCounterValue: {
      fn: (_, name: string, _unit, _description, value: number, tags: Tags) =>
        custom.countUpDown(name, value, tags),
    },
    setMetricGaugeValue: {
      fn: (_, name: string, _type, _unit, _description, value: number, tags: Tags) =>
        custom.set(name, value, tags),
    },
    recordMetricHistogramValue: {
      fn: (
        _,
        name: string,
        _type,
        unit: string | undefined,
        _description,
        value: number,
        tags: Tags,
      ) => custom.record(name, unit, value, tags),
    },
  };
  return { __temporal_metrics: functions };
}

/** Renames the tag of the workflow type to the label in the worker's metrics. */
function withTypeAsWorkers(tags: Tags): Tags {
  return Object.fromEntries(
    Object.entries(tags).map((
      [tag, value],
    ) => [tag === "workflowType" ? "workflow_type" : tag, value]),
  );
}
