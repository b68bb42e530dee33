// "temporalex/metrics": what clients and workers report, collected for Prometheus.
export { MetricsRegistry, type MetricsRegistryOptions } from "./registry.ts";
export { type Counter, type Histogram, type MetricLabels, type Metrics } from "../base/metrics.ts";
