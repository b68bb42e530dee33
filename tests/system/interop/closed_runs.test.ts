// A Temporal server lists the runs that ended without their worker
// (ts/worker/workflow/closed_runs.ts).
// takes: 5 s
// runtime: node
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { evictClosedRuns } from "../../../ts/worker/workflow/closed_runs.ts";
import { ManualTimers } from "../../support/manual_timers.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

test(
  "terminated and timed-out runs of the queue are evicted, others are not",
  { skip: noServer },
  async () => {
    const server = await DevServer.start();
    const service = new GrpcService({ address: server.address });
    const taskQueue = "a queue";
    const client = new Client({ service, taskQueue, logger: silentLogger });
    const evicted = new Set<string>();
    const timers = new ManualTimers();
    const parts = { service, namespace: "default", taskQueue, timers, logger: silentLogger };
    const stop = evictClosedRuns(parts, {
      realm: { cachedRuns: 1, evict: (runId) => void evicted.add(runId) },
    });
    try {
      const start = (id: string, options: object = {}) =>
        client.start("W", { id, args: [], ...options });
      const ended = [await start("terminated"), await start("late", { runTimeout: "1s" })];
      await start("open");
      const elsewhere = await start("elsewhere", { taskQueue: "another" });
      await Promise.all([ended[0]!.terminate(), elsewhere.terminate()]);
      await until("both are evicted", async () => {
        await timers.advance(60_000);
        return ended.every(({ runId }) => evicted.has(runId!));
      });
      assert.equal(evicted.size, 2);
    } finally {
      stop();
      service.close();
      await server.stop();
    }
  },
);
