// The test environment: time that jumps, mocks, and failures that would repeat for ever.
// takes: 3 s
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  activityInfo,
  ApplicationFailure,
  completeAsync,
  heartbeat,
  sleep as activitySleep,
  withContext,
} from "../../../ts/activity/mod.ts";
import { silentLogger, WorkflowFailedError } from "../../../ts/client/mod.ts";
import {
  ActivityFailure,
  CancelledFailure,
  type Payload,
  TimeoutFailure,
} from "../../../ts/converter/mod.ts";
import {
  EndlessWaitError,
  KeepsFailingError,
  mockActivities,
  runActivity,
  TestEnvironment,
} from "../../../ts/testing/mod.ts";
import {
  activities,
  continueAsNew,
  executeChild,
  now,
  on,
  receive,
  reply,
  sideEffect,
  signal,
  sleep,
  stop,
  update,
  waitForSignal,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { until } from "../../support/until.ts";

const DAY = 86_400_000;
const START = Date.UTC(2030, 0, 1);

interface Shop {
  charge(amount: number): Promise<string>;
  refund(id: string): Promise<void>;
}
const shop = activities<Shop>({ startToClose: "1m", retry: { maximumAttempts: 3 } });

const month = workflow("Month", async () => {
  const begin = now();
  for (let day = 0; day < 30; day++) await sleep("1 day");
  return now() - begin;
});
const pay = workflow("Pay", async (amount: number) => await shop.charge(amount));
const go = signal("go");
const patient = workflow("Patient", async () => {
  const waited = await receive({ told: false }, [
    on(go, (_, state) => stop({ ...state, told: true })),
  ], { timeout: "1h" });
  return waited.timedOut ? "gave up" : "went";
});
const slow = update<[ms: number], string>("slow");
const server = workflow("Server", async () => {
  await receive({ n: 0 }, [
    on(slow, async ([ms], state) => {
      await sleep(ms);
      return reply("replied", state);
    }),
    on(go, (_, state) => stop(state)),
  ]);
});
const forEver = workflow("ForEver", async () => void await waitForSignal(go));
const refused = workflow("Refused", () => executeChild("Other", { id: "x".repeat(1001) }));
const buggy = workflow("Buggy", async () => {
  await sleep(1);
  throw new TypeError("a bug");
});

async function withEnvironment(body: (env: TestEnvironment) => Promise<void>): Promise<void> {
  const env = await TestEnvironment.create({ startTime: START, logger: silentLogger });
  try {
    await body(env);
  } finally {
    await env.dispose();
  }
}

test("waiting for a result skips the workflow's sleeps", () =>
  withEnvironment(async (env) => {
    assert.equal(env.now(), START);
    const begin = performance.now();
    await env.runWorker({ workflows: [month] }, async () => {
      assert.equal(await env.client.execute(month, { id: "1" }), 30 * DAY);
    });
    assert.ok(env.now() >= START + 30 * DAY);
    assert.ok(env.now() < START + 30 * DAY + 1000, "time moved no further than it had to");
    assert.ok(performance.now() - begin < 60_000);
  }));

test("time does not move between calls: a signal arrives before the timeout on any machine", () =>
  withEnvironment(async (env) => {
    await env.runWorker({ workflows: [patient] }, async () => {
      const told = await env.client.start(patient, { id: "told" });
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(env.now(), START);
      await told.signal(go);
      assert.equal(await told.result(), "went");
      assert.equal(env.now(), START);
      assert.equal(await env.client.execute(patient, { id: "alone" }), "gave up");
      assert.equal(env.now(), START + 3_600_000);
    });
  }));

test("advance moves time from timer to timer", () =>
  withEnvironment(async (env) => {
    await env.runWorker({ workflows: [month, patient] }, async () => {
      const handle = await env.client.start(month, { id: "1" });
      await env.advance("10 days");
      assert.equal(env.now(), START + 10 * DAY);
      const timers = (await handle.fetchHistory()).events.filter((event) =>
        event.attributes.case === "timerFiredEventAttributes"
      );
      assert.equal(timers.length, 10);
      const other = await env.client.start(patient, { id: "2" });
      await env.advance(3_599_999);
      assert.equal((await other.describe()).status, "RUNNING");
      await env.advance(1);
      assert.equal((await other.describe()).status, "COMPLETED");
    });
  }));

test("advance waits for workflow tasks, however long they take on this machine", async () => {
  const slow = {
    encode: async (payloads: Payload[]) => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return payloads;
    },
    decode: (payloads: Payload[]) => Promise.resolve(payloads),
  };
  const notes = workflow("Notes", async () => {
    for (let day = 0; day < 3; day++) {
      await sleep("1 day");
      sideEffect(() => day);
    }
  });
  const env = await TestEnvironment.create({ startTime: START, codec: slow, logger: silentLogger });
  try {
    await env.runWorker({ workflows: [notes] }, async () => {
      const handle = await env.client.start(notes, { id: "1" });
      await env.advance("3 days");
      const { status, closeTime } = await handle.describe();
      assert.deepEqual([status, closeTime?.getTime()], ["COMPLETED", START + 3 * DAY]);
    });
  } finally {
    await env.dispose();
  }
});

