// A few rounds of the crash loop of reducers (tests/faults/crash/bank);
// `tools/soak/transact_kills.ts` runs the long one.
// takes: 8 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { seeded } from "../../faults/chaos/proxy.ts";
import { bankLoop } from "../../faults/crash/bank/loop.ts";
import { withSeed } from "../../support/seed.ts";
import { inFolder } from "./support/stores.ts";

test("tables and histories agree after every kill: a reducer's writes are committed with its task or not at all", () =>
  withSeed((seed) =>
    inFolder(async (folder) => {
      const judgement = await bankLoop({
        path: join(folder, "bank.db"),
        rounds: 3,
        random: seeded(seed),
      });
      assert.deepEqual(judgement.problems, []);
      assert.ok(judgement.done > 0, JSON.stringify(judgement));
    })
  ));
