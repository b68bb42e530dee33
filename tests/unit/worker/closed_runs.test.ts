// Runs that end without their worker leave its cache.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  ListWorkflowExecutionsRequestSchema,
  ListWorkflowExecutionsResponseSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import { Code, type RawService, ServiceError } from "../../../ts/service/raw.ts";
import { evictClosedRuns } from "../../../ts/worker/workflow/closed_runs.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { sleep, workflow } from "../../../ts/workflow/mod.ts";
import { ManualTimers, settle } from "../../support/manual_timers.ts";
import { withEngine } from "../../support/services.ts";
import { until } from "../../support/until.ts";

const waits = workflow("Waits", async () => await sleep("1h"));

test("runs that were terminated or timed out leave the cache of a worker of this process", () =>
  withEngine("memory", {}, async ({ client, service, taskQueue, id }) => {
    const worker = await Worker.create({
      service,
      taskQueue,
      workflows: [waits],
      logger: silentLogger,
    });
    await worker.runUntil(async () => {
      const handles = await Promise.all(
        Array.from({ length: 5 }, (_, i) => client.start(waits, { id: id(`run-${i}`) })),
      );
      const late = await client.start(waits, { id: id("late"), runTimeout: "300ms" });
      await until("all are cached", () => worker.cachedRuns === 6);
      const [kept, ...others] = handles;
      for (const handle of others) await handle.terminate();
      await until("they have left", () => worker.cachedRuns === 1);
      assert.equal((await late.describe()).status, "TIMED_OUT");
      await kept!.terminate();
      await until("the last one has left", () => worker.cachedRuns === 0);
    });
  }));

function onServer(respond: (query: string) => string[]) {
  const queries: string[] = [];
  const timers = new ManualTimers();
  const evicted: string[] = [];
  const realm = { cachedRuns: 2, evict: (runId: string) => void evicted.push(runId) };
  const service: RawService = {
    losesCancelledPolls: true,
    call(method, request) {
      assert.equal(method, "listWorkflowExecutions");
      const { query, nextPageToken } = fromBinary(ListWorkflowExecutionsRequestSchema, request);
      queries.push(query);
      const runs = respond(query);
      const page = nextPageToken.length === 0 ? runs.slice(0, 1) : runs.slice(1);
      const fields = {
        executions: page.map((runId) => ({ execution: { workflowId: "w", runId } })),
        nextPageToken: new Uint8Array(nextPageToken.length === 0 && runs.length > 1 ? [1] : []),
      };
      return Promise.resolve(
        toBinary(
          ListWorkflowExecutionsResponseSchema,
          create(ListWorkflowExecutionsResponseSchema, fields),
        ),
      );
    },
  };
  const parts = {
    service,
    namespace: "default",
    taskQueue: 'a "queue"',
    timers,
    logger: silentLogger,
  };
  const stop = evictClosedRuns(parts, { realm });
  const minute = async () => {
    await timers.advance(60_000);
    await settle();
  };
  return { queries, evicted, realm, stop, minute };
}

test("on a server, closed runs are listed once a minute in pages while the cache has runs", async () => {
  const { queries, evicted, realm, stop, minute } = onServer(() => ["r1", "r2", "r3"]);
  assert.deepEqual(queries, []);
  await minute();
  assert.deepEqual(evicted, ["r1", "r2", "r3"]);
  assert.equal(queries.length, 2);
  assert.match(
    queries[0]!,
    /^TaskQueue = "a \\"queue\\"" AND ExecutionStatus IN \("Terminated", "TimedOut"\) AND CloseTime > "[\d-]+T[\d:.]+Z"$/,
  );
  realm.cachedRuns = 0;
  await minute();
  assert.equal(queries.length, 2, "nothing is cached, so nothing is asked");
  realm.cachedRuns = 1;
  await minute();
  assert.equal(queries.length, 4);
  stop();
  await minute();
  assert.equal(queries.length, 4);
});

test("a server that rejects the list is not called again, an unavailable one is", async () => {
  for (const [code, asked] of [[Code.PERMISSION_DENIED, 1], [Code.UNAVAILABLE, 3]] as const) {
    const { queries, stop, minute } = onServer(() => {
      throw new ServiceError(code, "no");
    });
    for (let i = 0; i < 3; i++) await minute();
    assert.equal(queries.length, asked, String(code));
    stop();
  }
});

test("an in-process service that does not report closes is not polled for them", async () => {
  const service: RawService = { call: () => Promise.reject(new Error("it was called")) };
  const timers = new ManualTimers();
  const parts = { service, namespace: "default", taskQueue: "q", timers, logger: silentLogger };
  evictClosedRuns(parts, { realm: { cachedRuns: 1, evict() {} } });
  await timers.advance(120_000);
});
