// Idempotency keys of local activities over kills (tests/faults/crash/local_keys_loop.ts;
// `tools/soak/local_keys.ts` runs the long loop).
// takes: 6 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { seeded } from "../../faults/chaos/proxy.ts";
import { localKeysLoop } from "../../faults/crash/local_keys_loop.ts";
import { withSeed } from "../../support/seed.ts";
import { inFolder } from "./support/stores.ts";

test("local activity keys are unique, also when a task runs again with other messages after a kill", () =>
  withSeed((seed) =>
    inFolder(async (folder) => {
      const figures = await localKeysLoop({
        place: join(folder, "store.db"),
        kills: 4,
        random: seeded(seed),
      });
      assert.deepEqual(figures.problems, []);
      assert.ok(figures.repeated > 0, JSON.stringify(figures));
    })
  ));
