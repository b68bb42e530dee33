// The interface of a metrics sink for clients and workers, small enough to adapt to any metrics
// library. Names, labels and units are those of Temporal's SDKs (sdk-core), so their dashboards
// fit. Without a sink nothing is measured. Labels hold names of types, queues and calls, never ids
// or payloads.

/** Labels of a series: names of types, queues, calls. */
export interface MetricLabels {
  /** One label. */
  readonly [name: string]: string;
}

/** A counter. */
export interface Counter {
  /** Adds to the count. Default: 1. */
  add(amount?: number): void;
}

/** A distribution, usually of durations. */
export interface Histogram {
  /** Records a duration in milliseconds. */
  record(milliseconds: number): void;
}

/**
 * The metrics sink of clients and workers: `MetricsRegistry` of `temporalex/metrics`, or an
 * adapter. Called once per series; the returned instrument is kept. If the sink or an instrument
 * throws, the first error is printed to stderr and work continues.
 */
export interface Metrics {
  /** Returns the counter of this name with these labels. */
  counter(name: string, labels: MetricLabels): Counter;
  /** Returns the histogram of durations of this name with these labels. */
  histogram(name: string, labels: MetricLabels): Histogram;
  /**
   * Returns a histogram of values that are not durations. If absent, `histogram` is called instead.
   */
  values?(name: string, labels: MetricLabels): Histogram;
  /**
   * Registers a value that is read when metrics are collected, until the returned function is
   * called.
   */
  gauge(name: string, labels: MetricLabels, read: () => number): () => void;
}

/** Creates series on first use and caches them: one per value of the label that varies. */
export class SeriesBy<T> {
  readonly #made = new Map<string, T>();
  readonly #make: (value: string) => T;

  constructor(make: (value: string) => T) {
    this.#make = make;
  }

  of(value: string): T {
    let made = this.#made.get(value);
    if (made === undefined) {
      made = this.#make(value);
      // Bounds the cache: type names come from outside and can be arbitrary.
      if (this.#made.size < MAX_KEPT) this.#made.set(value, made);
    }
    return made;
  }
}

const MAX_KEPT = 5000;