test("an update that sleeps completes while it is awaited", () =>
  withEnvironment(async (env) => {
    await env.runWorker({ workflows: [server] }, async () => {
      const handle = await env.client.start(server, { id: "1" });
      assert.equal(await handle.update(slow, 7 * DAY), "replied");
      assert.equal(env.now(), START + 7 * DAY);
    });
  }));

test("time waits for a running activity, skips retries' delays, and activities sleep in virtual time", () =>
  withEnvironment(async (env) => {
    const attempts: [number, number][] = [];
    const real = {
      charge: withContext(async (context, amount: number) => {
        attempts.push([context.info.attempt, env.now() - START]);
        await new Promise((resolve) => setTimeout(resolve, 30));
        await context.sleep("20s");
        await new Promise((resolve) => setTimeout(resolve, 30));
        if (context.info.attempt < 3) throw new Error("not yet");
        return `paid ${amount}`;
      }),
    };
    await env.runWorker({ workflows: [pay], activities: real }, async () => {
      assert.equal(await env.client.execute(pay, { id: "1", args: [5] }), "paid 5");
    });
    assert.deepEqual(attempts, [[1, 0], [2, 21_000], [3, 43_000]]);
  }));

test("a hanging activity times out when time is advanced", () =>
  withEnvironment(async (env) => {
    let told: unknown;
    const hanging = {
      charge: withContext(async (context) => {
        await new Promise((resolve) => context.cancelled.addEventListener("abort", resolve));
        told = context.cancelReason;
        throw context.cancelled.reason;
      }),
    };
    await env.runWorker({ workflows: [pay], activities: hanging }, async () => {
      const handle = await env.client.start(pay, { id: "1", args: [5] });
      const failed = assert.rejects(handle.result(), (error) => {
        assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ActivityFailure);
        assert.ok(error.cause.cause instanceof TimeoutFailure);
        assert.equal(error.cause.cause.timeoutType, "START_TO_CLOSE");
        return true;
      });
      for (let i = 0; i < 3; i++) await env.advance("70s");
      await failed;
    });
    assert.equal(told, "TIMED_OUT");
  }));

test("heartbeats in virtual time keep an activity alive", () =>
  withEnvironment(async (env) => {
    const beating = activities<{ work(): Promise<string> }>({
      startToClose: "1 hour",
      heartbeat: "10s",
      retry: { maximumAttempts: 1 },
    });
    const long = workflow("Long", async () => await beating.work());
    const work = async () => {
      for (let i = 0; i < 300; i++) {
        heartbeat(i);
        await activitySleep("9s");
      }
      return "alive";
    };
    await env.runWorker({ workflows: [long], activities: { work } }, async () => {
      assert.equal(await env.client.execute(long, { id: "1" }), "alive");
    });
    assert.ok(env.now() >= START + 300 * 9000);
  }));

test("time waits for an activity that is completed from outside", () =>
  withEnvironment(async (env) => {
    let token: Uint8Array | undefined;
    const outside = {
      charge: (): string => {
        token = activityInfo().taskToken;
        return completeAsync();
      },
    };
    await env.runWorker({ workflows: [pay], activities: outside }, async () => {
      const handle = await env.client.start(pay, { id: "1", args: [1] });
      const result = handle.result();
      await until("the activity has run", () => token !== undefined);
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(env.now(), START);
      await env.client.completeActivity(token!, "from outside");
      assert.equal(await result, "from outside");
    });
  }));

