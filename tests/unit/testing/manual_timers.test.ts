// Test mode: timers of workflows fire when a test says so, by name.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleepMs } from "node:timers/promises";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { MemoryStore } from "../../../ts/engine/memory_store.ts";
import { open } from "../../../ts/mod.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { mockActivities, TestEnvironment } from "../../../ts/testing/mod.ts";
import {
  activities,
  ApplicationFailure,
  continueAsNew,
  on,
  payload,
  select,
  signals,
  sleep,
  timer,
  timers,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { ScriptedService } from "../../support/scripted_service.ts";
import { until } from "../../support/until.ts";

const clock = timers("expire", "warnPlayer");
const told = signals({ stack: payload<[n: number]>() });

const buff = workflow("Buff", async () => {
  const seen: string[] = [];
  for (;;) {
    const next = await select([
      timer(clock.warnPlayer, "50s", () => "warned"),
      timer(clock.expire, "60s", () => undefined),
      on(told.stack, ([n]) => `stack ${n}`),
    ]);
    if (next === undefined) return seen;
    seen.push(next);
  }
});

/** Two of one name; the later one is shorter. */
const twice = workflow("Twice", async () => {
  const order: string[] = [];
  const slow = sleep("2h", { summary: "beat" }).then(() => void order.push("first made"));
  const fast = sleep("1h", { summary: "beat" }).then(() => void order.push("second made"));
  await Promise.all([slow, fast]);
  return order;
});

const short = workflow("Short", async () => {
  await timer("soon", "10ms");
  return "over";
});

const acts = activities<{ flaky(): string }>({
  startToClose: "10s",
  retry: { initialInterval: "1 minute" },
});
const worksOn = workflow("WorksOn", async () => {
  const result = await acts.flaky();
  await sleep("1s", { summary: "rest" });
  return result;
});

test("timers fire by name on request in any order, and not when they are due", async () => {
  const env = await TestEnvironment.create({ timers: "manual" });
  await env.runWorker({ workflows: [buff] }, async () => {
    const handle = await env.client.start(buff, { id: "buff-1" });
    await env.advance("30 days");
    assert.equal((await handle.describe()).status, "RUNNING");
    await env.fireTimer("buff-1", clock.warnPlayer);
    await handle.signal(told.stack, 5);
    await env.fireTimer(handle, "warn_player");
    await env.fireTimer(handle, clock.expire);
    assert.deepEqual(await handle.result(), ["warned", "stack 5", "warned"]);
  });
  await env.dispose();
});

test("of several open timers with one name the oldest fires; ids are also names", async () => {
  const env = await TestEnvironment.create({ timers: "manual" });
  await env.runWorker({ workflows: [twice] }, async () => {
    const one = await env.client.start(twice, { id: "twice" });
    await env.fireTimer(one, "beat");
    await env.fireTimer(one, "beat");
    assert.deepEqual(await one.result(), ["first made", "second made"]);
    const two = await env.client.start(twice, { id: "by-id" });
    await env.fireTimer(two, "2");
    await env.fireTimer(two, "1");
    assert.deepEqual(await two.result(), ["second made", "first made"]);
  });
  await env.dispose();
});

test("timeouts and retries are not manual", async () => {
  const env = await TestEnvironment.create({ timers: "manual" });
  let attempts = 0;
  const flaky = () => {
    if (++attempts < 3) throw new ApplicationFailure("not yet");
    return "done";
  };
  await env.runWorker({ workflows: [worksOn], activities: mockActivities({ flaky }) }, async () => {
    const handle = await env.client.start(worksOn, { id: "w" });
    await env.advance("1h");
    assert.equal(attempts, 3);
    await env.fireTimer(handle, "rest");
    assert.equal(await handle.result(), "done");
  });
  await env.dispose();
});

test("firing a missing timer rejects with the reason and the open timers", async () => {
  const env = await TestEnvironment.create({ timers: "manual" });
  await env.runWorker({ workflows: [buff] }, async () => {
    const handle = await env.client.start(buff, { id: "b" });
    const message = (of: Promise<unknown>) =>
      of.then(() => "fired", (error: Error) => error.message);
    assert.equal(
      await message(env.fireTimer(handle, "expired")),
      `workflow "b" has no open timer "expired"; open timers: "warn_player", "expire"`,
    );
    assert.equal(await message(env.fireTimer("absent", "expire")), `workflow "absent" not found`);
    await handle.terminate();
    assert.match(await message(env.fireTimer(handle, "expire")), /already completed|no open timer/);
  });
  await env.dispose();
  const due = await TestEnvironment.create();
  await due.client.start(buff, { id: "b" });
  await assert.rejects(
    due.fireTimer("b", "expire"),
    /timer "expire" of workflow "b" fires when it is due; .*timers: "manual"/,
  );
  await due.dispose();
});

test("an application with manual timers keeps them pending over a restart", async () => {
  const store = new MemoryStore();
  const options = {
    workflows: [buff],
    logger: silentLogger,
    engine: { store, timers: "manual" as const },
  };
  let app = await open(options);
  const { runId } = await app.client.start(buff, { id: "b" });
  await until(
    "it waits",
    async () => (await app.client.getHandle(buff, "b").describe()).historyLength >= 6,
  );
  await app.close();
  app = await open(options);
  await app.engine.fireTimer("b", "warn_player", runId);
  const again = app.client.getHandle(buff, "b");
  await again.signal(told.stack, 1);
  // A timer that fires while the task of the signal is open is one that this task cancels.
  await until("it has taken the signal", async () => {
    const { events } = JSON.parse(await again.historyJson()) as { events: { eventType: string }[] };
    const types = events.map(({ eventType }) => eventType);
    const signalled = types.lastIndexOf("EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED");
    return signalled > 0 && types.lastIndexOf("EVENT_TYPE_WORKFLOW_TASK_COMPLETED") > signalled;
  });
  await app.engine.fireTimer("b", clock.expire);
  assert.deepEqual(await app.client.getHandle(buff, "b").result(), ["warned", "stack 1"]);
  await app.close();
});

/** Waits for the hand twice, in two runs. */
const rounds = workflow("Rounds", async (round: number) => {
  await timer("next", "1h");
  if (round < 2) return continueAsNew(round + 1);
  return round;
});

test("the timers of one workflow can be manual: the others fire when they are due", async () => {
  const env = await TestEnvironment.create();
  await env.runWorker({ workflows: [buff, rounds] }, async () => {
    const held = await env.client.start(rounds, { id: "held", args: [1], timers: "manual" });
    const due = await env.client.start(rounds, { id: "due", args: [1] });
    await env.advance("30 days");
    assert.equal(await due.result(), 2);
    const { status, searchAttributes } = await held.describe();
    assert.deepEqual([status, searchAttributes["WorkflowTimers"]], ["RUNNING", "manual"]);
    const listed = [];
    for await (const { workflowId } of env.client.list("WorkflowTimers = 'manual'")) {
      listed.push(workflowId);
    }
    assert.deepEqual(listed, ["held"]);
    await env.fireTimer(held, "next");
    await env.advance("30 days");
    assert.equal(
      (await held.describe()).status,
      "RUNNING",
      "the run that continues it waits as well",
    );
    await env.fireTimer("held", "next");
    assert.equal(await held.result(), 2);
    await env.client.start(buff, { id: "b" });
    await assert.rejects(
      env.fireTimer("b", "expire"),
      /fires when it is due; .*started with timers: "manual"/,
    );
  });
  await env.dispose();
});

test("manual timers of a workflow stay manual after a restart of an engine with automatic timers", async () => {
  const store = new MemoryStore();
  const options = { workflows: [short], logger: silentLogger, engine: { store } };
  let app = await open(options);
  await app.client.start(short, { id: "s", timers: "manual" });
  const waits = async () => (await app.client.getHandle(short, "s").describe()).historyLength >= 5;
  await until("it waits", waits);
  await app.close();
  app = await open(options);
  await sleepMs(30);
  assert.equal((await app.client.getHandle(short, "s").describe()).status, "RUNNING");
  await app.engine.fireTimer("s", "soon");
  assert.equal(await app.client.getHandle(short, "s").result(), "over");
  await app.close();
});

test("manual timers of one workflow: invalid calls are rejected", async () => {
  const env = await TestEnvironment.create();
  const timers = "by hand" as "manual";
  await assert.rejects(
    env.client.start(buff, { id: "b", timers }),
    /timers must be "manual" or undefined, not "by hand"/,
  );
  await env.dispose();
  // As Temporal's server says it of an attribute that it does not know.
  const message = "Namespace default has no mapping defined for search attribute WorkflowTimers";
  const service = new ScriptedService().on("startWorkflowExecution", () => {
    throw new ServiceError(Code.INVALID_ARGUMENT, message);
  });
  const client = new Client({ service, taskQueue: "q", logger: silentLogger });
  await assert.rejects(
    client.start(buff, { id: "b", timers: "manual" }),
    /timers: "manual" needs the embedded engine; .*a cluster, which fires/,
  );
});
