// The polling loops: slots, back-off, and tasks that arrive while the worker stops.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../ts/client/mod.ts";
import { Code, ServiceError } from "../../ts/service/raw.ts";
import { Poller, type PollerOptions } from "../../ts/worker/poller.ts";
import { Slots } from "../../ts/worker/slots.ts";
import { ManualTimers, settle } from "../support/manual_timers.ts";

const TASK = new Uint8Array([1]);

function poller(timers: ManualTimers, options: Partial<PollerOptions>): Poller {
  return new Poller({
    what: "tasks",
    max: 1,
    slots: new Slots(10),
    poll: () => Promise.resolve(undefined),
    handle: () => Promise.resolve(),
    onFatal: () => {},
    logger: silentLogger,
    timers,
    random: () => 0,
    ...options,
  });
}

/** A poll that waits until it is taken back. */
const waiting = (signal: AbortSignal) =>
  new Promise<undefined>((_, reject) =>
    signal.addEventListener("abort", () => reject(new ServiceError(Code.CANCELLED, "taken back")))
  );

test("refused polls back off, up to ten seconds, and a success begins anew", async () => {
  const timers = new ManualTimers();
  const at: number[] = [];
  let mood: "away" | "task" | "wait" = "away";
  const loop = poller(timers, {
    poll: (signal) => {
      at.push(timers.now());
      if (mood === "away") throw new ServiceError(Code.UNAVAILABLE, "away");
      if (mood === "wait") return waiting(signal);
      mood = "away";
      return Promise.resolve(TASK);
    },
  });
  loop.start();
  await timers.advance(40_000);
  assert.deepEqual(at.slice(0, 8), [0, 200, 600, 1400, 3000, 6200, 12_600, 22_600]);
  mood = "task";
  at.length = 0;
  await timers.advance(5000);
  assert.deepEqual(at.slice(0, 4), [42_600, 42_600, 42_800, 43_200], "after a task the delays begin anew");
  mood = "wait";
  await timers.advance(10_000);
  await loop.stop();
  assert.equal(timers.pending, 0);
});

test("a service that answers nothing at once is not asked in a hot loop", async () => {
  const timers = new ManualTimers();
  let polls = 0;
  const loop = poller(timers, {
    poll: () => {
      polls++;
      return Promise.resolve(undefined);
    },
  });
  loop.start();
  await timers.advance(60_000);
  assert.ok(polls < 20, `${polls} polls in a minute`);
  await loop.stop();
});

test("refusals that do not mend end the worker after five in a row; others never do", async () => {
  const timers = new ManualTimers();
  const fatal: Error[] = [];
  let code: Code = Code.UNAVAILABLE;
  const loop = poller(timers, {
    poll: () => Promise.reject(new ServiceError(code, "namespace missing")),
    onFatal: (error) => void fatal.push(error),
  });
  loop.start();
  await timers.advance(600_000);
  assert.equal(fatal.length, 0);
  code = Code.NOT_FOUND;
  await timers.advance(60_000);
  assert.equal(fatal.length, 1);
  assert.match(fatal[0]!.message, /keeps refusing to hand out tasks: namespace missing; check the namespace/);
  await loop.stop();
});

test("no more tasks are taken than there are slots", async () => {
  const timers = new ManualTimers();
  const slots = new Slots(2);
  const finish: (() => void)[] = [];
  let polls = 0;
  const loop = poller(timers, {
    max: 5,
    slots,
    poll: () => {
      polls++;
      return Promise.resolve(TASK);
    },
    handle: () => new Promise((resolve) => finish.push(resolve)),
  });
  loop.start();
  await settle();
  assert.equal(polls, 2);
  assert.equal(slots.used, 2);
  finish.shift()!();
  await settle();
  assert.equal(polls, 3);
  const stopped = loop.stop();
  await stopped;
  let idle = false;
  const done = loop.idle().then(() => (idle = true));
  await settle();
  assert.equal(idle, false, "tasks in work keep it busy");
  for (const end of finish) end();
  await done;
  assert.equal(slots.used, 0);
});

test("polls grow in number while tasks come faster than they are asked for, and shrink when they end empty", async () => {
  const timers = new ManualTimers();
  const polls: { task: () => void; empty: () => void }[] = [];
  const answer = (how: "task" | "empty", count: number) => {
    for (const poll of polls.splice(0, count)) poll[how]();
  };
  const loop = poller(timers, {
    max: 6,
    slots: new Slots(100),
    poll: (signal) =>
      new Promise((resolve, reject) => {
        polls.push({ task: () => resolve(TASK), empty: () => resolve(undefined) });
        signal.onabort = () => reject(new Error("taken back"));
      }),
  });
  loop.start();
  await settle();
  assert.equal(polls.length, 2);
  answer("task", 1);
  await settle();
  assert.equal(polls.length, 2, "another poll was waiting: enough");
  for (let i = 0; i < 10; i++) {
    answer("task", polls.length);
    await settle();
  }
  assert.equal(polls.length, 6, "grown to the maximum");
  await timers.advance(1000);
  answer("empty", 3);
  await settle();
  assert.equal(polls.length, 3);
  await timers.advance(1000);
  answer("empty", 3);
  await settle();
  assert.equal(polls.length, 2, "two stay");
  await loop.stop();
});

test("a task that comes with the cancellation of its poll is worked on", async () => {
  const timers = new ManualTimers();
  const handled: Uint8Array[] = [];
  const loop = poller(timers, {
    poll: (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(TASK))),
    handle: (task) => {
      handled.push(task);
      return Promise.resolve();
    },
  });
  loop.start();
  await settle();
  await loop.stop();
  await loop.idle();
  assert.equal(handled.length, 1);
});

test("a slot given back twice is one slot", async () => {
  const slots = new Slots(1);
  const { signal } = new AbortController();
  const release = (await slots.acquire(signal))!;
  release();
  release();
  assert.equal(slots.used, 0);
  await slots.acquire(signal);
  const stop = new AbortController();
  const second = slots.acquire(stop.signal);
  stop.abort();
  assert.equal(await second, undefined);
});

test("stopping may let polls end by themselves for a while, and then takes them back", async () => {
  const timers = new ManualTimers();
  const handled: Uint8Array[] = [];
  const end: (() => void)[] = [];
  const loop = poller(timers, {
    max: 2,
    poll: (signal) =>
      new Promise((resolve, reject) => {
        end.push(() => resolve(TASK));
        signal.onabort = () => reject(new Error("taken back"));
      }),
    handle: (task) => {
      handled.push(task);
      return Promise.resolve();
    },
  });
  loop.start();
  await settle();
  let stopped = false;
  const stopping = loop.stop(1000).then(() => (stopped = true));
  end[0]!();
  await timers.advance(999);
  assert.equal(handled.length, 1, "what a poll brings meanwhile is worked on");
  assert.equal(end.length, 2, "and no further poll is sent");
  assert.equal(stopped, false);
  await timers.advance(1);
  await stopping;
  assert.equal(timers.pending, 0);
});
