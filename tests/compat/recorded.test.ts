// Programs of our own (tests/compat/programs), recorded with the official SDK by record.mjs: each step schedules an activity named after
// the step, the scope it runs in, and random numbers, so replay compares what the corpus' programs do not show. Both contexts must
// agree with the recording, and a context that loses the scope must not.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { HistoryJson } from "./support/corpus.ts";
import { type Mechanism, replay } from "./support/replay.ts";

let root = dirname(fileURLToPath(import.meta.url));
while (!existsSync(join(root, "package.json"))) root = dirname(root);
const here = join(root, "tests/compat");

const programs = readdirSync(join(here, "programs")).map((file) => file.replace(/\.ts$/, ""));
const run = (program: string, mechanism: Mechanism) => {
  const history = JSON.parse(readFileSync(join(here, "histories", `${program}.json`), "utf8")) as HistoryJson;
  return replay(join(here, "programs", `${program}.ts`), mechanism, program, history);
};

for (const program of programs) {
  for (const mechanism of ["asyncLocalStorage", "rewritten"] satisfies Mechanism[]) {
    test(`replays what the official SDK recorded, ${mechanism}: ${program}`, async () => {
      assert.deepEqual(await run(program, mechanism), { verdict: "OK", message: "", location: "" });
    });
  }
}

test("the recordings tell a context that does not follow async functions", async () => {
  for (const program of ["interleaved", "cancelled", "callbacks", "iterated", "messages"]) {
    const { verdict, location } = await run(program, "forgetful");
    assert.equal(verdict, "NONDETERMINISM", program);
    assert.match(location, new RegExp(`${program}\\.ts.*:\\d+:\\d+`));
  }
});
