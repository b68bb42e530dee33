// A branch of a workflow's retry is the same attempt: the retry policy counts the attempts before it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { silentLogger } from "../../../ts/base/logger.ts";
import { readHistoryFile } from "../../../ts/debug/mod.ts";
import { RetryState } from "../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import { runBranch } from "../../../ts/what_if/mod.ts";
import { createProgramRealm, fails, type Handle, PROGRAMS, START } from "./support.ts";

/** Whether the failure at the end of a run starts another attempt, and why. */
function retryAtEnd(history: Uint8Array) {
  const { attributes } = fromBinary(HistorySchema, history).events.at(-1)!;
  assert.ok(attributes.case === "workflowExecutionFailedEventAttributes", attributes.case);
  const { retryState, newExecutionRunId } = attributes.value;
  return { retryState, isRetried: newExecutionRunId !== "" };
}

test("a branch of the last attempt of a workflow is not retried, a branch of an earlier one is", async () => {
  const env = await TestEnvironment.create({ startTime: START, logger: silentLogger });
  try {
    const activities = { ship: fails("no van", true) };
    const worker = { workflows: PROGRAMS.native, activities: activities as never };
    const [first, last] = await env.runWorker(worker, async () => {
      const options = {
        id: "parcel",
        args: ["vase"],
        retry: { initialInterval: "1s", maximumAttempts: 2 },
      };
      const handle = await env.client.start(
        "Parcel" as never,
        options as never,
      ) as unknown as Handle;
      await handle.result().catch(() => undefined);
      const latest = env.client.getHandle(undefined, "parcel") as unknown as Handle;
      const runIds = [handle.runId!, (await latest.describe()).runId];
      return await Promise.all(runIds.map(async (runId) => {
        const run = env.client.getHandle(undefined, "parcel", runId);
        return (await readHistoryFile(new TextEncoder().encode(await run.historyJson()))).bytes;
      }));
    });
    const retried = { retryState: RetryState.IN_PROGRESS, isRetried: true };
    const ended = { retryState: RetryState.MAXIMUM_ATTEMPTS_REACHED, isRetried: false };
    assert.deepEqual([retryAtEnd(first!), retryAtEnd(last!)], [retried, ended]);
    const realm = await createProgramRealm("native");
    try {
      const branchOf = async (recorded: Uint8Array) =>
        retryAtEnd((await runBranch(recorded, { realm, edits: [], from: 4 })).history);
      assert.deepEqual([await branchOf(first!), await branchOf(last!)], [retried, ended]);
    } finally {
      await realm.dispose();
    }
  } finally {
    await env.dispose();
  }
});
