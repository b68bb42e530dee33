// Activities in threads: they do not stop this one, and everything that they can do crosses over.
// takes: 8 s
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import workerThreads from "node:worker_threads";
import { delay } from "@std/async/delay";
import type { ActivityContext } from "../../../ts/activity/mod.ts";
import { ApplicationFailure, CancelledFailure } from "../../../ts/converter/mod.ts";
import { realTimers } from "../../../ts/base/timers.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { ActivityPool } from "../../../ts/worker/activities/activity_pool.ts";
import { ActivityRegistry } from "../../../ts/worker/activities/activity_registry.ts";
import { ManualTimers, settle } from "../../support/manual_timers.ts";
import { until } from "../../support/until.ts";

const module = new URL("./modules/computing.ts", import.meta.url);

function context(activityId = "1") {
  const abort = new AbortController();
  const heartbeats: unknown[] = [];
  const logged: unknown[] = [];
  let cancelReason: ActivityContext["cancelReason"];
  const made: ActivityContext = {
    info: {
      activityId,
      attempt: 1,
      idempotencyKey: `w/r/${activityId}`,
    } as ActivityContext["info"],
    headers: {},
    cancelled: abort.signal,
    get cancelReason() {
      return cancelReason;
    },
    logger: { ...silentLogger, info: (message, fields) => void logged.push(message, fields) },
    heartbeat: (details) => void heartbeats.push(details),
    sleep: () => Promise.reject(new Error("not here")),
    throwIfCancelled: () => {},
  };
  const cancel = (reason: ActivityContext["cancelReason"]) => {
    cancelReason = reason;
    abort.abort(new CancelledFailure("told to stop"));
  };
  return { context: made, heartbeats, logged, cancel };
}

async function withPool(
  size: number,
  body: (pool: ActivityPool) => Promise<void>,
  timers = realTimers,
): Promise<void> {
  const pool = await ActivityPool.open({ module, size }, timers);
  try {
    await body(pool);
  } finally {
    await pool.close();
  }
}

