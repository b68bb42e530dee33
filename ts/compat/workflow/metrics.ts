// metricMeter: instruments whose values go to the worker's metrics, but on replay. Tags are put together where a value is given, because
// interceptors may add some.
import { METRICS_SINK } from "../../executor/program/sinks.ts";
import { currentCompatRun } from "../current.ts";
import { intercepted } from "../interception.ts";

type Tags = Record<string, string | number | boolean>;
type ValueType = "int" | "float";
type Kind = "counter" | "histogram" | "gauge" | "up-down-counter";

interface Instrument {
  /** Its name. */
  readonly name: string;
  /** What it measures in. */
  readonly unit?: string;
  /** What it is, for people. */
  readonly description?: string;
  /** Whole numbers, or others too. */
  readonly valueType: ValueType;
}
/** Something that is counted. */
export interface MetricCounter extends Instrument {
  readonly kind: "counter";
  /** Adds to the count. Throws for a negative value. */
  add(value: number, extraTags?: Tags): void;
  /** The same with more tags. */
  withTags(tags: Tags): MetricCounter;
}
/** Something that is counted, and may become less. */
export interface MetricUpDownCounter extends Instrument {
  readonly kind: "up-down-counter";
  /** Adds to the count. */
  add(value: number, extraTags?: Tags): void;
  /** The same with more tags. */
  withTags(tags: Tags): MetricUpDownCounter;
}
/** Values, by how many there are of which size. */
export interface MetricHistogram extends Instrument {
  readonly kind: "histogram";
  /** Notes a value. Throws for a negative one. */
  record(value: number, extraTags?: Tags): void;
  /** The same with more tags. */
  withTags(tags: Tags): MetricHistogram;
}
/** A value that changes. */
export interface MetricGauge extends Instrument {
  readonly kind: "gauge";
  /** Sets the value. Throws for a negative one. */
  set(value: number, extraTags?: Tags): void;
  /** The same with more tags. */
  withTags(tags: Tags): MetricGauge;
}

/** Makes instruments. */
export interface MetricMeter {
  /** Something that is counted. */
  createCounter(name: string, unit?: string, description?: string): MetricCounter;
  /** Values, by how many there are of which size. */
  createHistogram(name: string, valueType?: ValueType, unit?: string, description?: string): MetricHistogram;
  /** A value that changes. */
  createGauge(name: string, valueType?: ValueType, unit?: string, description?: string): MetricGauge;
  /** Something that is counted, and may become less. */
  createUpDownCounter(name: string, unit?: string, description?: string): MetricUpDownCounter;
  /** The same with tags on all its instruments. */
  withTags(tags: Tags): MetricMeter;
}

/** The function of the metrics' sink for a kind of instrument, the method that gives a value, and what it is called in errors. */
const KINDS: { readonly [K in Kind]: readonly [sink: string, method: string, name: string] } = {
  counter: ["addMetricCounterValue", "add", "MetricCounter"],
  histogram: ["recordMetricHistogramValue", "record", "MetricHistogram"],
  gauge: ["setMetricGaugeValue", "set", "MetricGauge"],
  "up-down-counter": ["addMetricUpDownCounterValue", "add", "MetricUpDownCounter"],
};

const OUTSIDE = "Workflow's `metricMeter` can only be used while in Workflow Context";

function instrument(kind: Kind, about: Instrument, given: Tags): object {
  currentCompatRun(OUTSIDE);
  const [sinkMethod, method, what] = KINDS[kind];
  const { name, valueType, unit, description } = about;
  const typed = kind === "histogram" || kind === "gauge" ? [valueType] : [];
  return {
    ...about,
    kind,
    [method]: (value: number, extraTags: Tags = {}) => {
      const run = currentCompatRun("Workflow.metricMeter may only be used from workflow context.");
      const own = intercepted(run, "outbound", "getMetricTags", (tags: Tags) => tags)({ workflowType: run.info.workflowType });
      const tags = { ...own, ...given, ...extraTags };
      if (kind !== "up-down-counter" && value < 0) throw new Error(`${what} value must be non-negative (got ${value})`);
      if (run.info.unsafe.isReplaying) return;
      const set = Object.fromEntries(Object.entries(tags).filter(([, tag]) => tag !== undefined && tag !== null));
      run.sinks.call(METRICS_SINK, sinkMethod, [name, ...typed, unit, description, value, set]);
    },
    withTags: (tags: Tags) => instrument(kind, about, { ...given, ...tags }),
  };
}

function meter(given: Tags): MetricMeter {
  const make = (kind: Kind, name: string, valueType: ValueType, unit?: string, description?: string) =>
    instrument(kind, {
      ...{ name, valueType },
      ...(unit === undefined ? {} : { unit }),
      ...(description === undefined ? {} : { description }),
    }, given);
  return {
    createCounter: (name, unit, description) => make("counter", name, "int", unit, description) as MetricCounter,
    createHistogram: (name, valueType = "int", unit, description) =>
      make("histogram", name, valueType, unit, description) as MetricHistogram,
    createGauge: (name, valueType = "int", unit, description) => make("gauge", name, valueType, unit, description) as MetricGauge,
    createUpDownCounter: (name, unit, description) =>
      make("up-down-counter", name, "int", unit, description) as MetricUpDownCounter,
    withTags: (tags) => meter({ ...given, ...tags }),
  };
}

/** Makes instruments whose values go to the worker's metrics. */
export const metricMeter: MetricMeter = meter({});
