// Kills of processes all of whose runs wait in a local activity
// (tests/faults/crash/waiting_loop.ts; `tools/soak/waiting_kills.ts`).
// takes: 5 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { waitingLoop } from "../../faults/crash/waiting_loop.ts";
import { inFolder } from "./support/stores.ts";

test("kills while runs wait in local activities do not hold a run, and an unrelated workflow completes meanwhile", () =>
  inFolder(async (folder) => {
    const lives = await waitingLoop({ path: join(folder, "store.db"), kills: 4, runs: 6 });
    assert.deepEqual(lives.map(({ held }) => held), [0, 0, 0, 0, 0]);
  }));
