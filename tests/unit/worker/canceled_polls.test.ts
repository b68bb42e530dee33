// When a stopping worker cancels polls of a service that loses the task of a canceled poll and does
// not end polls.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../ts/base/logger.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { ManualTimers } from "../../support/manual_timers.ts";
import { scriptedRealm } from "../../support/realms.ts";
import { ScriptedService, waits } from "../../support/scripted_service.ts";

const activityTask = {
  taskToken: new Uint8Array([1]),
  activityType: { name: "work" },
  activityId: "1",
  attempt: 1,
};

/**
 * A service that loses the task of a canceled poll and does not end polls; `give` completes the
 * oldest poll of activities.
 */
function losing(): { service: RawService; inner: ScriptedService; give(): void } {
  const polls: ((task: typeof activityTask) => void)[] = [];
  const inner = new ScriptedService()
    .on("pollWorkflowTaskQueue", (_request, options) => waits({ signal: options.signal! }))
    .on("respondActivityTaskCompleted", () => ({}))
    .on("shutdownWorker", () => ({}))
    .on("pollActivityTaskQueue", (_request, options) => {
      const given = new Promise<typeof activityTask>((resolve) => polls.push(resolve));
      return Promise.race([waits({ signal: options.signal! }), given]);
    });
  const service: RawService = { losesCancelledPolls: true, call: (...args) => inner.call(...args) };
  return { service, inner, give: () => polls.shift()!(activityTask) };
}

test("an idle worker stops at once on a service that loses the task of a canceled poll", async () => {
  for (const realm of [scriptedRealm(), undefined]) {
    const { service, inner } = losing();
    const timers = new ManualTimers();
    const common = {
      service,
      taskQueue: "q",
      logger: silentLogger,
      timers,
      activities: { work: () => 1 },
    };
    const w = await Worker.create({ ...common, ...(realm && { realm }) });
    const running = w.run();
    await timers.advance(1500);
    // No time passes.
    await w.shutdown();
    await running;
    const polls = inner.calls.filter(({ method }) => method.startsWith("poll"));
    assert.ok(polls.every(({ options }) => options.signal!.aborted));
    // The service has read the cancellations when it is notified of the stop, also by a worker
    // without workflows.
    assert.equal(inner.calls.at(-1)!.method, "shutdownWorker");
  }
});

test("while tasks arrive, no poll of such a service is canceled", async () => {
  const { service, give } = losing();
  const timers = new ManualTimers();
  let ran = 0;
  const w = await Worker.create({
    ...{ service, taskQueue: "q", logger: silentLogger, timers },
    activities: { work: () => void ran++ },
    activityTaskPollerBehavior: { type: "simple-maximum", maximum: 3 },
  });
  const running = w.run();
  for (let i = 0; i < 5; i++) {
    await timers.advance(30);
    give();
  }
  await timers.advance(30);
  assert.equal(ran, 5);
  let stopped = false;
  const stopping = w.shutdown().then(() => stopped = true);
  await timers.advance(1900);
  assert.equal(stopped, false);
  give();
  await timers.advance(1900);
  assert.equal(stopped, false, "a task came meanwhile");
  assert.equal(ran, 6);
  await timers.advance(2500);
  await stopping;
  await running;
});
