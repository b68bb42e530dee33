// Metrics of `@temporalio/*`: the interface that programs get, one that measures nothing, and one that adds tags.
import { appended, type Contributor, resolved } from "./contributors.ts";

/** Tags by name. */
export type MetricTags = Record<string, string | number | boolean>;
/** Tags, or a function that makes them. */
export type MetricTagsOrFunc = Contributor<MetricTags>;
/** What values a metric has. */
export type NumericMetricValueType = "int" | "float";
/** What a metric is. */
export type MetricKind = "counter" | "histogram" | "gauge" | "up-down-counter";

/** What all metrics have. */
export interface Metric {
  /** Its name. */
  name: string;
  /** Its unit. */
  unit?: string | undefined;
  /** What it measures. */
  description?: string | undefined;
  /** What it is. */
  kind: MetricKind;
  /** What values it has. */
  valueType: NumericMetricValueType;
}
/** Counts up. */
export interface MetricCounter extends Metric {
  /** Adds. */
  add(value: number, extraTags?: MetricTags): void;
  /** The same metric with more tags. */
  withTags(tags: MetricTags): MetricCounter;
  /** What it is. */
  kind: "counter";
  /** What values it has. */
  valueType: "int";
}
/** Counts how often values occur. */
export interface MetricHistogram extends Metric {
  /** Takes a value. */
  record(value: number, extraTags?: MetricTags): void;
  /** The same metric with more tags. */
  withTags(tags: MetricTags): MetricHistogram;
  /** What it is. */
  kind: "histogram";
}
/** Has a value. */
export interface MetricGauge extends Metric {
  /** Sets it. */
  set(value: number, extraTags?: MetricTags): void;
  /** The same metric with more tags. */
  withTags(tags: MetricTags): MetricGauge;
  /** What it is. */
  kind: "gauge";
}
/** Counts up and down. */
export interface MetricUpDownCounter extends Metric {
  /** Adds; less than 0 takes away. */
  add(value: number, extraTags?: MetricTags): void;
  /** The same metric with more tags. */
  withTags(tags: MetricTags): MetricUpDownCounter;
  /** What it is. */
  kind: "up-down-counter";
  /** What values it has. */
  valueType: "int";
}

/** Makes metrics. */
export interface MetricMeter {
  /** A counter. */
  createCounter(name: string, unit?: string, description?: string): MetricCounter;
  /** A histogram. */
  createHistogram(name: string, valueType?: NumericMetricValueType, unit?: string, description?: string): MetricHistogram;
  /** A gauge. */
  createGauge(name: string, valueType?: NumericMetricValueType, unit?: string, description?: string): MetricGauge;
  /** A counter that also goes down. */
  createUpDownCounter?(name: string, unit?: string, description?: string): MetricUpDownCounter;
  /** The same meter with more tags. */
  withTags(tags: MetricTags): MetricMeter;
}

/** Any metric as its wrappers see it. */
type AnyMetric = Metric & Partial<Record<"add" | "record" | "set", (value: number, extraTags?: MetricTags) => void>>;

function noopMetric(kind: MetricKind, valueType: NumericMetricValueType, name: string, unit?: string, description?: string) {
  return { name, unit, description, kind, valueType, add() {}, record() {}, set() {}, withTags: returnThis };
}
function returnThis<T>(this: T): T {
  return this;
}

class NoopMetricMeter implements MetricMeter {
  createCounter(name: string, unit?: string, description?: string): MetricCounter {
    return noopMetric("counter", "int", name, unit, description) as unknown as MetricCounter;
  }
  createHistogram(name: string, type: NumericMetricValueType = "int", unit?: string, description?: string): MetricHistogram {
    return noopMetric("histogram", type, name, unit, description) as unknown as MetricHistogram;
  }
  createGauge(name: string, type: NumericMetricValueType = "int", unit?: string, description?: string): MetricGauge {
    return noopMetric("gauge", type, name, unit, description) as unknown as MetricGauge;
  }
  createUpDownCounter(name: string, unit?: string, description?: string): MetricUpDownCounter {
    return noopMetric("up-down-counter", "int", name, unit, description) as unknown as MetricUpDownCounter;
  }
  withTags(_extraTags: MetricTags): MetricMeter {
    return this;
  }
}
/** Measures nothing. */
export const noopMetricMeter: NoopMetricMeter = new NoopMetricMeter();

