// Workers that stop, and what the next one finds.
import assert from "node:assert/strict";
import { activityInfo, sleep as activitySleep } from "../../ts/activity/mod.ts";
import { until } from "../support/until.ts";
import type { Suite } from "../support/services.ts";
import { runs, runsOnce } from "./worker_programs.ts";

export const shutdownTests: Suite = {
  "a graceful shutdown loses no task: what was polled is finished, the rest waits for the next worker":
    async (t) => {
      const started = new Set<string>();
      const finished = new Set<string>();
      const work = async (input: string) => {
        started.add(input);
        await new Promise((resolve) => setTimeout(resolve, 20));
        finished.add(input);
        return input;
      };
      const settings = {
        workflows: [runsOnce],
        activities: { work },
        shutdownGraceMs: 60_000,
        maxConcurrentActivities: 3,
      };
      const handles = await Promise.all(
        Array.from(
          { length: 20 },
          (_, i) => t.client.start(runsOnce, { id: t.id(`s${i}`), args: [`s${i}`] }),
        ),
      );
      for (let worker = 0; worker < 4; worker++) {
        const wanted = Math.min(finished.size + 4, 20);
        await t.work(settings, () => until("some are finished", () => finished.size >= wanted));
        assert.equal(started.size, finished.size, "nothing that was started is left half done");
      }
      await t.work(settings, async () => {
        assert.deepEqual(
          await Promise.all(handles.map((handle) => handle.result())),
          handles.map((_, i) => `s${i}`),
        );
      });
    },

  "activities that the shutdown stops run again in the next worker": async (t) => {
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
  },
};
