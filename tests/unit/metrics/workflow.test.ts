// Metrics that programs of `@temporalio/workflow` give through metricMeter, in the worker's
// registry.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../ts/base/logger.ts";
import { MetricsRegistry } from "../../../ts/metrics/mod.ts";
import { open } from "../../../ts/mod.ts";

const PROGRAM = `import { metricMeter, sleep } from "@temporalio/workflow";
  export async function w() {
    const orders = metricMeter.createCounter("app_orders", "orders", "Orders taken");
    orders.add(2, { kind: "book" });
    orders.withTags({ kind: "pen" }).add(1);
    metricMeter.withTags({ shop: "a" }).createHistogram("app_size", "int", "bytes").record(70);
    metricMeter.createGauge("app_level").set(7);
    const open = metricMeter.createUpDownCounter("app_open");
    open.add(3); open.add(-1);
    let refused = "";
    try { orders.add(-1); } catch (error) { refused = error.message; }
    await sleep(1);
    return refused;
  }`;

test("values of a workflow's instruments are in the worker's registry once, with its tags", async () => {
  const metrics = new MetricsRegistry({ durations: "s" });
  const app = await open({
    logger: silentLogger,
    workflows: "/app/main.ts",
    // No run stays in memory: its second task replays the first, which must not count again.
    worker: { metrics, cachedWorkflows: 0, sources: { "/app/main.ts": PROGRAM } },
  });
  try {
    const refused = await app.client.execute("w", { id: "w", args: [] });
    assert.equal(refused, "MetricCounter value must be non-negative (got -1)");
    const lines = metrics.text().split("\n").filter((line) =>
      line.startsWith("app_") && !line.includes("_bucket")
    );
    const labels = (more = "") =>
      `{namespace="default",task_queue="default",workflow_type="w"${more}}`;
    assert.deepEqual(lines, [
      `app_level${labels()} 7`,
      `app_open${labels()} 2`,
      `app_orders${labels(',kind="book"')} 2`,
      `app_orders${labels(',kind="pen"')} 1`,
      `app_size_sum${labels(',shop="a"')} 70`,
      `app_size_count${labels(',shop="a"')} 1`,
    ]);
  } finally {
    await app.close();
  }
});
