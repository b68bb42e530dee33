// A realm of several workers: each run is in one of them, and the loss of one worker does not
// affect the runs of the others.
import { deepEqual, equal, match, ok, rejects } from "./assert.ts";
import type { Case } from "./case.ts";
import { MiniServer } from "./mini_server.ts";
import {
  API,
  createRealmFromText,
  type RealmHarness,
  type RealmRun,
  withRealm,
} from "./realm_host.ts";
import { shardOf, shareOf } from "../../ts/realm/sharded_realm.ts";
import { headWith } from "../support/realms.ts";
import { until } from "../support/until.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";

const text = `${API}
export const spin = workflow("Spin", async (n = 1.5e10) => { await sleep(1); for (let i = 0; i < n; i++); });
export const calm = workflow("Calm", async (n) => { for (let i = 0; i < n; i++) await sleep(1000); return n; });
const dives = [
  () => { try { dives[0]() } catch { Math.random() } },
  (a) => { try { dives[1](a, a) } catch { Math.random() } },
  (a, b, c) => { try { dives[2](a, b, c, a) } catch { Math.random() } },
  (...r) => { const [a, b, c, d, e] = r; try { dives[3](a, b, c, d, e, a + b) } catch { Math.random(a, b, c, d, e) } },
];
export const deep = workflow("Deep", async () => {
  await sleep(1);
  for (let i = 0; i < 12; i++) { try { dives[i % 4](i, i, i) } catch { } Math.random(); }
  return "survived";
});
export const chain = workflow("Chain", async (n) => { let x = 0; for (let i = 0; i < n; i++) { await sleep(1000); x += Math.random() < 2 ? 1 : 0; } return x; });`;

let ids = 0;

/** An id whose run is in the given one of two workers. */
function idIn(shard: number): string {
  for (;;) {
    const id = `5bad0000-${String(++ids).padStart(4, "0")}-4000-8000-000000000000`;
    if (shardOf(id, 2) === shard) return id;
  }
}

interface Sharded {
  readonly h: RealmHarness;
  /** Runs whose history was asked for. */
  readonly fetched: string[];
  start(shard: number, type: string, args?: unknown[]): RealmRun;
}

async function sharded(
  body: (s: Sharded) => Promise<void>,
  options: Parameters<typeof createRealmFromText>[1] = {},
): Promise<void> {
  const fetched: string[] = [];
  const servers = new Map<string, MiniServer>();
  const fetchHistory = (_workflowId: string, runId: string) => {
    fetched.push(runId);
    return Promise.resolve({
      history: servers.get(runId)!.history(),
      nextPageToken: new Uint8Array(0),
    });
  };
  await withRealm(text, async (h) => {
    const start = (shard: number, type: string, args: unknown[] = []) => {
      const run = h.start(type, { runId: idIn(shard), args });
      servers.set(run.server.runId, run.server);
      return run;
    };
    await body({ h, fetched, start });
  }, { threads: 2, fetchHistory, ...options });
}

