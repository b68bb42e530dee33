// Test mode: timers of workflows fire when a test says so, by name.
// takes: 2 s
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../ts/client/mod.ts";
import { MemoryStore } from "../../ts/engine/memory_store.ts";
import { open } from "../../ts/mod.ts";
import { mockActivities, TestEnvironment } from "../../ts/testing/mod.ts";
import {
  activities,
  ApplicationFailure,
  on,
  payload,
  select,
  signals,
  sleep,
  timer,
  timers,
  workflow,
} from "../../ts/workflow/mod.ts";

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

const acts = activities<{ flaky(): string }>({ startToClose: "10s", retry: { initialInterval: "1 minute" } });
const worksOn = workflow("WorksOn", async () => {
  const result = await acts.flaky();
  await sleep("1s", { summary: "rest" });
  return result;
});

test("timers fire by name when they are told to, in any order, and not when they are due", async () => {
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

test("of several open timers of one name the oldest fires; ids are names, too", async () => {
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

test("timeouts and retries are as ever", async () => {
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

test("what cannot fire says why, and which timers are open", async () => {
  const env = await TestEnvironment.create({ timers: "manual" });
  await env.runWorker({ workflows: [buff] }, async () => {
    const handle = await env.client.start(buff, { id: "b" });
    const message = (of: Promise<unknown>) => of.then(() => "fired", (error: Error) => error.message);
    assert.equal(
      await message(env.fireTimer(handle, "expired")),
      `workflow "b" has no open timer "expired"; open are: "warn_player", "expire"`,
    );
    assert.equal(await message(env.fireTimer("nobody", "expire")), `there is no workflow "nobody"`);
    await handle.terminate();
    assert.match(await message(env.fireTimer(handle, "expire")), /already completed|no open timer/);
  });
  await env.dispose();
  const due = await TestEnvironment.create();
  await assert.rejects(due.fireTimer("b", "expire"), /timer "expire" of workflow "b" fires when it is due; .*timers: "manual"/);
  await due.dispose();
});

test("an application opened for tests keeps its timers still over a restart", async () => {
  const store = new MemoryStore();
  const options = { workflows: [buff], logger: silentLogger, engine: { store, timers: "manual" as const } };
  let app = await open(options);
  const { runId } = await app.client.start(buff, { id: "b" });
  const started = async () => (await app.client.getHandle(buff, "b").describe()).historyLength >= 6;
  while (!await started()) await new Promise((resolve) => setTimeout(resolve, 5));
  await app.close();
  app = await open(options);
  await app.engine.fireTimer("b", "warn_player", runId);
  await app.client.getHandle(buff, "b").signal(told.stack, 1);
  const again = async () => (await app.client.getHandle(buff, "b").describe()).historyLength;
  while (await again() < 15) await new Promise((resolve) => setTimeout(resolve, 5));
  await app.engine.fireTimer("b", clock.expire);
  assert.deepEqual(await app.client.getHandle(buff, "b").result(), ["warned", "stack 1"]);
  await app.close();
});
