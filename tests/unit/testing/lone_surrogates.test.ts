// Texts of commands that UTF-8 cannot encode: names and ids are rejected at the call, values and
// summaries keep each character.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../ts/mod.ts";
import { KeepsFailingError, TestEnvironment } from "../../../ts/testing/mod.ts";
import {
  activities,
  continueAsNewWith,
  executeChild,
  externalWorkflow,
  localActivities,
  nexus,
  patched,
  sleep,
  upsertMemo,
  upsertSearchAttributes,
  workflow,
} from "../../../ts/workflow/mod.ts";

const LONE = "a\ud800b";
type Any = { [name: string]: () => Promise<unknown> };

/** By field that the error names: a call whose text has a lone surrogate. */
const calls: { readonly [field: string]: () => unknown } = {
  activityType: () => activities<Any>()[LONE]!(),
  taskQueue: () => activities<Any>({ taskQueue: LONE }).work!(),
  activityId: () =>
    (activities<Any>().work as unknown as { with(o: object): () => unknown }).with({
      activityId: LONE,
    })(),
  "retryPolicy.nonRetryableErrorTypes": () =>
    activities<Any>({ retry: { nonRetryableErrorTypes: [LONE] } }).work!(),
  "activityType of a local activity": () => localActivities<Any>()[LONE]!(),
  workflowType: () => executeChild(LONE),
  workflowId: () => executeChild("Child", { id: LONE }),
  "taskQueue of a child": () => executeChild("Child", { taskQueue: LONE }),
  "memo of a child": () => executeChild("Child", { memo: { [LONE]: 1 } }),
  "searchAttributes of a child": () => executeChild("Child", { searchAttributes: { [LONE]: 1 } }),
  "workflowId of a signal": () => externalWorkflow(LONE).signal("go"),
  "runId of a signal": () => externalWorkflow("other", LONE).signal("go"),
  signalName: () => externalWorkflow("other").signal(LONE),
  "workflowId of a cancellation": () => externalWorkflow(LONE).cancel(),
  searchAttributes: () => upsertSearchAttributes({ [LONE]: 1 }),
  memo: () => upsertMemo({ [LONE]: 1 }),
  patchId: () => patched(LONE),
  endpoint: () => nexus<Any>("service", { endpoint: LONE }).work!(),
  service: () => nexus<Any>(LONE, { endpoint: "endpoint" }).work!(),
  operation: () => nexus<Any>("service", { endpoint: "endpoint" })[LONE]!(),
};

const call = workflow("Call", async (field: string) => {
  try {
    return [await calls[field]!()];
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
});
const renewed = workflow(
  "Renewed",
  async () => continueAsNewWith<undefined>({ workflowType: LONE }),
);
const values = workflow("Values", async (text: string) => {
  await sleep(1, { summary: text });
  await externalWorkflow("other").cancel(text).catch(() => {});
  upsertMemo({ text });
  return text;
});

async function withWorker(body: (env: TestEnvironment) => Promise<void>): Promise<void> {
  const env = await TestEnvironment.create({ logger: silentLogger });
  try {
    const options = { workflows: [call, renewed, values], activities: {}, logger: silentLogger };
    await env.runWorker(options, () => body(env));
  } finally {
    await env.dispose();
  }
}

for (const key of Object.keys(calls)) {
  const [field] = key.split(" of ");
  test(`a lone surrogate in ${key} is rejected at the call, with the field`, () =>
    withWorker(async ({ client }) => {
      assert.equal(
        await client.execute(call, { id: "run", args: [key] }),
        `TypeError: ${field} "a\\ud800b" contains a lone surrogate, which is not valid Unicode: choose another text`,
      );
    }));
}

test("a lone surrogate in the type of the next run fails the task with the field", () =>
  withWorker(async ({ client }) => {
    await assert.rejects(client.execute(renewed, { id: "run" }), (error) => {
      assert.ok(error instanceof KeepsFailingError);
      assert.match(error.message, /workflowType "a\\ud800b" contains a lone surrogate/);
      return true;
    });
  }));

test("values and summaries keep a lone surrogate; a reason has a replacement", () =>
  withWorker(async ({ client }) => {
    const handle = await client.start(values, { id: "run", args: [LONE] });
    assert.equal(await handle.result(), LONE);
    assert.equal((await handle.describe()).memo.text, LONE);
    const events = [];
    for await (const event of handle.history()) events.push(event);
    const summaries = events.flatMap(({ userMetadata }) =>
      userMetadata?.summary === undefined ? [] : [userMetadata.summary]
    );
    assert.deepEqual(summaries.map(({ data }) => JSON.parse(new TextDecoder().decode(data))), [
      LONE,
    ]);
    const [request] = events.flatMap(({ attributes }) =>
      attributes.case === "requestCancelExternalWorkflowExecutionInitiatedEventAttributes"
        ? [attributes.value.reason]
        : []
    );
    assert.match(String(request), /a\ufffdb$/);
  }));
