// Lists and counts by search attributes on the embedded engine: those of the start and those that a
// workflow sets, over continue-as-new.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open, silentLogger } from "../../../ts/mod.ts";
import { until } from "../../support/until.ts";
import {
  continueAsNew,
  defineSearchAttributeKey,
  signal,
  upsertSearchAttributes,
  waitForSignal,
  workflow,
} from "../../../ts/workflow/mod.ts";

const region = defineSearchAttributeKey("Region", "KEYWORD");
const tags = defineSearchAttributeKey("Tags", "KEYWORD_LIST");
const amount = defineSearchAttributeKey("Amount", "DOUBLE");
const due = defineSearchAttributeKey("DueAt", "DATETIME");
const go = signal("go");

const order = workflow("Order", async (generation: number): Promise<unknown> => {
  upsertSearchAttributes([{ key: tags, value: ["open", `g${generation}`] }]);
  await waitForSignal(go);
  if (generation === 0) return continueAsNew(1);
  upsertSearchAttributes([{ key: tags, value: null }, { key: amount, value: 20 }]);
  return "done";
});

test("search attributes of starts and upserts are queryable from the commit that changes them", async () => {
  const app = await open({ workflows: { order }, logger: silentLogger });
  const { client } = app;
  const ids = async (query: string) => {
    const found: string[] = [];
    for await (const run of client.list(query)) found.push(`${run.workflowId} ${run.status}`);
    return found.sort();
  };
  try {
    const searchAttributes = [
      { key: region, value: "north" },
      { key: amount, value: 19.5 },
      { key: due, value: new Date("2030-01-31T12:00:00Z") },
    ] as const;
    const first = await client.start(order, { id: "a", args: [1], searchAttributes });
    const second = await client.start(order, {
      id: "b",
      args: [0],
      searchAttributes: { Region: "south" },
    });
    assert.deepEqual(await ids("Region = 'north' AND Amount > 10"), ["a RUNNING"]);
    assert.deepEqual(await ids("DueAt BETWEEN '2030-01-01' AND '2030-12-31'"), ["a RUNNING"]);
    await first.signal(go);
    assert.equal(await first.result(), "done");
    // The response with a result is sent after the commit, so no wait is needed.
    assert.deepEqual(await ids("Tags = 'open' AND WorkflowId = 'a'"), []);
    assert.deepEqual(await ids("Amount = 20"), ["a COMPLETED"]);
    await second.signal(go);
    await until(
      "b has continued as new",
      async () => await client.count("Tags = 'g1' AND WorkflowId = 'b'") === 1,
    );
    await second.signal(go);
    assert.equal(await second.result(), "done");
    assert.deepEqual(await ids("Region = 'south'"), ["b COMPLETED", "b CONTINUED_AS_NEW"]);
    assert.deepEqual(await ids("Tags = 'g0'"), ["b CONTINUED_AS_NEW"]);
    assert.equal(await client.count("Region IN ('north', 'south')"), 3);
    assert.deepEqual(await client.countByStatus("Region = 'south'"), {
      COMPLETED: 1,
      CONTINUED_AS_NEW: 1,
    });
    await assert.rejects(client.count("Region = north"), /expected a value for Region/);
  } finally {
    await app.close();
  }
});
