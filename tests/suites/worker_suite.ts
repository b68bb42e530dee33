// Workers end to end: activities in all their ends, the sticky cache, shutdown, bad neighbours. The same tests run on the embedded
// engine (memory and file) and on a Temporal cluster.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  activityContext,
  activityInfo,
  completeAsync,
  heartbeat,
  sleep as activitySleep,
  withContext,
} from "../../ts/activity/mod.ts";
import {
  ActivityNotFoundError,
  Client,
  silentLogger,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRejectedError,
} from "../../ts/client/mod.ts";
import { ActivityFailure, ApplicationFailure, type TimeoutFailure } from "../../ts/converter/mod.ts";
import type { RawService } from "../../ts/service/raw.ts";
import { Worker } from "../../ts/worker/mod.ts";
import {
  activities,
  isCancellation,
  noreply,
  on,
  parallel,
  publishState,
  query,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  workflow,
} from "../../ts/workflow/mod.ts";
import type { OnService } from "../support/services.ts";
import { until } from "../support/until.ts";

interface Acts {
  work(input: string): Promise<string>;
}
const quick = activities<Acts>({ startToClose: "1m", retry: { initialInterval: 1, maximumInterval: 5, maximumAttempts: 4 } });
const once = activities<Acts>({ startToClose: "1m", retry: { maximumAttempts: 1 } });
const beating = activities<Acts>({
  startToClose: "60s",
  heartbeat: "30s",
  retry: { maximumAttempts: 1 },
  cancellationType: "waitCancellationCompleted",
});
const fading = activities<Acts>({ startToClose: "60s", heartbeat: "300ms", retry: { maximumAttempts: 1 } });
const brief = activities<Acts>({ startToClose: "60ms", retry: { maximumAttempts: 1 } });

const runs = workflow("Runs", async (input: string) => await quick.work(input));
const runsOnce = workflow("RunsOnce", async (input: string) => await once.work(input));
const runsBriefly = workflow("RunsBriefly", async (input: string) => await brief.work(input));
const beats = workflow("Beats", async (input: string) => await beating.work(input));
const fades = workflow("Fades", async (input: string) => await fading.work(input));
const push = update<[n: number], number>("push");
const fails = update<[], void>("fails");
const poke = signal<[n: number]>("poke");
const close = signal("close");
const pushed = query<number[]>("pushed");
const cautious = workflow("Cautious", {
  messages: { pushed },
  queries: { pushed: (published: number[]) => published },
  async run() {
    publishState([]);
    return await receive([] as number[], [
      on(push, ([n], all) => {
        publishState([...all, n]);
        return reply(all.length + 1, [...all, n]);
      }, {
        validate: ([n]) => {
          if (n < 0) throw new ApplicationFailure("only upwards", { type: "Negative" });
        },
      }),
      on(fails, () => {
        throw ApplicationFailure.nonRetryable("never works", { type: "Never" });
      }),
      on(poke, ([n], all) => {
        publishState([...all, n]);
        return noreply([...all, n]);
      }),
      on(close, (_, all) => stop(all)),
    ]);
  },
});
const failure = (error: unknown): ApplicationFailure => {
  assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ActivityFailure);
  return error.cause.cause as ApplicationFailure;
};