/** A metric that adds tags to every measurement. */
class TaggedMetric {
  readonly #parent: AnyMetric;
  readonly #tags: readonly MetricTagsOrFunc[];
  readonly name: string;
  readonly unit: string | undefined;
  readonly description: string | undefined;
  readonly kind: MetricKind;
  readonly valueType: NumericMetricValueType;

  constructor(parent: Metric, tags: readonly MetricTagsOrFunc[]) {
    this.#parent = parent as AnyMetric;
    this.#tags = tags;
    ({ name: this.name, unit: this.unit, description: this.description, kind: this.kind, valueType: this.valueType } = parent);
  }
  add(value: number, extraTags?: MetricTags): void {
    this.#parent.add!(value, resolved(this.#tags, extraTags));
  }
  record(value: number, extraTags?: MetricTags): void {
    this.#parent.record!(value, resolved(this.#tags, extraTags));
  }
  set(value: number, extraTags?: MetricTags): void {
    this.#parent.set!(value, resolved(this.#tags, extraTags));
  }
  withTags(extraTags: MetricTags): TaggedMetric {
    return new TaggedMetric(this.#parent, appended(this.#tags, extraTags) ?? []);
  }
}

/** A meter whose metrics add tags to every measurement. */
export class MetricMeterWithComposedTags implements MetricMeter {
  readonly #parent: MetricMeter;
  readonly #tags: readonly MetricTagsOrFunc[];

  private constructor(parentMeter: MetricMeter, tags: readonly MetricTagsOrFunc[]) {
    this.#parent = parentMeter;
    this.#tags = tags;
  }

  /** The meter with more tags; itself where there are none, unless another one is wanted. */
  static compose(meter: MetricMeter, tagsOrFunc: MetricTagsOrFunc, force = false): MetricMeter {
    const composed = meter instanceof MetricMeterWithComposedTags ? meter : undefined;
    const before = composed === undefined ? undefined : composed.#tags;
    const chain = appended(before, tagsOrFunc);
    if ((chain === undefined || chain === before) && !force) return meter;
    return new MetricMeterWithComposedTags(composed === undefined ? meter : composed.#parent, chain ?? []);
  }

  #tagged<M extends Metric>(metric: M): M {
    return new TaggedMetric(metric, this.#tags) as unknown as M;
  }
  /** A counter. */
  createCounter(name: string, unit?: string, description?: string): MetricCounter {
    return this.#tagged(this.#parent.createCounter(name, unit, description));
  }
  /** A histogram. */
  createHistogram(name: string, type: NumericMetricValueType = "int", unit?: string, description?: string): MetricHistogram {
    return this.#tagged(this.#parent.createHistogram(name, type, unit, description));
  }
  /** A gauge. */
  createGauge(name: string, type: NumericMetricValueType = "int", unit?: string, description?: string): MetricGauge {
    return this.#tagged(this.#parent.createGauge(name, type, unit, description));
  }
  /** A counter that also goes down. Throws where the meter below has none. */
  createUpDownCounter(name: string, unit?: string, description?: string): MetricUpDownCounter {
    const create = this.#parent.createUpDownCounter?.bind(this.#parent);
    if (create === undefined) throw new Error("createUpDownCounter is not supported by the underlying meter");
    return this.#tagged(create(name, unit, description));
  }
  /** The same meter with more tags. */
  withTags(tags: MetricTags): MetricMeter {
    return MetricMeterWithComposedTags.compose(this, tags);
  }
}
