// A service that refuses a worker's polls for good: the worker ends and says so, or is stopping
// anyway.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../ts/client/mod.ts";
import { Code, type RawService, ServiceError } from "../../../ts/service/raw.ts";
import { Worker, WorkerPollError } from "../../../ts/worker/mod.ts";
import { settle } from "../../support/manual_timers.ts";
import { scriptedRealm } from "../../support/realms.ts";
import { ScriptedService } from "../../support/scripted_service.ts";

for (
  const error of [
    new ServiceError(Code.UNAVAILABLE, "the engine is closed", "EngineClosed"),
    new ServiceError(Code.UNAVAILABLE, "the engine has stopped: x", "StoreFencedError", {
      engine: "stopped",
    }),
  ]
) {
  test(`a worker whose engine is closed ends with an error (${error.reason})`, async () => {
    const refuse = () => {
      throw error;
    };
    const service = new ScriptedService().on("pollWorkflowTaskQueue", refuse).on(
      "shutdownWorker",
      refuse,
    );
    let isDisposed = false;
    const realm = {
      ...scriptedRealm(),
      dispose: async () => void (isDisposed = await Promise.resolve(true)),
    };
    const worker = await Worker.create({ service, taskQueue: "q", realm, logger: silentLogger });
    await assert.rejects(
      worker.run(),
      (e) =>
        e instanceof WorkerPollError && e.cause === error && e.message.includes(error.message) &&
        /before its engine/.test(e.message),
    );
    assert.equal(worker.state, "stopped");
    assert.ok(isDisposed);
    assert.ok(service.requests("pollWorkflowTaskQueue").length <= 4, "it was not asked again");
  });
}

test("polls that the service rejects while the worker is being stopped are not an error", async () => {
  const refuse: ((error: Error) => void)[] = [];
  const inner = new ScriptedService().on("shutdownWorker", () => ({}));
  const service: RawService = {
    call: (method, request, options) =>
      method.startsWith("poll")
        ? new Promise((_, reject) => void refuse.push(reject))
        : inner.call(method, request, options),
  };
  const errors: string[] = [];
  const logger = { ...silentLogger, error: (message: string) => void errors.push(message) };
  const given = {
    service,
    taskQueue: "q",
    realm: scriptedRealm(),
    activities: { a: () => 1 },
    logger,
  };
  const worker = await Worker.create(given);
  const running = worker.run();
  await settle();
  assert.ok(refuse.length > 0);
  for (const each of refuse) {
    each(new ServiceError(Code.UNAVAILABLE, "this tab is no longer the leader", "EngineClosed"));
  }
  await worker.shutdown();
  await running;
  assert.deepEqual(errors, []);
  assert.equal(worker.state, "stopped");
});