export function workerSuite(check: OnService): void {
  check("an activity is retried with the same idempotency key, and sees its last heartbeat", async (t) => {
    const seen: [number, string, unknown][] = [];
    const work = (input: string) => {
      const { attempt, idempotencyKey, heartbeatDetails } = activityInfo();
      seen.push([attempt, idempotencyKey, heartbeatDetails]);
      heartbeat({ reached: attempt });
      if (attempt < 3) throw new Error("not yet");
      return `${input} done`;
    };
    await t.work({ workflows: [runs], activities: { work } }, async () => {
      const handle = await t.client.start(runs, { id: t.id("w"), args: ["it"] });
      assert.equal(await handle.result(), "it done");
      const key = `${handle.workflowId}/${handle.runId}/${seen[0]![1].split("/")[2]}`;
      assert.deepEqual(seen, [[1, key, undefined], [2, key, { reached: 1 }], [3, key, { reached: 2 }]]);
    });
  });

  check("attempts end with the retry policy, with a non-retryable failure, and with an unknown activity", async (t) => {
    let attempts = 0;
    const work = (input: string): string => {
      attempts++;
      throw new ApplicationFailure(input, { type: "Always", nonRetryable: input === "final" });
    };
    await t.work({ workflows: [runs, runsOnce], activities: { work } }, async () => {
      await assert.rejects(
        t.client.execute(runs, { id: t.id("1"), args: ["again"] }),
        (error) => failure(error).type === "Always",
      );
      assert.equal(attempts, 4);
      await assert.rejects(t.client.execute(runs, { id: t.id("2"), args: ["final"] }), (error) => failure(error).nonRetryable);
      assert.equal(attempts, 5);
    });
    await t.work({ workflows: [runsOnce], activities: { other: () => 1 } }, async () => {
      await assert.rejects(t.client.execute(runsOnce, { id: t.id("3"), args: ["x"] }), (error) => {
        assert.equal(failure(error).type, "NotFoundError");
        assert.match(failure(error).message, /no activity "work"; it has other/);
        return true;
      });
    });
  });

  check("cancelling a workflow reaches the activity through its heartbeat", async (t) => {
    const told: unknown[] = [];
    const work = withContext(async (context) => {
      try {
        for (;;) {
          context.heartbeat("alive");
          await context.sleep(20);
        }
      } finally {
        told.push(context.cancelReason);
      }
    });
    const heartbeatThrottle = { maximumMs: 50 };
    await t.work({ workflows: [beats], activities: { work }, heartbeatThrottle }, async () => {
      const handle = await t.client.start(beats, { id: t.id("b"), args: [""] });
      await until("the activity runs", async () => (await handle.describe()).pendingActivities[0]?.heartbeatDetails === "alive");
      await handle.cancel();
      await assert.rejects(handle.result(), (error) => error instanceof WorkflowFailedError && isCancellation(error.cause));
      assert.deepEqual(told, ["CANCELLED"]);
      const kinds = (await handle.fetchHistory()).events.map((event) => event.attributes.case);
      assert.ok(kinds.includes("activityTaskCanceledEventAttributes"));
    });
  });

  check("timeouts: start to close, and a heart that stops beating", async (t) => {
    const ends: unknown[] = [];
    const work = async (input: string) => {
      if (input === "beat once") heartbeat();
      try {
        await activitySleep("1h");
      } catch (error) {
        ends.push(activityContext().cancelReason);
        throw error;
      }
      return "too late";
    };
    const settings = { workflows: [runsBriefly, fades], activities: { work } };
    await t.work(settings, async () => {
      await assert.rejects(t.client.execute(runsBriefly, { id: t.id("1"), args: [""] }), (error) => {
        const cause = failure(error) as unknown as TimeoutFailure;
        assert.equal(cause.timeoutType, "START_TO_CLOSE");
        return true;
      });
      await assert.rejects(t.client.execute(fades, { id: t.id("2"), args: ["beat once"] }), (error) => {
        const cause = failure(error) as unknown as TimeoutFailure;
        assert.equal(cause.timeoutType, "HEARTBEAT");
        return true;
      });
    });
    // A worker that hears nothing of a timeout ends the attempt by itself, some seconds later; mostly the shutdown is sooner.
    assert.equal(ends.length, 2);
    for (const end of ends) assert.match(String(end), /^(WORKER_SHUTDOWN|TIMED_OUT)$/);
  });

  check("async completion is accepted once, by token and by id", async (t) => {
    const tokens: Uint8Array[] = [];
    const work = () => {
      tokens.push(activityInfo().taskToken);
      return completeAsync();
    };
    await t.work({ workflows: [runsOnce, beats], activities: { work } }, async () => {
      const handle = await t.client.start(runsOnce, { id: t.id("1"), args: [""] });
      await until("the activity ran", () => tokens.length === 1);
      await t.client.heartbeatActivity(tokens[0]!, { half: true });
      assert.deepEqual((await handle.describe()).pendingActivities[0]!.heartbeatDetails, { half: true });
      await t.client.completeActivity(tokens[0]!, "from outside");
      await assert.rejects(t.client.completeActivity(tokens[0]!, "again"), ActivityNotFoundError);
      assert.equal(await handle.result(), "from outside");

      const failed = await t.client.start(runsOnce, { id: t.id("2"), args: [""] });
      await until("the activity ran", () => tokens.length === 2);
      const { activityId } = (await failed.describe()).pendingActivities[0]!;
      await t.client.failActivity(
        { workflowId: failed.workflowId, activityId },
        ApplicationFailure.nonRetryable("no", { type: "Outside" }),
      );
      await assert.rejects(
        t.client.failActivity({ workflowId: failed.workflowId, activityId }, new Error("again")),
        ActivityNotFoundError,
      );
      await assert.rejects(failed.result(), (error) => failure(error).type === "Outside");

      const cancelled = await t.client.start(beats, { id: t.id("3"), args: [""] });
      await until("the activity ran", () => tokens.length === 3);
      await cancelled.cancel();
      await until(
        "the cancellation arrives",
        () => t.client.heartbeatActivity(tokens[2]!).then(() => false, (error) => error.name === "ActivityCancelledError"),
      );
      await t.client.reportCancellation(tokens[2]!, "stopped");
      await assert.rejects(cancelled.result(), (error) => error instanceof WorkflowFailedError && isCancellation(error.cause));
    });
  });

  // ------------------------------------------------------------------------------------------------------------------- cache

  const add = update<[n: number], number>("add");
  const done = signal("done");
  const sum = query<number>("sum");
  const adder = workflow("Adder", {
    queries: { sum: () => 0 },
    async run(start: number) {
      const state = await receive({ n: start }, [
        on(add, ([n], s) => reply(s.n + n, { n: s.n + n })),
        on(done, (_, s) => stop(s)),
      ]);
      await sleep(1);
      return Number(await quick.work(String(state.n)));
    },
  });

  /** Counts the history bytes that reach workers: a replay shows in them. */
  function countingService(inner: RawService) {
    const bytes = { tasks: 0, total: 0 };
    const service: RawService = {
      losesCancelledPolls: inner.losesCancelledPolls === true,
      async call(method, request, options) {
        const response = await inner.call(method, request, options);
        if (method === "pollWorkflowTaskQueue" && response.length > 0) {
          bytes.tasks++;
          bytes.total += response.length;
        }
        return response;
      },
    };
    return { service, bytes };
  }

  for (const cachedWorkflows of [0, 1, 1000]) {
    check(`many workflows with ${cachedWorkflows} cached`, async (t) => {
      const { service, bytes } = countingService(t.service);
      const work = (input: string) => input;
      await t.work({ service, workflows: [adder], activities: { work }, cachedWorkflows }, async () => {
        const handles = await Promise.all(
          Array.from({ length: 12 }, (_, i) => t.client.start(adder, { id: t.id(`a${i}`), args: [i] })),
        );
        for (let round = 1; round <= 3; round++) {
          const answers = await Promise.all(handles.map((handle) => handle.update(add, round)));
          assert.deepEqual(answers, handles.map((_, i) => i + round * (round + 1) / 2));
        }
        for (const handle of handles) assert.equal(await handle.query(sum), 0);
        await Promise.all(handles.map((handle) => handle.signal(done)));
        assert.deepEqual(await Promise.all(handles.map((handle) => handle.result())), handles.map((_, i) => i + 6));
      });
      assert.ok(bytes.tasks > 0);
    });
  }

  check("a cached run gets only what is new; one that left the cache is replayed, and nobody notices", async (t) => {
    const sizes = async (cachedWorkflows: number) => {
      const { service, bytes } = countingService(t.service);
      await t.work({ service, workflows: [adder], activities: { work: (input: string) => input }, cachedWorkflows }, async () => {
        const handle = await t.client.start(adder, { id: t.id(`size-${cachedWorkflows}`), args: [0] });
        for (let i = 0; i < 20; i++) assert.equal(await handle.update(add, 1), i + 1);
        await handle.signal(done);
        assert.equal(await handle.result(), 20);
      });
      return bytes.total;
    };
    const [without, withCache] = [await sizes(0), await sizes(10)];
    assert.ok(without > withCache * 3, `${without} bytes without a cache, ${withCache} with one`);
  });

  const total = query<number>("total");
  const noted = signal<[n: number]>("noted");
  const publishes = workflow("Publishes", {
    queries: { total: (published: number) => published },
    async run() {
      const publish = (n: number) => {
        publishState(n);
        return n;
      };
      return await receive(publish(0), [
        on(add, ([n], s) => reply(s + n, publish(s + n)), {
          validate: ([n]) => {
            if (n < 0) throw new Error("only more");
          },
        }),
        on(noted, ([n], s) => noreply(publish(s + n))),
        on(done, (_, s) => stop(s)),
      ]);
    },
  });

  for (const cachedWorkflows of [1, 5]) {
    check(
      `updates, signals and queries at once, with ${cachedWorkflows} of 25 runs cached: nothing is lost or applied twice`,
      async (t) => {
        const failed: string[] = [];
        const events = { workflowTaskFailed: ({ message }: { message: string }) => void failed.push(message) };
        await t.work({ workflows: [publishes], cachedWorkflows, events }, async () => {
          const handles = await Promise.all(
            Array.from({ length: 25 }, (_, i) => t.client.start(publishes, { id: t.id(`p${i}`) })),
          );
          await Promise.all(handles.map(async (handle) => {
            for (let round = 1; round <= 4; round++) {
              const [first, , seen, refused, again] = await Promise.allSettled([
                handle.update(add, 1),
                handle.signal(noted, 1),
                handle.query(total),
                handle.update(add, -1),
                handle.query(total),
              ]);
              assert.equal(first.status, "fulfilled", String((first as PromiseRejectedResult).reason));
              for (const answer of [seen, again]) {
                assert.ok(answer.status === "fulfilled", String((answer as PromiseRejectedResult).reason));
                assert.ok(answer.value >= 2 * (round - 1) && answer.value <= 2 * round);
              }
              assert.match(String((refused as PromiseRejectedResult).reason), /only more/);
              assert.equal(await handle.query(total), 2 * round);
            }
            await handle.signal(done);
            assert.equal(await handle.result(), 8);
            assert.equal(await handle.query(total), 8);
          }));
        });
        assert.deepEqual(failed, []);
      },
    );
  }

  check("a history of many pages is fetched and replayed by the next worker", async (t) => {
    const pages = { fetched: 0 };
    const service: RawService = {
      losesCancelledPolls: t.service.losesCancelledPolls === true,
      call(method, request, options) {
        if (method === "getWorkflowExecutionHistory") pages.fetched++;
        return t.service.call(method, request, options);
      },
    };
    const settings = { workflows: [adder], activities: { work: (input: string) => input } };
    const handle = await t.client.start(adder, { id: t.id("long"), args: [0] });
    await t.work(settings, async () => {
      for (let i = 0; i < 250; i++) await handle.update(add, 1);
    });
    assert.ok((await handle.describe()).historyLength > 1200);
    await t.work({ ...settings, service }, async () => {
      assert.equal(await handle.update(add, 1), 251);
      await handle.signal(done);
      assert.equal(await handle.result(), 251);
    });
    // How much of it comes with the task is the service's business.
    if (!t.embedded) assert.ok(pages.fetched > 0);
  });

  check("a workflow moves from a stopped worker to another one", async (t) => {
    const settings = { workflows: [adder], activities: { work: (input: string) => input } };
    const handle = await t.client.start(adder, { id: t.id("moves"), args: [1] });
    await t.work(settings, async () => void assert.equal(await handle.update(add, 1), 2));
    await t.work(settings, async () => {
      assert.equal(await handle.update(add, 1), 3);
      await handle.signal(done);
      assert.equal(await handle.result(), 3);
    });
  });

  // ---------------------------------------------------------------------------------------------------------------- shutdown

  check("a graceful shutdown loses no task: what was polled is finished, the rest waits for the next worker", async (t) => {
    const started = new Set<string>();
    const finished = new Set<string>();
    const work = async (input: string) => {
      started.add(input);
      await new Promise((resolve) => setTimeout(resolve, 20));
      finished.add(input);
      return input;
    };
    const settings = { workflows: [runsOnce], activities: { work }, shutdownGraceMs: 60_000, maxConcurrentActivities: 3 };
    const handles = await Promise.all(
      Array.from({ length: 20 }, (_, i) => t.client.start(runsOnce, { id: t.id(`s${i}`), args: [`s${i}`] })),
    );
    for (let worker = 0; worker < 4; worker++) {
      const wanted = Math.min(finished.size + 4, 20);
      await t.work(settings, () => until("some are finished", () => finished.size >= wanted));
      assert.equal(started.size, finished.size, "nothing that was started is left half done");
    }
    await t.work(settings, async () => {
      assert.deepEqual(await Promise.all(handles.map((handle) => handle.result())), handles.map((_, i) => `s${i}`));
    });
  });

  check("activities that the shutdown stops run again in the next worker", async (t) => {
    const attempts: number[] = [];
    const work = async () => {
      attempts.push(activityInfo().attempt);
      if (attempts.length === 1) await activitySleep("1h");
      return "ok";
    };
    const settings = { workflows: [runs], activities: { work } };
    const handle = await t.client.start(runs, { id: t.id("s"), args: [""] });
    await t.work(settings, () => until("the activity runs", () => attempts.length === 1));
    await t.work(settings, async () => void assert.equal(await handle.result(), "ok"));
    assert.deepEqual(attempts, [1, 2]);
  });

  // -------------------------------------------------------------------------------------------------------------- neighbours

  const poisoned = workflow("Poisoned", async () => {
    await sleep(1);
    throw new TypeError("this version has a bug");
  });
  const astray = workflow("Astray", async () => {
    await new Promise(() => {});
  });

  check("poisoned workflows do not hurt their neighbours, and recover with a corrected version", async (t) => {
    const failures = new Map<string, number>();
    const events = {
      workflowTaskFailed: ({ workflowId }: { workflowId: string }) =>
        void failures.set(workflowId, (failures.get(workflowId) ?? 0) + 1),
    };
    const acts = { work: (input: string) => input };
    const sick = await Promise.all([
      t.client.start(poisoned, { id: t.id("poisoned"), taskTimeout: "1s" }),
      t.client.start(astray, { id: t.id("astray"), taskTimeout: "1s" }),
      t.client.start("Unheard", { id: t.id("unheard"), taskTimeout: "1s" }),
    ]);
    await t.work({ workflows: [poisoned, astray, runs], activities: acts, events }, async () => {
      await until("each has failed", () => failures.size === 3);
      const healthy = await Promise.all(
        Array.from({ length: 20 }, (_, i) => t.client.execute(runs, { id: t.id(`h${i}`), args: [`h${i}`] })),
      );
      assert.equal(healthy.length, 20);
      for (const handle of sick) assert.equal((await handle.describe()).status, "RUNNING");
    });
    const corrected = [
      workflow("Poisoned", async () => {
        await sleep(1);
        return "mended";
      }),
      workflow("Astray", async () => "found"),
      workflow("Unheard", async () => "heard"),
    ];
    await t.work({ workflows: corrected }, async () => {
      assert.deepEqual(await Promise.all(sick.map((handle) => handle.result())), ["mended", "found", "heard"]);
    });
  });

  // A server that drops a task (nothing but refused updates in it) says so in the answer to its report, and by then has told the callers:
  // what they ask next comes in a task of the same number, perhaps before that answer.
  check("a task that overtakes the answer to the last report of its run finds the run as that answer leaves it", async (t) => {
    const late: RawService = {
      losesCancelledPolls: t.service.losesCancelledPolls === true,
      async call(method, request, options) {
        const answer = await t.service.call(method, request, options);
        if (method === "respondWorkflowTaskCompleted") await new Promise((resolve) => setTimeout(resolve, 100));
        return answer;
      },
    };
    await t.work({ service: late, workflows: [cautious] }, async () => {
      const handle = await t.client.start(cautious, { id: t.id("cautious") });
      const refused = () => assert.rejects(handle.update(push, -1), WorkflowUpdateRejectedError);
      await refused();
      assert.equal(await handle.update(push, 1), 1);
      await refused();
      await assert.rejects(
        handle.update(fails),
        (error) => error instanceof WorkflowUpdateFailedError && !(error instanceof WorkflowUpdateRejectedError),
      );
      await refused();
      await handle.signal(poke, 2);
      await refused();
      assert.deepEqual(await handle.query(pushed), [1, 2]);
      await handle.signal(poke, 3);
      assert.equal(await handle.update(push, 4), 4);
      await handle.signal(close);
      assert.deepEqual(await handle.result(), [1, 2, 3, 4]);
    });
  });

  check("many activities at once, with fewer slots", async (t) => {
    let running = 0;
    let most = 0;
    const fan = workflow("Fan", async (n: number) => {
      const results = await parallel(Array.from({ length: n }, (_, i) => () => once.work(String(i))));
      return results.map((result) => ("value" in result ? result.value : "failed"));
    });
    const work = async (input: string) => {
      most = Math.max(most, ++running);
      if (most < 2) await until("another one runs beside it", () => most > 1);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running--;
      return input;
    };
    await t.work({ workflows: [fan], activities: { work }, maxConcurrentActivities: 4 }, async () => {
      const result = await t.client.execute(fan, { id: t.id("f"), args: [50] });
      assert.deepEqual(result, Array.from({ length: 50 }, (_, i) => String(i)));
    });
    assert.ok(most > 1 && most <= 4, `${most} at once`);
  });

  check("activities that compute run in threads beside the others", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "temporalex-threads-"));
    const busy = activities<{ spinUntil(file: string): Promise<string> }>({ startToClose: "60s", retry: { maximumAttempts: 1 } });
    const computes = workflow("Computes", async (file: string) => {
      const both = await parallel([() => busy.spinUntil(file), () => beating.work(file)]);
      return both.map((one) => "value" in one ? one.value : String(one.error));
    });
    const module = new URL("../worker/modules/computing.ts", import.meta.url);
    // Ends the other one, which never pauses: in its thread this would not come to run.
    const work = async (file: string) => {
      await until("the other one runs", () => existsSync(`${file}.begun`));
      writeFileSync(file, "");
      return "here";
    };
    try {
      await t.work({ workflows: [computes], activities: { work }, activityThreads: { module, size: 1 } }, async () => {
        const result = await t.client.execute(computes, { id: t.id("c"), args: [join(folder, "end")] });
        assert.deepEqual(result, ["spun", "here"]);
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  check("several workers share a queue", async (t) => {
    const by = new Set<string>();
    const work = (input: string) => {
      by.add(input);
      return input;
    };
    const make = () =>
      Worker.create({
        service: t.service,
        taskQueue: t.taskQueue,
        workflows: [runsOnce],
        activities: { work },
        logger: silentLogger,
      });
    const [one, two] = [await make(), await make()];
    const client = new Client({ service: t.service, taskQueue: t.taskQueue, logger: silentLogger });
    await one.runUntil(() =>
      two.runUntil(async () => {
        await Promise.all(Array.from({ length: 30 }, (_, i) => client.execute(runsOnce, { id: t.id(`w${i}`), args: [`${i}`] })));
      })
    );
    assert.equal(by.size, 30);
  });
}