test("mocks are typed like the activities and record their calls; other activities fail at once with their name", () =>
  withEnvironment(async (env) => {
    const mocks = mockActivities<Shop>({ charge: (amount) => `mocked ${amount}` });
    const both = workflow("Both", async () => {
      await shop.charge(1);
      await shop.charge(2);
      await shop.refund("x");
    });
    await env.runWorker({ workflows: [both], activities: mocks }, async () => {
      await assert.rejects(env.client.execute(both, { id: "1" }), (error) => {
        assert.ok(error instanceof WorkflowFailedError);
        assert.match((error.cause.cause as Error).message, /no activity "refund"; it has charge/);
        return true;
      });
    });
    assert.deepEqual(mocks.calls.charge, [[1], [2]]);
    assert.deepEqual(mocks.calls.refund, []);
    // @ts-expect-error a result of another type
    mockActivities<Shop>({ charge: () => 1 });
    // @ts-expect-error no such activity
    mockActivities<Shop>({ change: () => "x" });
  }));

test("a workflow task that keeps failing ends the wait with its message", () =>
  withEnvironment(async (env) => {
    await env.runWorker({ workflows: [buggy] }, async () => {
      await assert.rejects(env.client.execute(buggy, { id: "1" }), (error) => {
        assert.ok(error instanceof KeepsFailingError);
        assert.match(error.message, /a bug/);
        return true;
      });
    });
  }));

test("a child that the engine cannot start ends the wait with the reason, and time does not move", () =>
  withEnvironment(async (env) => {
    await env.runWorker({ workflows: [refused], logger: silentLogger }, async () => {
      await assert.rejects(env.client.execute(refused, { id: "1" }), (error) => {
        assert.ok(error instanceof KeepsFailingError);
        assert.match(
          error.message,
          /the workflow task of 1 keeps failing: .*WorkflowId.*exceeds limit/,
        );
        return true;
      });
    });
  }));

test("workflow and activity failures are thrown unchanged", () =>
  withEnvironment(async (env) => {
    const failing = {
      charge: (): string => {
        throw ApplicationFailure.nonRetryable("declined", { type: "Declined" });
      },
    };
    await env.runWorker({ workflows: [pay], activities: failing }, async () => {
      await assert.rejects(env.client.execute(pay, { id: "1", args: [1] }), (error) => {
        assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ActivityFailure);
        assert.equal((error.cause.cause as ApplicationFailure).type, "Declined");
        return true;
      });
    });
  }));

test("a wait that cannot complete ends at the caller's deadline, and time does not move", () =>
  withEnvironment(async (env) => {
    await env.runWorker({ workflows: [forEver] }, async () => {
      const handle = await env.client.start(forEver, { id: "1" });
      await assert.rejects(handle.result({ timeout: 60 }), { name: "DeadlineExceededError" });
      assert.equal(env.now(), START);
    });
    // The workflow has no worker now: its task waits, and time waits with it.
    const unserved = await env.client.start(month, { id: "2" });
    await assert.rejects(unserved.result({ timeout: 60 }), { name: "DeadlineExceededError" });
    assert.equal(env.now(), START);
  }));

const daily = workflow("Daily", async () => {
  for (;;) await sleep("1 day");
});
const chain = workflow(
  "Chain",
  async (n: number): Promise<ReturnType<typeof continueAsNew<[number]>>> => {
    await sleep("1h");
    if (n === 50) sideEffect(() => chained());
    return continueAsNew(n + 1);
  },
);
/** Called by the chain half way. */
let chained = () => {};
const nap = workflow("Nap", async () => void await sleep("120h"));

