// Custom metrics by name, with a value and tags per call; series are created on first use.
import type { Histogram, MetricLabels, Metrics } from "../../base/metrics.ts";

type Tags = { readonly [name: string]: unknown };

/** Maximum series by kind, name and labels, so that unbounded tags do not fill the memory. */
const MAX_SERIES = 5000;

/** Replaces characters that Prometheus does not allow. */
const plain = (name: string): string => name.replace(/[^a-zA-Z0-9_]/g, "_");

/** Records values of metrics that the worker does not define. */
export class CustomMetrics {
  readonly #metrics: Metrics;
  readonly #labels: (tags: Tags) => Tags;
  readonly #series = new Map<string, unknown>();

  /** `labels` derives the labels of a series from the tags of a value. */
  constructor(metrics: Metrics, labels: (tags: Tags) => Tags = (tags) => tags) {
    this.#metrics = metrics;
    this.#labels = labels;
  }

  #of<T>(
    kind: string,
    name: string,
    tags: Tags,
    make: (name: string, labels: MetricLabels) => T,
  ): T | undefined {
    const labels = Object.fromEntries(
      Object.entries(this.#labels(tags)).map(([tag, value]) => [plain(tag), String(value)]),
    );
    const key = JSON.stringify([kind, name, labels]);
    let made = this.#series.get(key) as T | undefined;
    if (made === undefined && this.#series.size < MAX_SERIES) {
      this.#series.set(key, made = make(plain(name), labels));
    }
    return made;
  }

  /** A value that is read when metrics are collected. */
  #held(name: string, tags: Tags): { value: number } | undefined {
    return this.#of("held", name, tags, (name, labels) => {
      const current = { value: 0 };
      this.#metrics.gauge(name, labels, () => current.value);
      return current;
    });
  }

  count(name: string, value: number, tags: Tags): void {
    this.#of("counter", name, tags, (...series) => this.#metrics.counter(...series))?.add(value);
  }

  /** Adds to a counter that may decrease. */
  countUpDown(name: string, value: number, tags: Tags): void {
    const current = this.#held(name, tags);
    if (current !== undefined) current.value += value;
  }

  set(name: string, value: number, tags: Tags): void {
    const current = this.#held(name, tags);
    if (current !== undefined) current.value = value;
  }

  /** Records a value in a histogram; values with the unit "ms" are durations. */
  record(name: string, unit: string | undefined, value: number, tags: Tags): void {
    const metrics = this.#metrics;
    const values = (name: string, labels: MetricLabels): Histogram =>
      unit === "ms" || metrics.values === undefined
        ? metrics.histogram(name, labels)
        : metrics.values(name, labels);
    this.#of("histogram", name, tags, values)?.record(value);
  }
}
