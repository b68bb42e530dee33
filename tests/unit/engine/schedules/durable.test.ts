// Schedules survive the end of the engine: their state and the workflows that they start are in one
// commit, and what became due meanwhile is caught up.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Client, type ScheduleOverlapPolicy, silentLogger } from "../../../../ts/client/mod.ts";
import { EmbeddedEngine, MemoryStore, VirtualClock } from "../../../../ts/engine/mod.ts";
import type { Store } from "../../../../ts/engine/store.ts";
import { StoreError } from "../../../../ts/engine/store_errors.ts";
import { until } from "../../../support/until.ts";
import { ProbeStore } from "../support/probe_store.ts";
import { inFolder, storeKinds } from "../support/stores.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const HOUR = 3_600_000;

async function opened<T>(
  store: Store,
  nowMs: number,
  body: (client: Client, clock: VirtualClock, engine: EmbeddedEngine) => Promise<T>,
): Promise<T> {
  const clock = new VirtualClock(nowMs);
  const engine = await EmbeddedEngine.open({ store, clock, onError: () => {} });
  const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
  try {
    return await body(client, clock, engine);
  } finally {
    await engine.close();
  }
}

const create = (client: Client, overlap: ScheduleOverlapPolicy, catchupWindow?: string) =>
  client.schedule.create({
    scheduleId: "hourly",
    spec: { intervals: [{ every: "1h" }] },
    action: { type: "startWorkflow", workflowType: "W", workflowId: "run" },
    policies: { overlap, ...(catchupWindow !== undefined && { catchupWindow }) },
  });
const info = async (client: Client) => (await client.schedule.getHandle("hourly").describe()).info;
const run = (hour: number) => `run-2026-01-01T0${hour}:00:00Z`;

for (const kind of storeKinds) {
  test(`${kind.name}: a schedule continues in the next engine`, { skip: kind.skip }, async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "a.sqlite");
      let store = kind.open(path);
      const next = () => {
        if (kind.driver === undefined) return;
        store.close();
        store = kind.open(path);
      };
      await opened(store, START, async (client, clock) => {
        await create(client, "BUFFER_ONE", "90m");
        clock.advanceTo(START + HOUR);
        clock.advanceTo(START + 2 * HOUR);
        await until("one action", async () => (await info(client)).numActionsTaken === 1);
        await client.getHandle(undefined, run(1)).terminate();
        // The buffered action follows in the next batch.
        await until("two actions", async () => (await info(client)).numActionsTaken === 2);
      });
      next();
      // Four times were missed; the catch-up window has two of them.
      await opened(store, START + 6.5 * HOUR, async (client) => {
        const { numActionsTaken, numActionsMissedCatchupWindow, recentActions } = await info(
          client,
        );
        assert.equal(numActionsTaken, 2);
        assert.equal(numActionsMissedCatchupWindow, 2);
        assert.deepEqual(recentActions.map(({ workflow }) => workflow!.workflowId), [
          run(1),
          run(2),
        ]);
        await client.getHandle(undefined, run(2)).terminate();
        await until("three actions", async () => (await info(client)).numActionsTaken === 3);
        assert.equal((await info(client)).recentActions.at(-1)!.workflow!.workflowId, run(5));
        await client.schedule.getHandle("hourly").delete();
      });
      next();
      await opened(store, START + 9 * HOUR, async (client) => {
        await assert.rejects(info(client), /not found/);
        assert.equal(await client.count(), 3);
      });
      store.close();
    });
  });
}

test("a failed commit starts nothing and loses nothing", async () => {
  const store = new ProbeStore(new MemoryStore());
  await opened(store, START, async (client, clock) => {
    await create(client, "ALLOW_ALL");
    let failures = 0;
    store.onCommit = () => {
      if (failures++ < 3) throw new StoreError("no");
    };
    clock.advanceTo(START + HOUR);
    await until("the action after the failed commits", async () => {
      if (failures < 4) return false;
      return (await info(client)).numActionsTaken === 1;
    }, { retryErrors: true });
    assert.equal(await client.count(), 1);
    clock.advanceTo(START + 2 * HOUR);
    await until("two actions", async () => (await info(client)).numActionsTaken === 2);
    assert.equal(await client.count(), 2);
  });
});

test("an engine with a thousand schedules sleeps until the next time", async () => {
  await opened(new MemoryStore(), START, async (client, clock, engine) => {
    await Promise.all(
      Array.from({ length: 1000 }, (_, n) =>
        client.schedule.create({
          scheduleId: `s${n}`,
          spec: { intervals: [{ every: "1000h", offset: `${n + 1}m` }] },
          action: { type: "startWorkflow", workflowType: "W", workflowId: `w${n}` },
        })),
    );
    const before = engine.stats();
    const next = before.nextWakeMs;
    assert.ok(next > START && next <= START + 1000 * HOUR);
    clock.advanceTo(next - 1);
    assert.equal(engine.stats().commits, before.commits);
    clock.advanceTo(next);
    assert.equal(engine.stats().commits, before.commits + 1);
    assert.equal(await client.count(), 1);
  });
});
