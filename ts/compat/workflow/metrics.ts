// metricMeter: instruments of the worker's metrics, silent on replay. Tags are combined when a
// value is recorded, because interceptors can add some.
import { METRICS_SINK } from "../../executor/program/sinks.ts";
import { currentCompatRun } from "../current.ts";
import { callThrough } from "../interception.ts";

type Tags = Record<string, string | number | boolean>;
type ValueType = "int" | "float";
type Kind = "counter" | "histogram" | "gauge" | "up-down-counter";

interface Instrument {
  readonly name: string;
  readonly unit?: string;
  readonly description?: string;
  /** Integers, or floating-point numbers. */
  readonly valueType: ValueType;
}
/** A counter. */
export interface MetricCounter extends Instrument {
  readonly kind: "counter";
  /** Adds a value. Throws for a negative one. */
  add(value: number, extraTags?: Tags): void;
  /** Returns the instrument with additional tags. */
  withTags(tags: Tags): MetricCounter;
}
/** A counter that can decrease. */
export interface MetricUpDownCounter extends Instrument {
  readonly kind: "up-down-counter";
  /** Adds a value. */
  add(value: number, extraTags?: Tags): void;
  /** Returns the instrument with additional tags. */
  withTags(tags: Tags): MetricUpDownCounter;
}
/** A histogram. */
export interface MetricHistogram extends Instrument {
  readonly kind: "histogram";
  /** Records a value. Throws for a negative one. */
  record(value: number, extraTags?: Tags): void;
  /** Returns the instrument with additional tags. */
  withTags(tags: Tags): MetricHistogram;
}
/** A gauge. */
export interface MetricGauge extends Instrument {
  readonly kind: "gauge";
  /** Sets the value. Throws for a negative one. */
  set(value: number, extraTags?: Tags): void;
  /** Returns the instrument with additional tags. */
  withTags(tags: Tags): MetricGauge;
}

/** Creates instruments. */
export interface MetricMeter {
  /** Creates a counter. */
  createCounter(name: string, unit?: string, description?: string): MetricCounter;
  /** Creates a histogram. */
  createHistogram(
    name: string,
    valueType?: ValueType,
    unit?: string,
    description?: string,
  ): MetricHistogram;
  /** Creates a gauge. */
  createGauge(
    name: string,
    valueType?: ValueType,
    unit?: string,
    description?: string,
  ): MetricGauge;
  /** Creates a counter that can decrease. */
  createUpDownCounter(name: string, unit?: string, description?: string): MetricUpDownCounter;
  /** Returns a meter whose instruments have additional tags. */
  withTags(tags: Tags): MetricMeter;
}

/** By instrument: function of the metrics sink, recording method, and name in errors. */
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
      const own = callThrough(run, "outbound", "getMetricTags", (tags: Tags) => tags)({
        workflowType: run.info.workflowType,
      });
      const tags = { ...own, ...given, ...extraTags };
      if (kind !== "up-down-counter" && value < 0) {
        throw new Error(`${what} value must be non-negative (got ${value})`);
      }
      if (run.info.unsafe.isReplaying) return;
      const set = Object.fromEntries(
        Object.entries(tags).filter(([, tag]) => tag !== undefined && tag !== null),
      );
      run.sinks.call(METRICS_SINK, sinkMethod, [name, ...typed, unit, description, value, set]);
    },
    withTags: (tags: Tags) => instrument(kind, about, { ...given, ...tags }),
  };
}

function meter(given: Tags): MetricMeter {
  const make = (
    kind: Kind,
    name: string,
    valueType: ValueType,
    unit?: string,
    description?: string,
  ) =>
    instrument(kind, {
      ...{ name, valueType },
      ...(unit === undefined ? {} : { unit }),
      ...(description === undefined ? {} : { description }),
    }, given);
  return {
    createCounter: (name, unit, description) =>
      make("counter", name, "int", unit, description) as MetricCounter,
    createHistogram: (name, valueType = "int", unit, description) =>
      make("histogram", name, valueType, unit, description) as MetricHistogram,
    createGauge: (name, valueType = "int", unit, description) =>
      make("gauge", name, valueType, unit, description) as MetricGauge,
    createUpDownCounter: (name, unit, description) =>
      make("up-down-counter", name, "int", unit, description) as MetricUpDownCounter,
    withTags: (tags) => meter({ ...given, ...tags }),
  };
}

/** Creates instruments of the worker's metrics. */
export const metricMeter: MetricMeter = meter({});