test("a CPU-bound activity does not block timers or its own heartbeats", () =>
  withPool(1, async (pool) => {
    assert.deepEqual(pool.names.filter((name) => name === "notAnActivity"), []);
    const folder = mkdtempSync(join(tmpdir(), "temporalex-computing-"));
    try {
      const { context: c, heartbeats } = context("7");
      const file = join(folder, "end");
      const running = pool.run("spinUntil", c, [file]);
      await until("a heartbeat", () => heartbeats.length > 0);
      // It spins until this thread has come to its timers and beyond.
      await delay(5);
      writeFileSync(file, "");
      assert.equal(await running, "spun");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }));

test("log lines and heartbeats with values that cannot be cloned do not fail", () =>
  withPool(1, async (pool) => {
    const { context: c, heartbeats, logged } = context();
    assert.equal(await pool.run("tellsOddThings", c, []), "told");
    const [, done, , circle] = logged as [string, object, string, { error: Error }];
    assert.deepEqual(done, { id: 7, done: "[function]" });
    assert.equal(circle.error.message, "round");
    // Deno clones an error in its own causes; V8 in Node does not.
    assert.ok(circle.error.cause === "[circular]" || circle.error.cause === circle.error);
    assert.deepEqual(heartbeats, [{ progress: 1 }]);
  }));

test("failures keep class, type and details; results must be plain data", () =>
  withPool(1, async (pool) => {
    await assert.rejects(pool.run("fail", context().context, ["no"]), (error) => {
      assert.ok(error instanceof ApplicationFailure);
      assert.deepEqual([error.message, error.type, error.nonRetryable, error.details], [
        "no",
        "Computed",
        true,
        [{ a: 1 }],
      ]);
      return true;
    });
    await assert.rejects(
      pool.run("odd", context().context, []),
      /the result of activity "odd" cannot be encoded: value is a function/,
    );
    await assert.rejects(pool.run("fail", context().context, [() => {}]), /could not be cloned/);
    assert.equal(await pool.run("badHeartbeat", context().context, []), "PayloadConverterError");
  }));

test("cancellation, async completion and log lines pass between the threads", () =>
  withPool(1, async (pool) => {
    const waiting = context();
    const running = pool.run("waitForCancel", waiting.context, []);
    while (waiting.heartbeats.length === 0) await settle();
    waiting.cancel("CANCELLED");
    await assert.rejects(running, CancelledFailure);
    const told = context();
    const telling = pool.run("tellsWhy", told.context, []);
    while (told.heartbeats.length === 0) await settle();
    told.cancel("WORKER_SHUTDOWN");
    assert.deepEqual(await telling, ["none", "WORKER_SHUTDOWN"]);
    const later = context();
    await assert.rejects(pool.run("later", later.context, []), { name: "CompleteAsyncError" });
    assert.deepEqual(later.logged, ["completed from outside", { by: "a test" }]);
  }));

test("a thread runs one activity at a time; threads run in parallel", () =>
  withPool(2, async (pool) => {
    const order: string[] = [];
    const long = context("long");
    const waiting = assert.rejects(pool.run("waitForCancel", long.context, []), CancelledFailure)
      .then(() => order.push("long"));
    const spin = (id: string, ms: number) =>
      pool.run("spin", context(id).context, [ms]).then(() => order.push(id));
    await Promise.all([spin("first", 60), spin("second", 1)]);
    assert.deepEqual(order, ["first", "second"], "the second waits for the thread of the first");
    long.cancel("CANCELLED");
    await waiting;
  }));

test("an activity that does not react to its cancellation is ended with its thread, after five seconds", async () => {
  const timers = new ManualTimers();
  await withPool(1, async (pool) => {
    const stuck = context();
    const running = pool.run("forever", stuck.context, []);
    while (stuck.heartbeats.length === 0) await settle();
    stuck.cancel("CANCELLED");
    await timers.advance(4999);
    const rejected = assert.rejects(running, CancelledFailure);
    await timers.advance(1);
    await rejected;
    assert.match(String(await pool.run("spin", context("next").context, [1])), /next/);
  }, timers);
});

test("an activity that reacts in time keeps its thread usable for the next", async () => {
  const timers = new ManualTimers();
  await withPool(1, async (pool) => {
    const first = context("first");
    const running = assert.rejects(pool.run("waitForCancel", first.context, []), CancelledFailure);
    await until("it is at work", () => first.heartbeats.length > 0);
    first.cancel("CANCELLED");
    await running;
    const next = context("next");
    let ended = false;
    const waiting = pool.run("waitForCancel", next.context, []).catch((error: Error) => {
      ended = true;
      return error;
    });
    await until("the next is at work", () => next.heartbeats.length > 0);
    await timers.advance(60_000);
    assert.equal(ended, false);
    next.cancel("CANCELLED");
    assert.ok(await waiting instanceof CancelledFailure);
  }, timers);
});

test("an activity that does not react does not affect others in the same thread", async () => {
  const timers = new ManualTimers();
  const pool = await ActivityPool.open({ module, size: 1, concurrency: 2 }, timers);
  const stubborn = context("stubborn");
  const neighbor = context("neighbor");
  const running = [
    pool.run("patient", stubborn.context, []),
    pool.run("waitForCancel", neighbor.context, []),
  ];
  const ended: string[] = [];
  running.forEach((each, i) => each.catch((error: Error) => ended.push(`${i} ${error.name}`)));
  await until(
    "both are at work",
    () => stubborn.heartbeats.length > 0 && neighbor.heartbeats.length > 0,
  );
  stubborn.cancel("CANCELLED");
  await timers.advance(60_000);
  assert.deepEqual(ended.filter((each) => each.startsWith("1")), []);
  neighbor.cancel("CANCELLED");
  await assert.rejects(running[1]!, CancelledFailure);
  await pool.close();
});

test("a thread that has started takes as many of the waiting activities as it has room for", async () => {
  const pool = await ActivityPool.open({ module, size: 2, concurrency: 2 }, realTimers);
  const all = Array.from({ length: 4 }, (_, i) => context(`${i}`));
  const running = all.map(({ context }) =>
    assert.rejects(pool.run("waitForCancel", context, []), CancelledFailure)
  );
  await until("all four are at work", () => all.every(({ heartbeats }) => heartbeats.length > 0));
  for (const { cancel } of all) cancel("CANCELLED");
  await Promise.all(running);
  await pool.close();
});

test("a crashed thread fails its activity retryably and is replaced", () =>
  withPool(1, async (pool) => {
    await assert.rejects(pool.run("crash", context().context, []), (error) => {
      assert.ok(error instanceof ApplicationFailure);
      assert.equal(error.type, "ActivityThreadError");
      assert.equal(error.nonRetryable, false);
      assert.match(error.message, /not caught/);
      return true;
    });
    assert.match(String(await pool.run("spin", context("after").context, [1])), /after/);
  }));

/** Threads do not start while `refusing()` is true, as where the system has none left. */
async function withRefusedThreads(
  refusing: () => boolean,
  body: () => Promise<void>,
): Promise<void> {
  const place = ("Deno" in globalThis ? globalThis : workerThreads) as {
    Worker: new (...args: never[]) => object;
  };
  const { Worker: Real } = place;
  place.Worker = class extends Real {
    constructor(...args: never[]) {
      if (refusing()) throw new Error("no thread is left");
      super(...args);
    }
  };
  try {
    await body();
  } finally {
    place.Worker = Real;
  }
}

test("if another thread does not start, activities wait for the existing threads", () =>
  withPool(2, async (pool) => {
    let refused = 0;
    await withRefusedThreads(() => ++refused <= 1000, async () => {
      const first = context("first");
      const running = assert.rejects(
        pool.run("waitForCancel", first.context, []),
        CancelledFailure,
      );
      await until("it is at work", () => first.heartbeats.length > 0);
      const waiting = pool.run("add", context("next").context, [1, 2]).catch((error: Error) =>
        error
      );
      await settle();
      assert.equal(refused, 1, "it is not tried again and again");
      first.cancel("CANCELLED");
      await running;
      assert.equal(await waiting, 3);
    });
  }));

test("without a thread the oldest activity fails retryably, and the next one runs when a thread starts", () =>
  withPool(1, async (pool) => {
    const crashing = assert.rejects(pool.run("crash", context().context, []), /not caught/);
    let refused = 0;
    await withRefusedThreads(() => ++refused === 1, async () => {
      const oldest = assert.rejects(pool.run("add", context("oldest").context, [1, 2]), (error) => {
        assert.ok(error instanceof ApplicationFailure);
        assert.deepEqual([error.type, error.nonRetryable], ["ActivityThreadError", false]);
        assert.match(error.message, /it did not start: no thread is left/);
        return true;
      });
      const next = pool.run("add", context("next").context, [3, 4]);
      await crashing;
      await oldest;
      assert.equal(await next, 7);
    });
  }));

test("close rejects running and waiting activities", async () => {
  const pool = await ActivityPool.open({ module, size: 1 }, realTimers);
  const running = assert.rejects(
    pool.run("waitForCancel", context().context, []),
    /has ended: the worker has stopped/,
  );
  const waiting = assert.rejects(
    pool.run("spin", context().context, [1]),
    /the worker has stopped/,
  );
  await settle();
  await pool.close();
  await running;
  await waiting;
});

test("a module that does not load, an invalid size and a duplicate name are rejected at once", async () => {
  await assert.rejects(
    ActivityPool.open(
      { module: new URL("./modules/missing.ts", import.meta.url), size: 1 },
      realTimers,
    ),
    /its module cannot be loaded/,
  );
  await assert.rejects(ActivityPool.open({ module, size: 0 }, realTimers), /at least 1/);
  assert.throws(
    () => new ActivityRegistry({ spin: () => 1 }, {}, ["spin"]),
    /two activities are named "spin"/,
  );
});

test("a module that never finishes loading fails after a timeout, and at once when the worker stops", async () => {
  const endless = new URL("./modules/slow_to_load.ts", import.meta.url);
  const timers = new ManualTimers();
  const late = assert.rejects(
    ActivityPool.open({ module: endless, size: 1 }, timers),
    /not loaded within 30000 ms: its top-level code did not return/,
  );
  await timers.advance(30_000);
  await late;
  const stop = new AbortController();
  const stopped = assert.rejects(
    ActivityPool.open({ module: endless, size: 1 }, realTimers, stop.signal),
    /shutting down/,
  );
  await delay(300); // its thread has begun, and loads
  stop.abort(new Error("the worker is shutting down"));
  await stopped;

  // The signal was aborted before.
  const never = assert.rejects(
    ActivityPool.open({ module: endless, size: 1 }, timers, stop.signal),
    /shutting down/,
  );
  await timers.advance(30_000);
  await never;
});

test("several activities per thread run if configured; a retired pool completes its activities", async () => {
  const pool = await ActivityPool.open({ module, size: 1, concurrency: 3 }, realTimers);
  const one = context("1");
  const slow = [
    pool.run("waits", one.context, [20]),
    pool.run("waits", context("2").context, [20]),
  ];
  const quick = await pool.run("add", context("3").context, [1, 2]);
  assert.equal(quick, 3, "it did not wait for those before it");
  const queued = Array.from(
    { length: 5 },
    (_, i) => pool.run("add", context(`q${i}`).context, [i, 1]),
  );
  const retired = pool.retire();
  assert.deepEqual(await Promise.all(slow), ["waited 20", "waited 20"]);
  assert.deepEqual(await Promise.all(queued), [1, 2, 3, 4, 5]);
  await retired;
  await assert.rejects(
    ActivityPool.open({ module, size: 1, concurrency: 0 }, realTimers),
    /concurrency must be a whole number/,
  );
});
