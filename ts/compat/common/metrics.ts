// Metrics of `@temporalio/*`: the interface, a no-op implementation, and one that adds tags.
import { appended, type Contributor, mergeContributions } from "./contributors.ts";

/** Tags by name. */
export type MetricTags = Record<string, string | number | boolean>;
/** Tags, or a function that returns them. */
export type MetricTagsOrFunc = Contributor<MetricTags>;
/** Type of a metric's values. */
export type NumericMetricValueType = "int" | "float";
/** Kind of a metric. */
export type MetricKind = "counter" | "histogram" | "gauge" | "up-down-counter";

/** Common properties of metrics. */
export interface Metric {
  name: string;
  unit?: string | undefined;
  description?: string | undefined;
  kind: MetricKind;
  valueType: NumericMetricValueType;
}
/** A counter. */
export interface MetricCounter extends Metric {
  /** Adds a value. */
  add(value: number, extraTags?: MetricTags): void;
  /** Returns the metric with additional tags. */
  withTags(tags: MetricTags): MetricCounter;
  /** Discriminator. */
  kind: "counter";
  valueType: "int";
}
/** A histogram. */
export interface MetricHistogram extends Metric {
  /** Records a value. */
  record(value: number, extraTags?: MetricTags): void;
  /** Returns the metric with additional tags. */
  withTags(tags: MetricTags): MetricHistogram;
  /** Discriminator. */
  kind: "histogram";
}
/** A gauge. */
export interface MetricGauge extends Metric {
  /** Sets the value. */
  set(value: number, extraTags?: MetricTags): void;
  /** Returns the metric with additional tags. */
  withTags(tags: MetricTags): MetricGauge;
  /** Discriminator. */
  kind: "gauge";
}
/** A counter that can decrease. */
export interface MetricUpDownCounter extends Metric {
  /** Adds a value, which may be negative. */
  add(value: number, extraTags?: MetricTags): void;
  /** Returns the metric with additional tags. */
  withTags(tags: MetricTags): MetricUpDownCounter;
  /** Discriminator. */
  kind: "up-down-counter";
  valueType: "int";
}

/** Creates metrics. */
export interface MetricMeter {
  /** Creates a counter. */
  createCounter(name: string, unit?: string, description?: string): MetricCounter;
  /** Creates a histogram. */
  createHistogram(
    name: string,
    valueType?: NumericMetricValueType,
    unit?: string,
    description?: string,
  ): MetricHistogram;
  /** Creates a gauge. */
  createGauge(
    name: string,
    valueType?: NumericMetricValueType,
    unit?: string,
    description?: string,
  ): MetricGauge;
  /** Creates a counter that can decrease. */
  createUpDownCounter?(name: string, unit?: string, description?: string): MetricUpDownCounter;
  /** Returns the meter with additional tags. */
  withTags(tags: MetricTags): MetricMeter;
}

/** Any metric, for wrappers. */
type AnyMetric =
  & Metric
  & Partial<Record<"add" | "record" | "set", (value: number, extraTags?: MetricTags) => void>>;

function noopMetric(
  kind: MetricKind,
  valueType: NumericMetricValueType,
  name: string,
  unit?: string,
  description?: string,
) {
  return {
    name,
    unit,
    description,
    kind,
    valueType,
    add() {},
    record() {},
    set() {},
    withTags: returnThis,
  };
}
function returnThis<T>(this: T): T {
  return this;
}

class NoopMetricMeter implements MetricMeter {
  createCounter(name: string, unit?: string, description?: string): MetricCounter {
    return noopMetric("counter", "int", name, unit, description) as unknown as MetricCounter;
  }
  createHistogram(
    name: string,
    type: NumericMetricValueType = "int",
    unit?: string,
    description?: string,
  ): MetricHistogram {
    return noopMetric("histogram", type, name, unit, description) as unknown as MetricHistogram;
  }
  createGauge(
    name: string,
    type: NumericMetricValueType = "int",
    unit?: string,
    description?: string,
  ): MetricGauge {
    return noopMetric("gauge", type, name, unit, description) as unknown as MetricGauge;
  }
  createUpDownCounter(name: string, unit?: string, description?: string): MetricUpDownCounter {
    return noopMetric(
      "up-down-counter",
      "int",
      name,
      unit,
      description,
    ) as unknown as MetricUpDownCounter;
  }
  withTags(_extraTags: MetricTags): MetricMeter {
    return this;
  }
}
/** A meter that measures nothing. */
export const noopMetricMeter: NoopMetricMeter = new NoopMetricMeter();

/** A metric that adds tags to each measurement. */
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
    ({
      name: this.name,
      unit: this.unit,
      description: this.description,
      kind: this.kind,
      valueType: this.valueType,
    } = parent);
  }
  add(value: number, extraTags?: MetricTags): void {
    this.#parent.add!(value, mergeContributions(this.#tags, extraTags));
  }
  record(value: number, extraTags?: MetricTags): void {
    this.#parent.record!(value, mergeContributions(this.#tags, extraTags));
  }
  set(value: number, extraTags?: MetricTags): void {
    this.#parent.set!(value, mergeContributions(this.#tags, extraTags));
  }
  withTags(extraTags: MetricTags): TaggedMetric {
    return new TaggedMetric(this.#parent, appended(this.#tags, extraTags) ?? []);
  }
}

/** A meter whose metrics add tags to each measurement. */
export class MetricMeterWithComposedTags implements MetricMeter {
  readonly #parent: MetricMeter;
  readonly #tags: readonly MetricTagsOrFunc[];

  private constructor(parentMeter: MetricMeter, tags: readonly MetricTagsOrFunc[]) {
    this.#parent = parentMeter;
    this.#tags = tags;
  }

  /**
   * Returns the meter with additional tags; the meter itself without any, unless `force` is set.
   */
  static compose(meter: MetricMeter, tagsOrFunc: MetricTagsOrFunc, force = false): MetricMeter {
    const composed = meter instanceof MetricMeterWithComposedTags ? meter : undefined;
    const before = composed === undefined ? undefined : composed.#tags;
    const chain = appended(before, tagsOrFunc);
    if ((chain === undefined || chain === before) && !force) return meter;
    return new MetricMeterWithComposedTags(
      composed === undefined ? meter : composed.#parent,
      chain ?? [],
    );
  }

  #tagged<M extends Metric>(metric: M): M {
    return new TaggedMetric(metric, this.#tags) as unknown as M;
  }
  createCounter(name: string, unit?: string, description?: string): MetricCounter {
    return this.#tagged(this.#parent.createCounter(name, unit, description));
  }
  createHistogram(
    name: string,
    type: NumericMetricValueType = "int",
    unit?: string,
    description?: string,
  ): MetricHistogram {
    return this.#tagged(this.#parent.createHistogram(name, type, unit, description));
  }
  createGauge(
    name: string,
    type: NumericMetricValueType = "int",
    unit?: string,
    description?: string,
  ): MetricGauge {
    return this.#tagged(this.#parent.createGauge(name, type, unit, description));
  }
  /** Creates a counter that can decrease. Throws if the underlying meter does not support it. */
  createUpDownCounter(name: string, unit?: string, description?: string): MetricUpDownCounter {
    const create = this.#parent.createUpDownCounter?.bind(this.#parent);
    if (create === undefined) {
      throw new Error("createUpDownCounter is not supported by the underlying meter");
    }
    return this.#tagged(create(name, unit, description));
  }
  /** Returns the meter with additional tags. */
  withTags(tags: MetricTags): MetricMeter {
    return MetricMeterWithComposedTags.compose(this, tags);
  }
}
