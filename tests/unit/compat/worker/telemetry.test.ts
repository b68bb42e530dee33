// Metrics of `Runtime.install`: what Prometheus reads of workers, workflow code and activities,
// under the official names.
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Context } from "../../../../ts/compat/activity/mod.ts";
import { Runtime } from "../../../../ts/compat/worker/mod.ts";
import { until } from "../../../support/until.ts";
import { modulePath, setting } from "./support.ts";

const metrics = {
  prometheus: {
    bindAddress: "127.0.0.1:0",
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
    histogramBucketOverrides: { request_latency: [0.5, 2], parcel_weight: [1, 5] },
  },
  metricPrefix: "shop_",
  globalTags: { region: "north" },
};

/** Throws where the runtime has none. */
const served = () => Runtime.instance().options.metrics!;
const scraped = async (): Promise<string> => {
  const { address } = await served().listening;
  return await (await fetch(`http://${address}/metrics`)).text();
};

test("the Prometheus endpoint serves metrics of worker, workflow code, activities and process", async (t) => {
  const { client, worker, close } = await setting({ metrics });
  t.after(close);
  const made = await worker("telemetry", {
    workflowsPath: modulePath("measured"),
    activities: {
      weigh(kilos: number) {
        const { metricMeter } = Context.current();
        metricMeter.createHistogram("parcel_weight", "float", "kg").record(kilos, {
          via: "scales",
        });
        metricMeter.createUpDownCounter!("on_the_way").add(-2);
        assert.throws(
          () => metricMeter.createCounter("less").add(-1),
          /MetricCounter value must be non-negative \(got -1\)/,
        );
        return kilos;
      },
    },
  });
  Runtime.instance().metricMeter.createGauge("depots").set(7);
  const text = await made.runUntil(async () => {
    assert.equal(
      await client.start("measured", { id: "measured", taskQueue: "telemetry", args: [3] }).then((
        h,
      ) => h.result()),
      3,
    );
    // The worker counts after the response to its report; the client may see the result earlier.
    let text = "";
    await until(
      "the end is counted",
      async () => /^shop_workflow_completed_total/m.test(text = await scraped()),
    );
    return text;
  });
  const has = (line: RegExp) => assert.match(text, line, text);
  const all = `service_name="temporal-core-sdk",region="north"`;
  has(/^shop_workflow_completed_total\{.*region="north".* 1$/m);
  has(
    /^shop_request_latency_seconds_bucket\{.*operation="RespondWorkflowTaskCompleted".*le="0.5"\} \d+$/m,
  );
  has(
    /^shop_request_latency_seconds_bucket\{.*operation="RespondWorkflowTaskCompleted".*le="2"\} \d+$/m,
  );
  has(/^shop_activity_execution_latency_seconds_bucket\{.*activity_type="weigh".*le="0.05"\}/m);
  has(/^shop_worker_task_slots_available\{/m);
  assert.doesNotMatch(text, /^temporal_/m);
  const tags = `namespace="default",taskQueue="telemetry"`;
  has(
    new RegExp(`^parcels_total\\{${all},${tags},workflowType="measured",size="small"\\} 1$`, "m"),
  );
  has(new RegExp(`^parcel_weight_bucket\\{${all},${tags},.*via="scales",le="5"\\} 1$`, "m"));
  has(/^parcel_weight_sum\{.*\} 3$/m);
  has(/^on_the_way\{.*activityType="weigh".*\} -2$/m);
  has(new RegExp(`^depots\\{${all}\\} 7$`, "m"));
});

test("a metrics address in use is an error of the worker", async (t) => {
  const first = Runtime.install({
    telemetryOptions: { metrics: { prometheus: { bindAddress: "127.0.0.1:0" } } },
  });
  const { address } = await first.options.metrics!.listening;
  after(() => first.shutdown());
  Runtime._instance = undefined;
  const { worker, close } = await setting({ metrics: { prometheus: { bindAddress: address } } });
  t.after(close);
  await assert.rejects(
    worker("taken", { workflowsPath: modulePath("measured") }),
    /the port is in use/,
  );
});