export const cases: Case[] = [
  {
    name: "sharded realm: ids spread evenly, and an id always maps to the same worker",
    run: () => {
      const counts = [0, 0, 0];
      for (let i = 0; i < 3000; i++) {
        counts[shardOf(`${(i * 2654435761 >>> 0).toString(16).padStart(8, "0")}-4000-8000`, 3)]!++;
      }
      for (const count of counts) ok(count > 850 && count < 1150, `${counts}`);
      equal(
        shardOf("0f8e2d0a-1111-4222-8333-444455556666", 4),
        shardOf("0f8e2d0a-1111-4222-8333-444455556666", 4),
      );
      equal(shardOf("", 7) < 7, true);
      equal(shardOf("anything", 1), 0);
      deepEqual([shareOf(0, 2), shareOf(1, 2), shareOf(1000, 3), shareOf(4, 2)], [0, 1, 334, 2]);
      return Promise.resolve();
    },
  },
  {
    name:
      "sharded realm: runs of both workers continue from their caches; an evicted one is rebuilt from its history",
    run: () =>
      sharded(async ({ h, fetched, start }) => {
        deepEqual([...h.realm.workflowTypes].sort(), ["Calm", "Chain", "Deep", "Spin"]);
        const runs = Array.from({ length: 12 }, (_, i) => start(i % 2, "Calm", [3]));
        const results = await Promise.all(runs.map((run) => run.auto()));
        deepEqual(results, runs.map(() => 3));
        deepEqual(fetched, []);
        const evicted = [start(0, "Calm", [1]), start(1, "Calm", [1])];
        for (const run of evicted) await run.task();
        for (const run of evicted) {
          h.realm.evict(run.server.runId);
          h.realm.taskReported(run.server.runId, new Uint8Array(0));
          for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
          equal(await run.auto(), 1, run.failure);
        }
        deepEqual(fetched, evicted.map((run) => run.server.runId));
      }),
  },
  {
    name: "sharded realm: runs in memory are counted in both workers, after evictions, too",
    run: () =>
      sharded(async ({ h, start }) => {
        equal(h.realm.cachedRuns, 0);
        const runs = [start(0, "Calm", [1]), start(1, "Calm", [1]), start(1, "Calm", [1])];
        for (const run of runs) await run.task();
        equal(h.realm.cachedRuns, 3);
        h.realm.evict(runs[1]!.server.runId);
        h.realm.evict("no run of this id");
        await until("one has left", () => h.realm.cachedRuns === 2);
        for (const run of runs) {
          for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
          const { cache } = await run.task();
          deepEqual(cache, { hit: run !== runs[1], displaced: 0 });
        }
        equal(h.realm.cachedRuns, 0, "runs that have ended are not kept");
      }),
  },
  {
    name: "sharded realm: replays of any history, several at once, and of one that does not fit",
    run: () =>
      sharded(async ({ h, start }) => {
        const runs = Array.from({ length: 6 }, (_, i) => start(i % 2, "Chain", [2 + i]));
        for (const run of runs) await run.auto();
        const verdicts = await Promise.all(
          runs.map((run) => h.realm.replay("wf", run.server.history())),
        );
        deepEqual(verdicts.map((v) => v.verdict), runs.map(() => "ok"));
        const stranger = new MiniServer("Unknown", { runId: idIn(1) });
        stranger.openTask({});
        equal((await h.realm.replay("wf", stranger.history())).verdict, "failed");
      }),
  },
  {
    name:
      "sharded realm: while a run spins in one worker the other one's runs do not wait, and keep their caches",
    run: () =>
      sharded(async ({ fetched, start }) => {
        const spinner = start(0, "Spin");
        const sameWorker = start(0, "Calm", [1]);
        const others = Array.from({ length: 3 }, () => start(1, "Calm", [3]));
        await spinner.task();
        for (const run of [sameWorker, ...others]) await run.task();
        spinner.server.fireTimer("1");
        let stopped = false;
        const spinning = spinner.task().then(() => stopped = true);
        sameWorker.server.fireTimer("1");
        const waiting = sameWorker.task();
        for (const run of others) {
          for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
          equal(await run.auto(), 3, run.failure);
        }
        equal(stopped, false, "they were done long before the spinner was stopped");
        await Promise.all([spinning, waiting]);
        match(spinner.failure, /ran for 2500 ms without yielding/);
        equal(
          sameWorker.server.closed?.result,
          1,
          "the neighbor in the same worker was given its task again",
        );
        deepEqual(
          fetched.filter((runId) => others.some((run) => run.server.runId === runId)),
          [],
          "no other run was evicted",
        );
      }, { watchdogMs: 2500 }),
  },
  {
    name: "sharded realm: a core trap in one worker does not affect the other worker's runs",
    run: () =>
      sharded(async ({ fetched, start }) => {
        const neighbors = [start(0, "Calm", [2]), start(1, "Calm", [2])];
        for (const run of neighbors) await run.task();
        const deep = start(0, "Deep");
        await deep.task();
        deep.server.fireTimer("1");
        await deep.task();
        match(deep.failure, /internal error in the core|crashed the core/);
        for (const run of neighbors) {
          for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
          equal(await run.auto(), 2, run.failure);
        }
        deepEqual(fetched.filter((runId) => runId === neighbors[1]!.server.runId), []);
      }, { watchdogMs: 120_000 }),
  },
  {
    name: "sharded realm: invalid task bytes, and disposal with work open in both workers",
    run: () =>
      sharded(async ({ h, start }) => {
        await rejects(
          h.realm.runTask({ head: headWith(), bytes: new Uint8Array([0x0a, 0xff]) }),
          /./,
        );
        const spinners = [start(0, "Spin", [4e9]), start(1, "Spin", [4e9])];
        for (const run of spinners) {
          await run.task();
          run.server.fireTimer("1");
        }
        const ends = spinners.map((run) => rejects(run.task(), /the realm is disposed/));
        await h.dispose();
        await Promise.all(ends);
        await rejects(
          h.realm.runTask(readWorkflowTask(start(1, "Calm", [1]).server.openTask({}))),
          /the realm is disposed/,
        );
      }, { watchdogMs: 60_000 }),
  },
  {
    name: "sharded realm: an invalid number of threads and modules that do not load are rejected",
    run: async () => {
      for (const threads of [0, -1, 1.5, 65, Number.NaN, "2" as unknown as number]) {
        await rejects(
          createRealmFromText(text, { threads }),
          /threads must be a whole number from 1 to 64/,
        );
      }
      await rejects(
        createRealmFromText(`${API}export const x = 1;`, { threads: 3 }),
        /exports no workflow/,
      );
    },
  },
];
