// No false alarm: stores of random runs are sound, while they are written, afterwards, as a backup
// and as an import. tools/soak/store_check does the same with thousands of runs, histories of a
// server that resets them, and published histories.
// takes: 7 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { EmbeddedEngine } from "../../../ts/engine/mod.ts";
import { liveMany, randomWorker } from "./support/random_runs.ts";
import { alarms, judge, look } from "./support/sound.ts";

test("a store of random runs is always sound, and so are its backup and its imports", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-random-"));
  const path = join(folder, "random.sqlite");
  try {
    // Closed in the middle and opened again: what was in flight is lost, and tried again.
    for (const [from, to] of [[0, 60], [60, 120]] as const) {
      const engine = await EmbeddedEngine.open({ path });
      const worker = await randomWorker(engine, "random");
      const client = new Client({ service: engine, taskQueue: "random", logger: silentLogger });
      let over = false;
      const lived = worker.runUntil(() => liveMany(client, from, to, 30)).finally(() =>
        over = true
      );
      while (!over) {
        const during = await look(path);
        assert.deepEqual(alarms(path, during), []);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      await lived;
      await engine.close();
    }
    const judged = await judge(path);
    assert.deepEqual(judged.alarms, []);
    assert.equal(judged.notes, 0);
    assert.ok(judged.runs > 120 && judged.imported > 100, JSON.stringify(judged));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
