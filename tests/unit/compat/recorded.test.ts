// Programs (tests/unit/compat/programs) recorded with the official SDK by record.mjs: each step
// schedules an activity named after the step, its scope and random numbers, so replay compares what
// the corpus' programs do not show. Both contexts must agree with the recording, and a context that
// loses the scope must not.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { isImplied } from "../../../ts/compat/flags.ts";
import type { HistoryJson } from "./support/corpus.ts";
import { type Mechanism, replay } from "./support/replay.ts";

let root = dirname(fileURLToPath(import.meta.url));
while (!existsSync(join(root, "package.json"))) root = dirname(root);
const here = join(root, "tests/unit/compat");

/** Those whose order of commands depends on a flag. */
const FLAGGED = ["callbacks", "cancelled"];

const programs = readdirSync(join(here, "programs")).map((file) => file.replace(/\.ts$/, ""));
const run = (program: string, mechanism: Mechanism) => {
  const history = JSON.parse(
    readFileSync(join(here, "histories", `${program}.json`), "utf8"),
  ) as HistoryJson;
  return replay(join(here, "programs", `${program}.ts`), mechanism, program, history, "thread");
};

for (const program of programs) {
  for (const mechanism of ["asyncLocalStorage", "rewritten"] satisfies Mechanism[]) {
    test(`replays what the official SDK recorded, ${mechanism}: ${program}`, async () => {
      assert.deepEqual(await run(program, mechanism), { verdict: "OK", message: "", location: "" });
    });
  }
}

test("the recordings detect a context that does not follow async functions", async () => {
  for (const program of ["interleaved", "cancelled", "callbacks", "iterated", "messages"]) {
    const { verdict, location } = await run(program, "forgetful");
    assert.equal(verdict, "NONDETERMINISM", program);
    assert.match(location, new RegExp(`${program}\\.ts.*:\\d+:\\d+`));
  }
});

/**
 * The recording as workers 1.11.0 and 1.11.1 left theirs: with the behavior of the flags, and
 * without the flags.
 */
function unflagged(program: string, buildId: string): HistoryJson {
  const history = JSON.parse(readFileSync(join(here, "histories", `${program}.json`), "utf8"));
  let flags = 0;
  for (const { workflowTaskCompletedEventAttributes: completed } of history.events) {
    if (completed === undefined) continue;
    if (completed.sdkMetadata?.langUsedFlags !== undefined) flags++;
    delete completed.sdkMetadata?.langUsedFlags;
    completed.workerVersion = { buildId };
  }
  assert.ok(flags > 0, `${program} records no flag`);
  return history;
}

test("tasks of workers 1.11.0 and 1.11.1 have flags 1 and 2 on, which they did not record; others have not", async () => {
  for (const program of FLAGGED) {
    const file = join(here, "programs", `${program}.ts`);
    const verdictOf = async (buildId: string) =>
      (await replay(file, "asyncLocalStorage", program, unflagged(program, buildId), "thread"))
        .verdict;
    assert.equal(await verdictOf("@temporalio/worker@1.11.0+cdf3bd9f"), "OK", program);
    assert.equal(await verdictOf("@temporalio/worker@1.11.1+cdf3bd9f"), "OK", program);
    for (
      const other of [
        "@temporalio/worker@1.11.2+cdf3bd9f",
        "@temporalio/worker@1.10.3+cdf3bd9f",
        "1.11.1",
        "",
      ]
    ) {
      assert.equal(await verdictOf(other), "NONDETERMINISM", `${program} by ${other}`);
    }
  }
  // Both, and no others.
  assert.deepEqual([0, 1, 2, 3, 6].map((flag) => isImplied(flag, "@temporalio/worker@1.11.1+x")), [
    false,
    true,
    true,
    false,
    false,
  ]);
});
