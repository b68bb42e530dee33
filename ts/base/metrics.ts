// What clients and workers report about themselves, and to whom: an interface of three instruments that any metrics library can stand
// behind. Names, labels and units are those of Temporal's SDKs (sdk-core), so their dashboards fit. Nothing is measured where nobody gave
// an object of this kind; labels hold names of types, queues and calls, never ids and never payloads.

/** Labels of a series: names of types, queues, calls. */
export interface MetricLabels {
  /** One label. */
  readonly [name: string]: string;
}

/** Something that is counted. */
export interface Counter {
  /** Adds to the count. Default: 1. */
  add(amount?: number): void;
}

/** How long things take. */
export interface Histogram {
  /** Notes a duration in milliseconds. */
  record(milliseconds: number): void;
}

/**
 * Where clients and workers report to: `MetricsRegistry` of `temporalex/metrics`, or an adapter of yours. Asked once per series; what it
 * answers is kept. What it or its answers throw is said once on standard error, and changes nothing.
 */
export interface Metrics {
  /** A series of that name and with these labels. */
  counter(name: string, labels: MetricLabels): Counter;
  /** A series of durations. */
  histogram(name: string, labels: MetricLabels): Histogram;
  /** A series of values that are no durations. Absent: they are given to `histogram`. */
  values?(name: string, labels: MetricLabels): Histogram;
  /** A value that is read when metrics are collected, until the function that this answers is called. */
  gauge(name: string, labels: MetricLabels, read: () => number): () => void;
}

/** Makes series when they are first needed, and keeps them: one per value of the label that varies. */
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
      // Types are few; a flood of made-up ones must not fill the memory.
      if (this.#made.size < MAX_KEPT) this.#made.set(value, made);
    }
    return made;
  }
}

const MAX_KEPT = 5000;
