// Workflows on which V8 ends the process (tests/faults/crash/poison_loop.ts; `tools/soak/poison.ts`
// runs the long loop, with random rounds).
// takes: 60 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { poisonLoop } from "../../faults/crash/poison_loop.ts";
import { inFolder } from "./support/stores.ts";

test("a run that keeps crashing the process is held, the others complete, and no acknowledged call is lost", () =>
  inFolder(async (folder) => {
    const judgement = await poisonLoop({
      path: join(folder, "store.db"),
      // What happens is counted and not timed, so that a slow machine runs the same rounds.
      rounds: [{ kind: "-", kill: { starts: 5 } }, { kind: "TooLong" }, { kind: "TooLarge" }, {
        kind: "-",
        kill: { starts: 2 },
      }],
    });
    assert.deepEqual(judgement.problems, []);
    assert.ok(
      judgement.innocent >= 5 && judgement.poisoned >= 1 && judgement.killed >= 1 &&
        judgement.died >= 2,
      JSON.stringify(judgement),
    );
  }));
