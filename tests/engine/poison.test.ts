// Workflows on which V8 ends the process (tests/crash/poison_loop.ts; `tools/soak/poison.ts` runs the long loop).
// takes: 60 s
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { seeded } from "../chaos/proxy.ts";
import { poisonLoop } from "../crash/poison_loop.ts";
import { inFolder } from "./support/stores.ts";

test("what ends the process again and again is held, the innocent complete, and nothing acknowledged is lost", () =>
  inFolder(async (folder) => {
    const seed = Math.floor(Math.random() * 2 ** 32);
    const judgement = await poisonLoop({ path: join(folder, "store.db"), rounds: 4, random: seeded(seed) });
    assert.deepEqual(judgement.problems, [], `seed ${seed}`);
    assert.ok(judgement.innocent > 0, JSON.stringify({ seed, ...judgement }));
  }));
