// The polling loops: slots, back-off, and tasks that arrive while the worker stops.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  PollActivityTaskQueueResponseSchema,
  PollWorkflowTaskQueueResponseSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { type PollAnswer, Poller, type PollerOptions } from "../../../ts/worker/polls/poller.ts";
import {
  activityPolls,
  type PollRange,
  workflowPolls,
} from "../../../ts/worker/polls/poller_behavior.ts";
import { readScaling, SCALING_FIELD } from "../../../ts/worker/task_bytes.ts";
import { Slots } from "../../../ts/worker/polls/slots.ts";
import { ManualTimers, settle } from "../../support/manual_timers.ts";

const TASK: PollAnswer<Uint8Array> = { task: new Uint8Array([1]), scaling: 0 };
const range = (max: number): PollRange => ({
  min: Math.min(2, max),
  initial: Math.min(2, max),
  max,
});

function poller(
  timers: ManualTimers,
  options: Partial<PollerOptions<Uint8Array>>,
): Poller<Uint8Array> {
  return new Poller({
    what: "tasks",
    polls: range(1),
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

/** A poll that waits until it is canceled. */
const waiting = (signal: AbortSignal) =>
  new Promise<undefined>((_, reject) =>
    signal.addEventListener("abort", () => reject(new ServiceError(Code.CANCELLED, "canceled")))
  );

test("rejected polls back off up to ten seconds, and a success resets the delay", async () => {
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
  assert.deepEqual(
    at.slice(0, 4),
    [42_600, 42_600, 42_800, 43_200],
    "after a task the delays start again",
  );
  mood = "wait";
  await timers.advance(10_000);
  await loop.stop();
  assert.equal(timers.pending, 0);
});

test("a service that returns empty responses at once is not polled in a hot loop", async () => {
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

test("five consecutive permanent rejections end the worker; other rejections never do", async () => {
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
  assert.match(
    fatal[0]!.message,
    /keeps rejecting polls for tasks: namespace missing; check the namespace/,
  );
  await loop.stop();
});

test("a brief proxy failure that many polls see at once does not end the worker", async () => {
  const timers = new ManualTimers();
  const fatal: Error[] = [];
  let refused = 0;
  let bad = true;
  const loop = poller(timers, {
    polls: { min: 20, initial: 20, max: 20 },
    slots: new Slots(20),
    poll: (signal) => {
      if (!bad) return waiting(signal);
      refused++;
      return Promise.reject(new ServiceError(Code.PERMISSION_DENIED, "403"));
    },
    onFatal: (error) => void fatal.push(error),
  });
  loop.start();
  await timers.advance(1500);
  assert.ok(refused >= 60, String(refused));
  assert.equal(fatal.length, 0);
  await timers.advance(60_000);
  assert.equal(fatal.length, 1, "told once, by one of them");
  bad = false;
  await timers.advance(10_000);
  await loop.stop();
});

test("polls count as accepted after one waited a second without rejection, or got a response", async () => {
  const timers = new ManualTimers();
  let refuses = true;
  const loop = poller(timers, {
    poll: (signal) =>
      refuses ? Promise.reject(new ServiceError(Code.UNAVAILABLE, "away")) : waiting(signal),
  });
  loop.start();
  await timers.advance(500);
  assert.equal(loop.served, false);
  refuses = false;
  // The next poll goes out at 600.
  await timers.advance(1_099);
  assert.equal(loop.served, false, "after 999 ms");
  await timers.advance(1);
  assert.equal(loop.served, true, "after 1,000 ms");
  await loop.stop();
  const polled = poller(timers, { poll: () => Promise.resolve(undefined) });
  polled.start();
  await timers.advance(1);
  assert.equal(polled.served, true);
  await polled.stop();
});

test("a poll that was sent at the time of a rejection does not count as accepted, however long it waits", async () => {
  const timers = new ManualTimers();
  let polls = 0;
  const loop = poller(timers, {
    polls: range(2),
    poll: (signal) =>
      polls++ === 1 ? Promise.reject(new ServiceError(Code.UNAVAILABLE, "away")) : waiting(signal),
  });
  loop.start();
  await timers.advance(1_100);
  assert.equal(polls, 3, "the one that was refused has been sent again, 900 ms ago");
  assert.equal(loop.served, false);
  await timers.advance(100);
  assert.equal(loop.served, true);
  await loop.stop();
});

test("the number of tasks does not exceed the number of slots", async () => {
  const timers = new ManualTimers();
  const slots = new Slots(2);
  const finish: (() => void)[] = [];
  let polls = 0;
  const loop = poller(timers, {
    polls: range(5),
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
  assert.equal(idle, false, "running tasks keep it busy");
  for (const end of finish) end();
  await done;
  assert.equal(slots.used, 0);
});

test("the number of polls grows while tasks arrive faster than polls, and shrinks when polls return empty", async () => {
  const timers = new ManualTimers();
  const polls: { task: () => void; empty: () => void }[] = [];
  const answer = (how: "task" | "empty", count: number) => {
    for (const poll of polls.splice(0, count)) poll[how]();
  };
  const loop = poller(timers, {
    polls: range(6),
    slots: new Slots(100),
    poll: (signal) =>
      new Promise((resolve, reject) => {
        polls.push({ task: () => resolve(TASK), empty: () => resolve(undefined) });
        signal.onabort = () => reject(new Error("canceled"));
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

test("the service's suggestions are followed within the range; reductions apply as polls end", async () => {
  const timers = new ManualTimers();
  const polls: ((answer: PollAnswer<Uint8Array>) => void)[] = [];
  const loop = poller(timers, {
    polls: { min: 1, initial: 3, max: 8 },
    slots: new Slots(100),
    poll: (signal) =>
      new Promise((resolve, reject) => {
        polls.push(resolve);
        signal.onabort = () => reject(new Error("canceled"));
      }),
  });
  const answer = async (scaling: number, task: Uint8Array | undefined = TASK.task) => {
    polls.shift()!({ task, scaling });
    await settle();
  };
  loop.start();
  await settle();
  assert.equal(polls.length, 3);
  await answer(2);
  assert.equal(polls.length, 5);
  await answer(100);
  assert.equal(polls.length, 8, "never more than the maximum");
  await answer(-3);
  assert.equal(polls.length, 7, "the canceled poll ends; the others wait for a task");
  await answer(0);
  await answer(0);
  assert.equal(polls.length, 5);
  await answer(0);
  assert.equal(polls.length, 5, "and no more than were suggested");
  await answer(-100);
  for (let i = 0; i < 10; i++) await answer(0);
  assert.equal(
    polls.length,
    2,
    "a task came while no other poll waited, so one more than the minimum",
  );
  await answer(-1, undefined);
  assert.equal(polls.length, 1, "never fewer than the minimum");
  await loop.stop();
});

test("a fixed number of polls stays fixed, whatever the service suggests", async () => {
  const timers = new ManualTimers();
  const polls: ((answer: PollAnswer<Uint8Array>) => void)[] = [];
  const loop = poller(timers, {
    polls: { min: 4, initial: 4, max: 4 },
    poll: (signal) =>
      new Promise((resolve, reject) => {
        polls.push(resolve);
        signal.onabort = () => reject(new Error("canceled"));
      }),
  });
  loop.start();
  await settle();
  for (const scaling of [5, -5, 0, 1, -1]) {
    polls.shift()!({ task: TASK.task, scaling });
    await settle();
    assert.equal(polls.length, 4);
  }
  await loop.stop();
});

test("an overloaded service gets fewer concurrent polls, and the last ones back off", async () => {
  const timers = new ManualTimers();
  const at: number[] = [];
  const loop = poller(timers, {
    polls: { min: 1, initial: 6, max: 6 },
    poll: () => {
      at.push(timers.now());
      throw new ServiceError(Code.RESOURCE_EXHAUSTED, "namespace rate limit exceeded");
    },
  });
  loop.start();
  await timers.advance(1000);
  assert.deepEqual(at, [0, 0, 0, 0, 0, 0, 200, 600]);
  await loop.stop();
});

test("poller behaviors: ranges for each queue within the slots; invalid ones are rejected", () => {
  const own = { min: 2, initial: 2 };
  assert.deepEqual(workflowPolls(undefined, 100, true), {
    normal: { ...own, max: 16 },
    sticky: { ...own, max: 32 },
  });
  assert.deepEqual(workflowPolls(undefined, 100, false), {
    normal: { ...own, max: 16 },
    sticky: undefined,
  });
  assert.deepEqual(workflowPolls(undefined, 2, true), {
    normal: { min: 1, initial: 1, max: 1 },
    sticky: { min: 1, initial: 1, max: 1 },
  });
  assert.deepEqual(activityPolls(undefined, 10), { ...own, max: 10 });
  assert.deepEqual(
    activityPolls({ type: "autoscaling", minimum: 3, maximum: 50, initial: 5 }, 100),
    {
      min: 3,
      initial: 5,
      max: 50,
    },
  );
  assert.deepEqual(activityPolls({ type: "autoscaling", minimum: 40 }, 100), {
    min: 40,
    initial: 40,
    max: 40,
  });
  assert.deepEqual(activityPolls({ type: "autoscaling", maximum: 1 }, 100), {
    min: 1,
    initial: 1,
    max: 1,
  });
  assert.deepEqual(activityPolls({ type: "simple-maximum" }, 100), { min: 5, initial: 5, max: 5 });
  const fixed = (n: number) => ({ min: n, initial: n, max: n });
  assert.deepEqual(workflowPolls({ type: "simple-maximum", maximum: 10 }, 100, true), {
    normal: fixed(2),
    sticky: fixed(8),
  });
  assert.deepEqual(workflowPolls({ type: "simple-maximum", maximum: 30 }, 4, true), {
    normal: fixed(2),
    sticky: fixed(2),
  });
  assert.deepEqual(workflowPolls({ type: "simple-maximum", maximum: 2 }, 100, true), {
    normal: fixed(1),
    sticky: fixed(1),
  });
  assert.deepEqual(workflowPolls({ type: "simple-maximum", maximum: 1 }, 100, false), {
    normal: fixed(1),
    sticky: undefined,
  });
  assert.throws(
    () => workflowPolls({ type: "simple-maximum", maximum: 1 }, 100, true),
    /must be at least 2/,
  );
  assert.throws(
    () => activityPolls({ type: "autoscaling", minimum: 0 }, 9),
    /activityTaskPollerBehavior\.minimum must be .* at least 1, not 0/,
  );
  assert.throws(
    () => activityPolls({ type: "autoscaling", minimum: 5, maximum: 4 }, 9),
    /maximum must be .* at least 5, not 4/,
  );
  assert.throws(
    () => workflowPolls({ type: "simple-maximum", maximum: 1.5 }, 9, false),
    /workflowTaskPollerBehavior\.maximum/,
  );
  assert.throws(
    () => workflowPolls({ type: "auto" as "autoscaling" }, 9, false),
    /"autoscaling" or "simple-maximum", not "auto"/,
  );
});

test("the service's suggestion is read from a response with a task, and from one without", () => {
  const decision = { pollerScalingDecision: { pollRequestDeltaSuggestion: -2 } };
  const workflow = toBinary(
    PollWorkflowTaskQueueResponseSchema,
    create(PollWorkflowTaskQueueResponseSchema, {
      taskToken: new Uint8Array(3),
      workflowExecution: { workflowId: "w" },
      ...decision,
    }),
  );
  const activity = toBinary(
    PollActivityTaskQueueResponseSchema,
    create(PollActivityTaskQueueResponseSchema, decision),
  );
  assert.equal(readScaling(workflow, SCALING_FIELD.pollWorkflowTaskQueue), -2);
  assert.equal(readScaling(activity, SCALING_FIELD.pollActivityTaskQueue), -2);
  assert.equal(readScaling(new Uint8Array(0), SCALING_FIELD.pollActivityTaskQueue), 0);
  const none = toBinary(
    PollActivityTaskQueueResponseSchema,
    create(PollActivityTaskQueueResponseSchema, {
      taskToken: new Uint8Array(3),
      pollerScalingDecision: {},
    }),
  );
  assert.equal(readScaling(none, SCALING_FIELD.pollActivityTaskQueue), 0);
});

test("a task that arrives while its poll is canceled is processed", async () => {
  const timers = new ManualTimers();
  const handled: Uint8Array[] = [];
  const loop = poller(timers, {
    poll: (signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(TASK))),
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

test("a slot released twice is one slot", async () => {
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

test("stop can wait for polls to end before it cancels them", async () => {
  const timers = new ManualTimers();
  const handled: Uint8Array[] = [];
  const end: (() => void)[] = [];
  const loop = poller(timers, {
    polls: range(2),
    poll: (signal) =>
      new Promise((resolve, reject) => {
        end.push(() => resolve(TASK));
        signal.onabort = () => reject(new Error("canceled"));
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