test("a workflow that never ends fails the wait at the limit, with the pending wait and its line", async () => {
  const env = await TestEnvironment.create({
    startTime: START,
    logger: silentLogger,
    skipLimit: { time: "30 days" },
  });
  try {
    await env.runWorker({ workflows: [daily, month, forEver] }, async () => {
      const endless = await env.client.start(daily, { id: "d-1" });
      await assert.rejects(endless.result(), (error: Error) => {
        assert.ok(error instanceof EndlessWaitError);
        assert.match(
          error.message,
          /^the result of workflow "d-1" was not reached within 30 days of virtual time, over 30 moments/,
        );
        assert.match(error.message, /; the next moment, .*, is beyond the limit\. It waits for:/);
        assert.match(
          error.message,
          /run of workflow "Daily": .*\n\s+at .*environment\.test\.[jt]s:\d+:\d+/,
        );
        assert.match(error.message, /skipLimit/);
        return true;
      });
      assert.equal(env.now() - START, 30 * DAY);
      // What the test does in between begins the count again, and the limit is for one workflow at
      // a time.
      await endless.terminate();
      assert.equal(await env.client.execute(month, { id: "m-1" }), 30 * DAY);
      assert.equal(await env.client.execute(month, { id: "m-2" }), 30 * DAY);
    });
  } finally {
    await env.dispose();
  }
});

test("an endless chain of runs blocks only its own wait, and other waits continue", async () => {
  const env = await TestEnvironment.create({
    startTime: START,
    logger: silentLogger,
    skipLimit: { moments: 100 },
  });
  try {
    await env.runWorker({ workflows: [chain, nap] }, async () => {
      const endless = await env.client.start(chain, { id: "c-1", args: [0] });
      const ending = await env.client.start(nap, { id: "n-1" });
      const halfWay = new Promise<void>((resolve) => (chained = resolve));
      const refused = assert.rejects(
        endless.result(),
        /the result of workflow "c-1" was not reached within .* over 100 moments/,
      );
      await halfWay;
      await Promise.all([refused, ending.result()]);
      assert.ok(env.now() - START >= 120 * 3_600_000);
    });
  } finally {
    await env.dispose();
  }
  await assert.rejects(
    TestEnvironment.create({ skipLimit: { moments: 0 } }),
    /skipLimit\.moments must be at least 1.*not 0/,
  );
  await assert.rejects(
    TestEnvironment.create({ skipLimit: { time: "soon" } }),
    /"soon" is not a duration/,
  );
});

test("continueAsNew that is not returned fails the task with its line, and getHandle rejects invalid arguments", () =>
  withEnvironment(async (env) => {
    const forgetful = workflow("Forgetful", async (n: number) => {
      await sleep(1);
      if (n < 3) continueAsNew(n + 1);
      return n;
    });
    await env.runWorker({ workflows: [forgetful] }, async () => {
      await assert.rejects(
        env.client.execute(forgetful, { id: "f-1", args: [1] }),
        /workflow "Forgetful" called continueAsNew at .*environment\.test\.[jt]s:\d+:\d+\)? and returned something else.*`return` is missing/,
      );
      assert.equal(await env.client.execute(forgetful, { id: "f-2", args: [3] }), 3);
    });
    const getHandle = env.client.getHandle.bind(env.client) as (...args: unknown[]) => unknown;
    assert.throws(
      () => getHandle("f-1"),
      /needs the workflow .* and then the id, but received "f-1" and no id; .*getHandle\(undefined, "f-1"\)/,
    );
    assert.throws(
      () => getHandle(forgetful),
      /received a definition and no id; write getHandle\(order, "order-1"\)/,
    );
    assert.throws(() => getHandle(undefined, 3), /received undefined and 3/);
  }));

test("with real time no wait is skipped", async () => {
  const env = await TestEnvironment.create({ virtualTime: false, logger: silentLogger });
  const short = workflow("Short", async () => void await sleep(80));
  const begin = performance.now();
  await env.runWorker({ workflows: [short] }, () => env.client.execute(short, { id: "1" }));
  assert.ok(performance.now() - begin >= 75);
  await assert.rejects(env.advance(1), /runs in real time/);
  await env.dispose();
});

test("runActivity calls an activity with a separate context", async () => {
  const heartbeats: unknown[] = [];
  const work = async (n: number) => {
    heartbeat(n);
    return `${activityInfo().attempt}:${n}`;
  };
  assert.equal(
    await runActivity(work, [4], {
      info: { attempt: 7 },
      onHeartbeat: (details) => heartbeats.push(details),
    }),
    "7:4",
  );
  assert.deepEqual(heartbeats, [4]);
  const stop = new AbortController();
  const sleeping = runActivity(
    withContext(async (context, ms: number) => void await context.sleep(ms)),
    [60_000],
    {
      cancel: stop.signal,
    },
  );
  stop.abort();
  await assert.rejects(sleeping, CancelledFailure);
});
