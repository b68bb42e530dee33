// Time (P5: timers are never early): the real clock through jumps forward and back, the virtual
// clock, and the engine on both.
// promise: P5
import assert from "node:assert/strict";
import { test } from "node:test";
import { delay } from "@std/async/delay";
import { type CoreEngine, loadCore } from "../../../ts/core/mod.ts";
import {
  type Clock,
  EmbeddedEngine,
  MemoryStore,
  RealClock,
  VirtualClock,
} from "../../../ts/engine/mod.ts";
import { Script, seen } from "./support/script_worker.ts";
import { until } from "../../support/until.ts";

/** A real clock whose two sources a test moves. */
function moved() {
  const time = { wall: 1_000_000, steady: 0 };
  return { time, clock: new RealClock(() => time.wall, () => time.steady, 5) };
}

test("the clock follows the wall clock forward and never runs backward", () => {
  const { time, clock } = moved();
  assert.equal(clock.nowMs(), 1_000_000);
  time.wall += 10;
  time.steady += 10;
  assert.equal(clock.nowMs(), 1_000_010);
  time.wall += 3_600_000;
  assert.equal(clock.nowMs(), 4_600_010);
  let last = clock.nowMs();
  time.wall -= 7_200_000;
  for (let i = 0; i < 100; i++) {
    time.wall += 10;
    time.steady += 10;
    const now = clock.nowMs();
    assert.ok(now > last && now - last <= 5.001, `${now - last}`);
    last = now;
  }
});

test("after a backward jump the clock stays until the wall clock reaches it", () => {
  const { time, clock } = moved();
  clock.nowMs();
  time.wall -= 1000;
  for (let passed = 0; passed < 3000; passed += 10) {
    time.wall += 10;
    time.steady += 10;
    clock.nowMs();
  }
  assert.equal(clock.nowMs(), time.wall);
});

test("a timer fires at the time of the clock, not of the timeout", async () => {
  const { time, clock } = moved();
  const fired: number[] = [];
  clock.setTimer(1_000_030, () => fired.push(clock.nowMs()));
  const keepAlive = setInterval(() => {}, 5);
  await delay(60);
  assert.equal(fired.length, 0, "the wall clock did not move");
  time.wall += 29;
  time.steady += 29;
  await delay(40);
  assert.equal(fired.length, 0);
  time.wall -= 1000;
  await delay(40);
  assert.equal(fired.length, 0, "the wall went back");
  time.wall += 5_000_000;
  await until("a jump forward is noticed", () => fired.length > 0);
  assert.deepEqual(fired, [clock.nowMs()]);
  let other = false;
  clock.setTimer(0, () => other = true);
  await until("a moment that is past fires at once", () => other);
  const cancel = clock.setTimer(time.wall + 1, () => fired.push(0));
  cancel();
  time.wall += 100;
  await delay(30);
  assert.equal(fired.length, 1);
  clearInterval(keepAlive);
});

test("a far time does not overflow the timeout", async () => {
  const clock = new RealClock();
  let fired = false;
  const cancel = clock.setTimer(Date.now() + 2 ** 40, () => fired = true);
  await delay(20);
  assert.equal(fired, false);
  cancel();
});

test("the virtual clock fires in order, each timer at its own moment", () => {
  const clock = new VirtualClock(100);
  const seen: [string, number][] = [];
  clock.setTimer(130, () => seen.push(["c", clock.nowMs()]));
  clock.setTimer(110, () => {
    seen.push(["a", clock.nowMs()]);
    clock.setTimer(120, () => seen.push(["b", clock.nowMs()]));
  });
  const cancel = clock.setTimer(125, () => seen.push(["never", clock.nowMs()]));
  cancel();
  clock.setTimer(200, () => seen.push(["later", clock.nowMs()]));
  assert.equal(clock.nextTimerMs(), 110);
  clock.advanceBy(40);
  assert.deepEqual(seen, [["a", 110], ["b", 120], ["c", 130]]);
  assert.equal(clock.nowMs(), 140);
  clock.advanceTo(10);
  assert.equal(clock.nowMs(), 140);
  assert.equal(clock.nextTimerMs(), 200);
});

/** A workflow that waits for its timer: two activities are done, the timer of 5 ms is started. */
async function beforeTimer(script: Script): Promise<void> {
  await script.start("wf", { steps: 3, timers: true });
  for (let i = 0; i < 2; i++) {
    await script.completeTask((await script.pollWorkflow())!);
    await script.runActivity();
  }
  await script.completeTask((await script.pollWorkflow())!);
}

const fired = async (script: Script) => seen(await script.history("wf")).timersFired;

test("a workflow's timer fires at its moment and not a millisecond before, also after a restart", async () => {
  const store = new MemoryStore();
  const clock = new VirtualClock(1_753_000_000_000);
  const engine = await EmbeddedEngine.open({ store, clock });
  const script = new Script(engine);
  await beforeTimer(script);
  clock.advanceBy(4.999);
  assert.equal(await fired(script), 0);
  await engine.close();
  const second = await EmbeddedEngine.open({ store, clock });
  const after = new Script(second);
  assert.equal(await fired(after), 0);
  assert.equal(clock.nextTimerMs(), 1_753_000_000_005);
  clock.advanceTo(1_753_000_000_005);
  assert.equal(await fired(after), 1);
  const event = (await after.history("wf")).find((e) =>
    e.attributes.case === "timerFiredEventAttributes"
  )!;
  assert.equal(
    Number(event.eventTime!.seconds) * 1000 + event.eventTime!.nanos / 1e6,
    1_753_000_000_005,
  );
  await second.close();
});

