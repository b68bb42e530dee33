// MetricsBuffer: updates of metrics that code takes out of a buffer. Workers of this package keep series and no updates, so it is refused when
// it is made, by its name, and programs that import it load.
import type { Metric, MetricTags } from "../common/mod.ts";
import { INSTEAD_OF_BUFFER, refuseOption } from "./runtime_options.ts";

/** Options of a buffer. */
export interface MetricsBufferOptions {
  /** Updates that it holds at most. Default: 10000. */
  maxBufferSize?: number;
  /** Durations in seconds and not in milliseconds. Default: false. */
  useSecondsForDurations?: boolean;
}

/** One value of a metric. */
export interface BufferedMetricUpdate {
  /** The metric. */
  metric: Metric;
  /** What was added to a counter; the value of another metric. */
  value: number;
  /** Its tags. */
  attributes: MetricTags;
}

/** A buffer of updates of metrics, which this package does not have. */
export class MetricsBuffer {
  /** Updates that it would hold. */
  readonly maxBufferSize: number = 0;
  /** Whether durations would be in seconds. */
  readonly useSecondsForDurations: boolean = false;

  /** Throws a TypeError: updates of metrics are not buffered here. */
  constructor(_options: MetricsBufferOptions = {}) {
    refuseOption("MetricsBuffer", INSTEAD_OF_BUFFER);
  }

  /** Never called: no buffer is made. */
  retrieveUpdates(): IterableIterator<BufferedMetricUpdate> {
    return refuseOption("MetricsBuffer.retrieveUpdates", INSTEAD_OF_BUFFER);
  }
}
