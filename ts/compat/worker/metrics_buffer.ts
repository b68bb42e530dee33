// MetricsBuffer: buffered updates of metrics. Workers of this package keep series instead, so its
// constructor throws; programs that only import it load.
import type { Metric, MetricTags } from "../common/mod.ts";
import { INSTEAD_OF_BUFFER, refuseOption } from "./runtime_options.ts";

/** Options of a buffer. */
export interface MetricsBufferOptions {
  /** Maximum number of updates. Default: 10000. */
  maxBufferSize?: number;
  /** Durations in seconds instead of milliseconds. Default: false. */
  useSecondsForDurations?: boolean;
}

/** One value of a metric. */
export interface BufferedMetricUpdate {
  metric: Metric;
  /** Increment of a counter; the value of other metrics. */
  value: number;
  attributes: MetricTags;
}

/** A buffer of metric updates; not supported. */
export class MetricsBuffer {
  /** Maximum number of updates. */
  readonly maxBufferSize: number = 0;
  readonly useSecondsForDurations: boolean = false;

  /** Throws a TypeError: not supported. */
  constructor(_options: MetricsBufferOptions = {}) {
    refuseOption("MetricsBuffer", INSTEAD_OF_BUFFER);
  }

  /** Never called. */
  retrieveUpdates(): IterableIterator<BufferedMetricUpdate> {
    return refuseOption("MetricsBuffer.retrieveUpdates", INSTEAD_OF_BUFFER);
  }
}
