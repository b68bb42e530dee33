// A few rounds of the crash loop (tests/faults/crash) on each SQLite library; `tools/soak/kill9.ts`
// runs the long one.
// promise: P1, P2
// takes: 13 s
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { seeded } from "../../faults/chaos/proxy.ts";
import { crashLoop } from "../../faults/crash/loop.ts";
import { withSeed } from "../../support/seed.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

for (const { driver, skip } of sqliteDrivers) {
  test(
    `${driver}: nothing acknowledged is lost (P1) and nothing is recorded twice (P2) when the process is killed`,
    { skip },
    () =>
      // The seed decides when the processes are killed. Which call a kill interrupts depends on the
      // machine as well.
      withSeed((seed) =>
        inFolder(async (folder) => {
          const path = join(folder, "store.db");
          const judgement = await crashLoop({
            path,
            rounds: 3,
            driver,
            synchronous: "NORMAL",
            random: seeded(seed),
          });
          assert.deepEqual(judgement.problems, []);
          assert.ok(
            judgement.runs > 0 && judgement.acknowledged > judgement.runs,
            JSON.stringify(judgement),
          );
          assert.equal(judgement.replayed, judgement.runs);
        })
      ),
  );
}
