// The result of a readiness probe: the worker runs and the service accepts its polls.
import assert from "node:assert/strict";
import { test } from "node:test";
import { delay } from "@std/async/delay";
import { Code, type RawService, ServiceError } from "../../../ts/service/raw.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { until } from "../../support/until.ts";

test("a worker is ready while its polls are accepted: not before, not while they are rejected, not when it stops", async () => {
  let refuses = true;
  const service: RawService = {
    call(method, _request, options) {
      if (method === "shutdownWorker") return Promise.resolve(new Uint8Array(0));
      if (refuses) return Promise.reject(new ServiceError(Code.UNAVAILABLE, "not now"));
      // As a long poll does, it says nothing until there is something.
      return new Promise((_, reject) => {
        const give = () => reject(new ServiceError(Code.CANCELLED, "canceled"));
        if (options?.signal?.aborted) give();
        else options?.signal?.addEventListener("abort", give);
      });
    },
  };
  const activities = { nothing: () => {} };
  const worker = await Worker.create({ service, taskQueue: "q", activities, logger: silentLogger });
  assert.equal(worker.ready, false, "created");
  const running = worker.run();
  await delay(1300);
  assert.equal(worker.ready, false, "refused for longer than a poll must wait");
  refuses = false;
  await until("the polls are taken", () => worker.ready);
  const stopped = worker.shutdown();
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(worker.ready, false, "stopping");
  await stopped;
  await running;
  assert.equal(worker.ready, false, "stopped");
});
