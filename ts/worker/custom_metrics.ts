// Metrics that programs give by name, with a value and tags at each call: series of the worker's metrics, made when they are first needed.
import type { Histogram, MetricLabels, Metrics } from "../base/metrics.ts";

type Tags = { readonly [name: string]: unknown };

/** Series by kind, name and labels. What a program makes up without end must not fill the memory. */
const MAX_SERIES = 5000;

/** What a name must be made of, for Prometheus. */
const plain = (name: string): string => name.replace(/[^a-zA-Z0-9_]/g, "_");

/** Takes values of metrics that are not the worker's own. */
export class CustomMetrics {
  readonly #metrics: Metrics;
  readonly #labels: (tags: Tags) => Tags;
  readonly #series = new Map<string, unknown>();

  /** `labels` makes a series' labels of the tags that came with the value. */
  constructor(metrics: Metrics, labels: (tags: Tags) => Tags = (tags) => tags) {
    this.#metrics = metrics;
    this.#labels = labels;
  }

  #of<T>(kind: string, name: string, tags: Tags, make: (name: string, labels: MetricLabels) => T): T | undefined {
    const labels = Object.fromEntries(
      Object.entries(this.#labels(tags)).map(([tag, value]) => [plain(tag), String(value)]),
    );
    const key = JSON.stringify([kind, name, labels]);
    let made = this.#series.get(key) as T | undefined;
    if (made === undefined && this.#series.size < MAX_SERIES) this.#series.set(key, made = make(plain(name), labels));
    return made;
  }

  /** A value that is kept here and read when metrics are collected. */
  #held(name: string, tags: Tags): { value: number } | undefined {
    return this.#of("held", name, tags, (name, labels) => {
      const current = { value: 0 };
      this.#metrics.gauge(name, labels, () => current.value);
      return current;
    });
  }

  /** Adds to a counter. */
  count(name: string, value: number, tags: Tags): void {
    this.#of("counter", name, tags, (...series) => this.#metrics.counter(...series))?.add(value);
  }

  /** Adds to a counter that may fall. */
  countUpDown(name: string, value: number, tags: Tags): void {
    const current = this.#held(name, tags);
    if (current !== undefined) current.value += value;
  }

  /** Sets a gauge. */
  set(name: string, value: number, tags: Tags): void {
    const current = this.#held(name, tags);
    if (current !== undefined) current.value = value;
  }

  /** Notes a value in a histogram; those of unit "ms" are durations. */
  record(name: string, unit: string | undefined, value: number, tags: Tags): void {
    const metrics = this.#metrics;
    const values = (name: string, labels: MetricLabels): Histogram =>
      unit === "ms" || metrics.values === undefined ? metrics.histogram(name, labels) : metrics.values(name, labels);
    this.#of("histogram", name, tags, values)?.record(value);
  }
}
