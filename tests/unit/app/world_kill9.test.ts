// The world of examples/world: a hundred entities over tables, and a process that is killed in the
// middle of their day.
// takes: 8 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { day, openWorld } from "../../../examples/world/main.ts";
import { startModule } from "../engine/support/child.ts";
import { inFolder } from "../engine/support/stores.ts";

const NPCS = 100;
const child = new URL(
  import.meta.url.endsWith(".js")
    ? "../../faults/crash/world/child.js"
    : "../../faults/crash/world/child.ts",
  import.meta.url,
);

test("a hundred entities end the day in the same state, however often the process is killed", () =>
  inFolder(async (folder) => {
    const path = join(folder, "world.sqlite");
    let kills = 0;
    let ended: string | undefined;
    // Each kill is later, so that some hit the beginning and some the spells, the fights and the
    // way home; the last process is not killed.
    for (const afterMs of [60, 150, 300, 500, 800, Infinity]) {
      const life = startModule(child, [path, String(NPCS)]);
      let timer: ReturnType<typeof setTimeout> | undefined;
      for await (const line of life.lines) {
        if (line === "open" && afterMs < Infinity) {
          timer = setTimeout(() => life.process.kill("SIGKILL"), afterMs);
        }
        if (line.startsWith("end ")) ended = line.slice(4);
      }
      clearTimeout(timer);
      await life.exited;
      if (life.process.signalCode === "SIGKILL") kills++;
      else assert.notEqual(ended, undefined, life.errors());
    }
    const world = await openWorld();
    try {
      const whole = await day(world, NPCS, 20);
      assert.equal(whole.npcs.length, NPCS);
      assert.deepEqual(JSON.parse(ended!), JSON.parse(JSON.stringify(whole)));
      assert.deepEqual(whole.scores, { "threats beaten": 3, "wards over": 10 });
      assert.ok(
        whole.npcs.every(({ doing, ward, poison }) =>
          doing === "rests" && ward === 0 && poison === 0
        ),
      );
    } finally {
      await world.close();
    }
    assert.ok(kills > 0, "no life was killed before its end");
  }));
