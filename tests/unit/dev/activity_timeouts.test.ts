// `temporalex dev` logs activity attempts that time out, also those of another SDK's worker, which
// may not log them.
// takes: 3 s
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import "../../../ts/engine/mod.ts";
import { startDevServer } from "../../../ts/dev/server.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { activities, workflow } from "../../../ts/workflow/mod.ts";
import { until } from "../../support/until.ts";

const hangs = workflow("Hangs", async () => {
  const acts = activities<{ hang(): void }>({
    startToClose: "300ms",
    retry: { maximumAttempts: 2, initialInterval: "1s" },
  });
  await acts.hang().catch(() => {});
});

test("each attempt that times out is a warning with when the next one is due", async () => {
  const warned: { readonly [name: string]: unknown }[] = [];
  const logger = {
    ...silentLogger,
    warn: (message: string, fields = {}) =>
      void (message === "an activity timed out" && warned.push(fields)),
  };
  const server = await startDevServer({
    port: 0,
    namespaces: ["default"],
    storeOf: () => undefined,
    logger,
  });
  const service = new GrpcService({ address: `127.0.0.1:${server.port}` });
  try {
    const options = { service, namespace: "default", taskQueue: "q", logger: silentLogger };
    const worker = await Worker.create({
      ...options,
      workflows: [{ hangs }],
      activities: { hang: () => new Promise((resolve) => setTimeout(resolve, 2000)) },
    });
    await worker.runUntil(() => new Client(options).execute(hangs, { id: "w", args: [] }));
    await until("two warnings", () => warned.length >= 2);
    const names = [
      "activityType",
      "activityId",
      "workflowId",
      "workflowType",
      "attempt",
      "timeout",
    ];
    assert.deepEqual(warned.map((fields) => names.map((name) => fields[name])), [
      ["hang", "1", "w", "Hangs", 1, "startToClose"],
      ["hang", "1", "w", "Hangs", 2, "startToClose"],
    ]);
    assert.match(String(warned[0]!["nextAttempt"]), /^in \d+ ms$/);
    assert.equal(warned[1]!["nextAttempt"], "none");
  } finally {
    service.close();
    await server.close();
  }
});
