// What JSON.stringify writes of descriptions and lists: all that people read, and no message with
// numbers that JSON does not know.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApplicationFailure, heartbeat } from "../../../ts/activity/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import { activities, workflow } from "../../../ts/workflow/mod.ts";
import { until } from "../../support/until.ts";

const acts = activities<{ work(): void }>({ startToClose: "1m", retry: { initialInterval: "1h" } });
const busy = workflow("Busy", async () => await acts.work());

test("a description and a list are JSON", async () => {
  const env = await TestEnvironment.create({ virtualTime: false, logger: silentLogger });
  const work = () => {
    heartbeat(new Map([["at", NaN]]));
    throw new ApplicationFailure("no", {
      type: "No",
      details: [{ at: new Date(0) }, 1],
      cause: new TypeError("because"),
    });
  };
  try {
    await env.runWorker({ workflows: [busy], activities: { work } }, async () => {
      const memo = {
        since: new Date(0),
        counts: new Map([["a", 1]]),
        bytes: new Uint8Array([1, 2]),
      };
      const handle = await env.client.start(busy, {
        id: "b-1",
        memo,
        searchAttributes: { Level: 3 },
      });
      await until(
        "the first failure",
        async () => (await handle.describe()).pendingActivities[0]?.lastFailure !== undefined,
      );
      const description = await handle.describe();
      const json = JSON.parse(JSON.stringify(description));
      assert.equal(json.workflowId, "b-1");
      assert.equal(json.startTime, description.startTime!.toISOString());
      assert.deepEqual(json.memo, {
        since: "1970-01-01T00:00:00.000Z",
        counts: [["a", 1]],
        bytes: "AQI=",
      });
      assert.deepEqual(json.typedSearchAttributes, { Level: 3 });
      assert.ok(!("raw" in json) && !("rawDescription" in json));
      const [pending] = json.pendingActivities;
      assert.equal(pending.activityType, "work");
      assert.deepEqual(pending.heartbeatDetails, [["at", null]]);
      const { name, message, type, details, cause, failure } = pending.lastFailure;
      assert.deepEqual([name, message, type, failure], [
        "ApplicationFailure",
        "no",
        "No",
        undefined,
      ]);
      assert.deepEqual(details, [{ at: "1970-01-01T00:00:00.000Z" }, 1]);
      assert.deepEqual([cause.type, cause.message], ["TypeError", "because"]);
      for await (const summary of env.client.list()) {
        assert.equal(JSON.parse(JSON.stringify(summary)).memo.bytes, "AQI=");
      }
      // They are at hand as before.
      assert.equal(typeof description.raw.historyLength, "bigint");
      assert.ok(description.memo["counts"] instanceof Map);
      assert.ok(!Object.keys(description).includes("toJSON"));
      await handle.terminate("done");
    });
  } finally {
    await env.dispose();
  }
});
