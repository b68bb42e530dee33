// A few rounds of the crash loop (tests/crash) on each SQLite library; `tools/soak/kill9.ts` runs the long one.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { crashLoop } from "../crash/loop.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

for (const { driver, skip } of sqliteDrivers) {
  test(
    `${driver}: nothing acknowledged is lost (P1) and nothing is recorded twice (P2) when the process is killed`,
    { skip },
    () =>
      inFolder(async (folder) => {
        const judgement = await crashLoop({ path: join(folder, "store.db"), rounds: 4, driver, synchronous: "NORMAL" });
        assert.deepEqual(judgement.problems, []);
        assert.ok(judgement.runs >= 4 && judgement.acknowledged > judgement.runs, JSON.stringify(judgement));
        assert.equal(judgement.replayed, judgement.runs);
      }),
  );
}
