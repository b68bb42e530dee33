// Texts of commands that UTF-8 cannot encode. The official SDK sends invalid UTF-8 to its core;
// here the call throws, with the field.
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { until } from "../../../support/until.ts";
import { modulePath, setting } from "./support.ts";

const FIELDS = [
  ...[
    "activityType",
    "taskQueue",
    "activityId",
    "retryPolicy.nonRetryableErrorTypes",
    "priority.fairnessKey",
  ],
  ...[
    "activityType of a local activity",
    "workflowType",
    "workflowId",
    "memo of a child",
    "searchAttributes of a child",
  ],
  ...[
    "cronSchedule",
    "workflowId of a signal",
    "runId of a signal",
    "signalName",
    "workflowId of a cancellation",
  ],
  ...["searchAttributes", "memo", "patchId"],
];

const { client, worker, close } = await setting();

const made = await worker("lone", { workflowsPath: modulePath("lone_surrogates") });
const running = made.run();
after(async () => {
  made.shutdown();
  await running;
  await close();
});

for (const [number, key] of FIELDS.entries()) {
  const [field] = key.split(" of ");
  test(`a lone surrogate in ${key} is rejected at the call, with the field`, async () => {
    assert.equal(
      await client.execute("call", { id: `call-${number}`, taskQueue: "lone", args: [key] }),
      `TypeError: ${field} "a\\ud800b" contains a lone surrogate, which is not valid Unicode: choose another text`,
    );
  });
}

test("a lone surrogate in the type of the next run fails the task with the field", async () => {
  const handle = await client.start("renewed", { id: "renewed", taskQueue: "lone" });
  await until(
    "a failed workflow task",
    async () => (await handle.historyJson()).includes("EVENT_TYPE_WORKFLOW_TASK_FAILED"),
  );
  const history = JSON.parse(await handle.historyJson());
  const [failed] = history.events.filter((event: object) =>
    "workflowTaskFailedEventAttributes" in event
  );
  assert.match(
    failed.workflowTaskFailedEventAttributes.failure.message,
    /^workflowType "a\\ud800b" contains a lone surrogate/,
  );
  await handle.terminate();
});

/** The messages of an error and its causes. */
const messagesOf = (error: unknown): string[] =>
  error instanceof Error ? [error.message, ...messagesOf(error.cause)] : [];
const hasReplacement = (error: unknown): boolean =>
  messagesOf(error).some((text) => text.includes("a\ufffdb"));

test("errors with lone surrogates reach the callers of workflows, updates and queries, with a replacement", async () => {
  await assert.rejects(client.execute("fails", { id: "fails", taskQueue: "lone" }), hasReplacement);
  const handle = await client.start("throwing", { id: "throwing", taskQueue: "lone" });
  await assert.rejects(handle.update("change"), hasReplacement);
  await assert.rejects(handle.query("ask"), hasReplacement);
  await handle.terminate();
});
