// A worker receives its first task without the descriptors of Temporal's API. A separate file,
// because a process builds them once.
// process: own (no other test has built them)
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../ts/client/mod.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { WorkflowService } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { scriptedRealm } from "../../support/realms.ts";

test("a worker polls before descriptors are built, and builds them soon after", async () => {
  const built = () => Object.hasOwn(WorkflowService, "method");
  const calls: string[] = [];
  let polled!: () => void;
  const polling = new Promise<void>((resolve) => polled = resolve);
  const waiting: (() => void)[] = [];
  const service: RawService = {
    losesCancelledPolls: true,
    call: (method) => {
      calls.push(method);
      if (method === "pollActivityTaskQueue") polled();
      const nothing = new Uint8Array(0);
      if (!method.startsWith("poll")) return Promise.resolve(nothing);
      return new Promise((resolve) => waiting.push(() => resolve(nothing)));
    },
  };
  const worker = await Worker.create({
    service: Promise.resolve(service),
    taskQueue: "q",
    logger: silentLogger,
    realm: scriptedRealm(),
    activities: { a: () => 1 },
  });
  const running = worker.run();
  await polling;
  assert.ok(calls.includes("pollWorkflowTaskQueue") && calls.includes("describeNamespace"));
  assert.equal(built(), false);
  for (let i = 0; i < 600 && !built(); i++) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(built(), true);
  const stopped = worker.shutdown();
  for (const answer of waiting) answer();
  await stopped;
  await running;
});
