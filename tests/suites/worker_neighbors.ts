// Concurrent workflows and workers: misbehaving ones, late responses, many at once.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { delay } from "@std/async/delay";
import {
  Client,
  silentLogger,
  WorkflowUpdateFailedError,
  WorkflowUpdateRejectedError,
} from "../../ts/client/mod.ts";
import { ApplicationFailure } from "../../ts/converter/mod.ts";
import type { RawService } from "../../ts/service/raw.ts";
import { Worker } from "../../ts/worker/mod.ts";
import {
  activities,
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
import { until } from "../support/until.ts";
import type { Suite } from "../support/services.ts";
import { beating, close, once, runs, runsOnce } from "./worker_programs.ts";

const push = update<[n: number], number>("push");

const fails = update<[], void>("fails");

const poke = signal<[n: number]>("poke");

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

const poisoned = workflow("Poisoned", async () => {
  await sleep(1);
  throw new TypeError("this version has a bug");
});

const astray = workflow("Astray", async () => {
  await new Promise(() => {});
});

export const neighborsTests: Suite = {
  "poisoned workflows do not hurt their neighbors, and recover with a corrected version": async (
    t,
  ) => {
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
        Array.from(
          { length: 20 },
          (_, i) => t.client.execute(runs, { id: t.id(`h${i}`), args: [`h${i}`] }),
        ),
      );
      assert.equal(healthy.length, 20);
      for (const handle of sick) assert.equal((await handle.describe()).status, "RUNNING");
    });
    const corrected = [
      workflow("Poisoned", async () => {
        await sleep(1);
        return "fixed";
      }),
      workflow("Astray", async () => "found"),
      workflow("Unheard", async () => "heard"),
    ];
    await t.work({ workflows: corrected }, async () => {
      assert.deepEqual(await Promise.all(sick.map((handle) => handle.result())), [
        "fixed",
        "found",
        "heard",
      ]);
    });
  },

  // A server that drops a task (it had only rejected updates) says so in the response to its
  // report, and has notified the callers before: their next calls come in a task of the same
  // number, perhaps before that response.
  "a task that overtakes the response to the last report of its run finds the run as that response leaves it":
    async (t) => {
      const late: RawService = {
        losesCancelledPolls: t.service.losesCancelledPolls === true,
        async call(method, request, options) {
          const answer = await t.service.call(method, request, options);
          if (method === "respondWorkflowTaskCompleted") await delay(100);
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
          (error) =>
            error instanceof WorkflowUpdateFailedError &&
            !(error instanceof WorkflowUpdateRejectedError),
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
    },

  "many activities at once, with fewer slots": async (t) => {
    let running = 0;
    let most = 0;
    const fan = workflow("Fan", async (n: number) => {
      const results = await parallel(
        Array.from({ length: n }, (_, i) => () => once.work(String(i))),
      );
      return results.map((result) => ("value" in result ? result.value : "failed"));
    });
    const work = async (input: string) => {
      most = Math.max(most, ++running);
      if (most < 2) await until("another one runs concurrently", () => most > 1);
      await delay(2);
      running--;
      return input;
    };
    await t.work(
      { workflows: [fan], activities: { work }, maxConcurrentActivities: 4 },
      async () => {
        const result = await t.client.execute(fan, { id: t.id("f"), args: [50] });
        assert.deepEqual(result, Array.from({ length: 50 }, (_, i) => String(i)));
      },
    );
    assert.ok(most > 1 && most <= 4, `${most} at once`);
  },

  "activities that compute run in separate threads": async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "temporalex-threads-"));
    const busy = activities<{ spinUntil(file: string): Promise<string> }>({
      startToClose: "60s",
      retry: { maximumAttempts: 1 },
    });
    const computes = workflow("Computes", async (file: string) => {
      const both = await parallel([() => busy.spinUntil(file), () => beating.work(file)]);
      return both.map((one) => "value" in one ? one.value : String(one.error));
    });
    const module = new URL("../unit/worker/modules/computing.ts", import.meta.url);
    // Ends the other one, which never pauses: in its thread this would not come to run.
    const work = async (file: string) => {
      await until("the other one runs", () => existsSync(`${file}.begun`));
      writeFileSync(file, "");
      return "here";
    };
    try {
      await t.work({
        workflows: [computes],
        activities: { work },
        activityThreads: { module, size: 1 },
      }, async () => {
        const result = await t.client.execute(computes, {
          id: t.id("c"),
          args: [join(folder, "end")],
        });
        assert.deepEqual(result, ["spun", "here"]);
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },

  "several workers share a queue": async (t) => {
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
        await Promise.all(Array.from({ length: 30 }, (_, i) =>
          client.execute(runsOnce, { id: t.id(`w${i}`), args: [`${i}`] })));
      })
    );
    assert.equal(by.size, 30);
  },
};
