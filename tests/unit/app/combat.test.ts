// The fight of examples/game on a store in a file: tables and outcome agree, also over a restart in
// the middle.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { combat, combatSignals } from "../../../examples/game/combat.ts";
import * as tables from "../../../examples/game/combat_tables.ts";
import { type App, open, silentLogger } from "../../../ts/mod.ts";
import { until } from "../../support/until.ts";

const workflows = new URL("../../../examples/game/combat.ts", import.meta.url);
const { migrations, ...reducers } = tables;

async function inFolder(body: (openApp: () => Promise<App>) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-combat-"));
  const path = join(folder, "game.sqlite");
  try {
    // Timers fire when the test says so: the order of things is the test's, whatever the machine
    // does.
    const engine = { timers: "manual" } as const;
    await body(() =>
      open({ path, workflows, reducers, migrations, engine, logger: silentLogger, serve: false })
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const npc = (app: App, id: number) =>
  app.engine.tables.get(
    `SELECT hp, (SELECT count(*) FROM effect WHERE npc = npc.id) AS hits,
      (SELECT group_concat(what) FROM combat_log WHERE npc = npc.id) AS log FROM npc WHERE id = ?`,
    id,
  );
const hits = (app: App, id: number, count: number) =>
  until(
    `npc ${id} was hit ${count} times`,
    () => (npc(app, id) as { hits: number }).hits === count,
  );

test("combat: each step changes the tables, and the target dies or flees", () =>
  inFolder(async (openApp) => {
    const app = await openApp();
    const first = await app.client.start(combat, {
      id: "one",
      args: [{ targetId: 1, damage: 60, blows: 3 }],
    });
    const second = await app.client.start(combat, {
      id: "two",
      args: [{ targetId: 2, damage: 10, blows: 3 }],
    });
    await Promise.all([hits(app, 1, 1), hits(app, 2, 1)]);
    await until(
      "its timer is open",
      () => app.engine.fireTimer("one", "delay").then(() => true, () => false),
    );
    assert.deepEqual(await first.result(), { outcome: "victory", blows: 2 });
    await second.signal(combatSignals.flee);
    assert.deepEqual(await second.result(), { outcome: "fled", blows: 1 });
    assert.deepEqual(npc(app, 1), { hp: 0, hits: 2, log: "attack,attack" });
    assert.deepEqual(npc(app, 2), { hp: 90, hits: 1, log: "attack,flight" });
    const missing = app.client.execute(combat, {
      id: "three",
      args: [{ targetId: 3, damage: 1, blows: 1 }],
    });
    await assert.rejects(
      missing,
      (error: Error) => /npc 3 not found/.test(String((error.cause as Error).message)),
    );
    await app.close();
  }));

test("combat: after a restart in the middle, each step was applied once", () =>
  inFolder(async (openApp) => {
    let app = await openApp();
    await app.client.start(combat, { id: "one", args: [{ targetId: 1, damage: 30, blows: 2 }] });
    await hits(app, 1, 1);
    await app.close();
    app = await openApp();
    assert.deepEqual(npc(app, 1), { hp: 70, hits: 1, log: "attack" });
    const handle = app.client.getHandle(combat, "one");
    await until(
      "the timer is open",
      () => app.engine.fireTimer("one", "delay").then(() => true, () => false),
    );
    await hits(app, 1, 2);
    await until(
      "the timer is open",
      () => app.engine.fireTimer("one", "delay").then(() => true, () => false),
    );
    assert.deepEqual(await handle.result(), { outcome: "gave up", blows: 2 });
    assert.deepEqual(npc(app, 1), { hp: 40, hits: 2, log: "attack,attack" });
    await app.close();
  }));
