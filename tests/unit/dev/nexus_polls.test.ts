// Polls for Nexus tasks stay open without a task until their worker shuts down.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  PollNexusTaskQueueRequestSchema,
  ShutdownWorkerRequestSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { NexusPolls } from "../../../ts/dev/nexus/polls.ts";
import { Namespaces } from "../../../ts/dev/namespaces.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";

const poll = (workerInstanceKey: string) =>
  toBinary(
    PollNexusTaskQueueRequestSchema,
    create(PollNexusTaskQueueRequestSchema, {
      namespace: "default",
      taskQueue: { name: "q" },
      workerInstanceKey,
    }),
  );
const shutdown = (workerInstanceKey: string) =>
  toBinary(
    ShutdownWorkerRequestSchema,
    create(ShutdownWorkerRequestSchema, { namespace: "default", workerInstanceKey }),
  );

test("ShutdownWorker ends the polls of its worker, also those that arrive after it", async () => {
  const namespaces = await Namespaces.open([{ name: "default", options: {} }], {
    open: (namespace) => EmbeddedEngine.open({ namespace, store: new MemoryStore() }),
    keepFor: () => () => {},
  });
  const ended: string[] = [];
  const polls = ["a", "a", "b"].map(async (worker) => {
    const response = await namespaces.call("pollNexusTaskQueue", poll(worker));
    assert.equal(response.length, 0);
    ended.push(worker);
  });
  await namespaces.call("shutdownWorker", shutdown("a"));
  await Promise.all(polls.slice(0, 2));
  assert.deepEqual(ended, ["a", "a"]);
  assert.equal((await namespaces.call("pollNexusTaskQueue", poll("a"))).length, 0);
  const closed = assert.rejects(polls[2]!, /closed/);
  await namespaces.close();
  await closed;
});

test("a poll ends at the long-poll limit, at its deadline, and with its caller", async () => {
  const polls = new NexusPolls(5);
  assert.equal((await polls.poll(poll("w"))).length, 0);
  await assert.rejects(polls.poll(poll("w"), { timeoutMs: 1 }), { code: 4 });
  const patient = new NexusPolls(60_000);
  const controller = new AbortController();
  const gone = assert.rejects(patient.poll(poll("w"), { signal: controller.signal }), { code: 1 });
  assert.equal(patient.size, 1);
  controller.abort();
  await gone;
  assert.equal(patient.size, 0);
  await assert.rejects(patient.poll(poll("w"), { signal: controller.signal }), { code: 1 });
});