test("the figures of an engine name its next wake-up, and none after it has closed", async () => {
  const clock = new VirtualClock(1_753_000_000_000);
  const reported: Error[] = [];
  const engine = await EmbeddedEngine.open({
    store: new MemoryStore(),
    clock,
    onError: (error) => void reported.push(error),
  });
  await beforeTimer(new Script(engine));
  assert.equal(engine.stats().nextWakeMs, 1_753_000_000_005);
  await engine.close();
  assert.equal(engine.stats().nextWakeMs, 0);
  assert.deepEqual(reported, []);
});

test("a timer that became due while no engine ran fires at opening", async () => {
  const store = new MemoryStore();
  const clock = new VirtualClock(1_753_000_000_000);
  const engine = await EmbeddedEngine.open({ store, clock });
  await beforeTimer(new Script(engine));
  await engine.close();
  clock.advanceBy(3_600_000);
  const second = await EmbeddedEngine.open({ store, clock });
  assert.equal(await fired(new Script(second)), 1);
  await second.close();
});

test("no jump of the wall clock, backward or forward, fires a timer early", async () => {
  const { time, clock } = moved();
  const engine = await EmbeddedEngine.open({ store: new MemoryStore(), clock });
  const script = new Script(engine);
  const keepAlive = setInterval(() => {}, 5);
  await beforeTimer(script);
  time.wall -= 3_600_000;
  await delay(40);
  assert.equal(await fired(script), 0);
  // At half speed: 5 ms of the timer take 10 ms.
  time.steady += 8;
  time.wall += 8;
  await delay(40);
  assert.equal(await fired(script), 0);
  time.steady += 4;
  time.wall += 4;
  await until("the timer fires", async () => await fired(script) > 0);
  assert.equal(await fired(script), 1);
  const times = (await script.history("wf")).map((e) =>
    Number(e.eventTime!.seconds) * 1e9 + e.eventTime!.nanos
  );
  assert.deepEqual(times, [...times].sort((a, b) => a - b), "time in a history never goes back");
  clearInterval(keepAlive);
  await engine.close();
});

test("timers of runs that are not in memory fire", async () => {
  const store = new MemoryStore();
  const clock = new VirtualClock(1_753_000_000_000);
  const engine = await EmbeddedEngine.open({ store, clock, limits: { cachedRuns: 1 } });
  const script = new Script(engine);
  const ids = Array.from({ length: 30 }, (_, i) => `wf-${i}`);
  for (const id of ids) {
    await script.start(id, { steps: 3, timers: true });
    for (let i = 0; i < 2; i++) {
      await script.completeTask((await script.pollWorkflow())!);
      await script.runActivity();
    }
    await script.completeTask((await script.pollWorkflow())!);
  }
  assert.ok(engine.stats().cachedRuns < 30, String(engine.stats().cachedRuns));
  clock.advanceBy(1000);
  for (const id of ids) assert.equal(seen(await script.history(id)).timersFired, 1, id);
  await engine.close();
});

/**
 * A clock stopped at 1,000,000 that records the times at which its timer is set; too many of them
 * are an error.
 */
function counted(): { clock: Clock; virtual: VirtualClock; set: number[] } {
  const virtual = new VirtualClock(1_000_000);
  const set: number[] = [];
  const clock: Clock = {
    nowMs: () => virtual.nowMs(),
    setTimer(atMs, fire) {
      if (set.push(atMs) > 200) {
        throw new Error(`the clock is set again and again: ${set.slice(-3)}`);
      }
      return virtual.setTimer(atMs, fire);
    },
  };
  return { clock, virtual, set };
}

test("a core that requests a wake-up in the past does not block the engine", async () => {
  const real = await loadCore("engine");
  const core = {
    ...real,
    createEngine: (options: Parameters<typeof real.createEngine>[0]): CoreEngine =>
      new Proxy(real.createEngine(options), {
        get(target, name) {
          const value = target[name as keyof CoreEngine] as unknown;
          if (name === "flush") return () => ({ ...target.flush(), nextWakeMs: 999_999 });
          return typeof value === "function" ? value.bind(target) : value;
        },
      }),
  };
  const { clock, virtual, set } = counted();
  const engine = await EmbeddedEngine.open({ store: new MemoryStore(), core, clock });
  virtual.advanceBy(20);
  assert.equal(virtual.nowMs(), 1_000_020);
  assert.ok(set.length > 0 && set.slice(1).every((at, i) => at > set[i]!), `${set}`);
  await engine.close();
});

test("a run that the store always reports as due is checked once a second", async () => {
  class Stuck extends MemoryStore {
    override nextWake(): number {
      return 999_999;
    }
  }
  const { clock, virtual, set } = counted();
  const engine = await EmbeddedEngine.open({ store: new Stuck(), clock });
  virtual.advanceBy(5_000);
  assert.equal(virtual.nowMs(), 1_005_000);
  assert.deepEqual(set.map((at) => at - 1_000_000), [1_000, 2_000, 3_000, 4_000, 5_000, 6_000]);
  await engine.close();
});
