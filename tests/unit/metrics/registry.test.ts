// The registry and its text: what a scraper reads is what was reported.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricsRegistry } from "../../../ts/metrics/mod.ts";
import { parseExposition, sampleOf } from "../../support/prometheus.ts";

const read = (registry: MetricsRegistry) => parseExposition(registry.text());

test("counters, gauges and histograms are exported with their values", () => {
  const registry = new MetricsRegistry();
  assert.equal(registry.text(), "");
  registry.counter("jobs", { kind: "a" }).add();
  registry.counter("jobs", { kind: "a" }).add(2);
  registry.counter("jobs", { kind: "b" }).add(0.5);
  registry.counter("jobs", { kind: "b" }).add(-5);
  let size = 3;
  const stop = registry.gauge("queue_size", {}, () => size);
  const stopSecond = registry.gauge("queue_size", {}, () => 10);
  const taken = registry.histogram("temporal_workflow_task_execution_latency", {
    workflow_type: "W",
  });
  for (const ms of [0.4, 1, 15, 15, 70_000, -3]) taken.record(ms);
  let families = read(registry);
  assert.equal(sampleOf(families, "jobs", { kind: "a" }), 3);
  assert.equal(sampleOf(families, "jobs", { kind: "b" }), 0.5);
  assert.equal(sampleOf(families, "queue_size"), 13);
  const bucket = (le: string) =>
    sampleOf(families, "temporal_workflow_task_execution_latency_bucket", { le });
  assert.deepEqual(["1", "10", "20", "1000", "+Inf"].map(bucket), [3, 3, 5, 5, 6]);
  assert.equal(sampleOf(families, "temporal_workflow_task_execution_latency_sum"), 70_031.4);
  stopSecond();
  size = 4;
  families = read(registry);
  assert.equal(sampleOf(families, "queue_size"), 4);
  stop();
  assert.equal(sampleOf(read(registry), "queue_size"), 0);
});

test("durations in seconds, own buckets, labels of the whole process", () => {
  const registry = new MetricsRegistry({
    durations: "s",
    buckets: { fast: [1, 2.5] },
    labels: { service_name: "shop" },
  });
  registry.histogram("fast", {}).record(2);
  registry.histogram("temporal_request_latency", { operation: "X" }).record(700);
  const families = read(registry);
  assert.equal(sampleOf(families, "fast_bucket", { le: "0.001", service_name: "shop" }), 0);
  assert.equal(sampleOf(families, "fast_bucket", { le: "0.0025" }), 1);
  assert.equal(sampleOf(families, "fast_sum"), 0.002);
  assert.equal(sampleOf(families, "temporal_request_latency_bucket", { le: "1" }), 1);
  assert.equal(sampleOf(families, "temporal_request_latency_sum", { operation: "X" }), 0.7);
});

test("labels and help are escaped", () => {
  const registry = new MetricsRegistry();
  const odd = 'a "quote", a \\ and\na line, {le="1"} 5\n# HELP x';
  registry.counter("odd", { value: odd, empty: "" }, "help with \\ and\nline").add();
  const families = read(registry);
  assert.deepEqual(families.get("odd")!.samples, [{
    name: "odd",
    labels: { value: odd, empty: "" },
    value: 1,
  }]);
  assert.equal(families.get("odd")!.help, "help with \\\\ and\\nline");
  assert.equal(registry.contentType, "text/plain; version=0.0.4; charset=utf-8");
});

test("the number of label values is bounded", () => {
  const registry = new MetricsRegistry({ maxSeries: 10, labels: { service_name: "shop" } });
  for (let i = 0; i < 100; i++) registry.counter("flood", { id: `${i}` }).add();
  const families = read(registry);
  assert.equal(families.get("flood")!.samples.length, 11);
  assert.equal(sampleOf(families, "flood", { id: "other", service_name: "shop" }), 90);
});

test("an invalid metric is rejected with its name", () => {
  const registry = new MetricsRegistry();
  registry.counter("taken", {});
  assert.throws(() => registry.counter("9lives", {}), /"9lives" is not a valid metric name/);
  assert.throws(() => registry.counter("fine", { "a-b": "" }), /"a-b" is not a valid label name/);
  assert.throws(
    () => registry.counter("fine", { __name__: "" }),
    /"__name__" is not a valid label name/,
  );
  assert.throws(() => registry.histogram("fine2", { le: "1" }), /"le" of fine2 is reserved/);
  assert.throws(
    () => registry.histogram("taken", {}),
    /taken is already a counter, not a histogram/,
  );
  assert.throws(
    () => new MetricsRegistry({ buckets: { x: [2, 1] } }),
    /the buckets of x must be increasing numbers/,
  );
  assert.throws(() => new MetricsRegistry({ durations: "us" as "ms" }), /"ms" or "s", not "us"/);
  assert.throws(() => new MetricsRegistry({ maxSeries: 0 }), /maxSeries/);
});
