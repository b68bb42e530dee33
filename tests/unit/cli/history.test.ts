// `temporalex history`: a divergence made small, a test of it that fails until the code is
// repaired, and a history without its values.
// takes: 15 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { historyJson, type TestRunner } from "../../../ts/debug/mod.ts";
import { EDITED, recorded } from "../debug/take_away_support.ts";
import { missing, project, runTests } from "./support/exported_tests.ts";
import { run } from "./support/run.ts";

const { before, after } = EDITED[2]!;

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-history-"));
  writeFileSync(join(folder, "old.ts"), before);
  writeFileSync(join(folder, "new.ts"), after);
  writeFileSync(join(folder, "run.json"), historyJson(await recorded(before, 6)));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("history commands minimize, write a test, and redact", () =>
  inFolder(async (folder) => {
    const at = { cwd: folder };
    const small = await run([
      "history",
      "minimize",
      "run.json",
      "--workflows",
      "new.ts",
      "--repaired",
      "old.ts",
      "--out",
      "small.json",
      "--json",
    ], at);
    assert.equal(small.code, 0, small.err);
    const { events, eventsBefore } = JSON.parse(small.out) as {
      events: number;
      eventsBefore: number;
    };
    assert.ok(events < eventsBefore, `${events} of ${eventsBefore}`);
    assert.equal((await run(["replay", "small.json", "--workflows", "old.ts"], at)).code, 0);
    assert.equal((await run(["replay", "small.json", "--workflows", "new.ts"], at)).code, 1);
    const sound = await run([
      "history",
      "minimize",
      "run.json",
      "--workflows",
      "old.ts",
      "--out",
      "none.json",
    ], at);
    assert.equal(sound.code, 1);
    assert.match(sound.err, /the history replays against this code/);
    const again = await run([
      "history",
      "minimize",
      "run.json",
      "--workflows",
      "new.ts",
      "--out",
      "small.json",
    ], at);
    assert.equal(again.code, 2);
    assert.match(again.err, /small\.json exists/);

    const made = await run([
      "history",
      "test",
      "run.json",
      "--workflows",
      "new.ts",
      "--out",
      "order.test.ts",
    ], at);
    assert.equal(made.code, 0, made.err);
    assert.ok(existsSync(join(folder, "order.history.json")));
    const text = readFileSync(join(folder, "order.test.ts"), "utf8");
    assert.match(
      text,
      /createWorkerRealm\(\{ workflows: new URL\("\.\/new\.ts", import\.meta\.url\) \}\)/,
    );

    const shown = await run([
      "history",
      "redact",
      "run.json",
      "--workflows",
      "old.ts",
      "--out",
      "shown.json",
    ], at);
    assert.equal(shown.code, 0, shown.err);
    assert.match(shown.out, /it replays as before/);
    assert.ok(!readFileSync(join(folder, "shown.json"), "utf8").includes(btoa('"item 1"')));
    const wrong = await run([
      "history",
      "redact",
      "run.json",
      "--match",
      "(",
      "--unverified",
      "--out",
      "x.json",
    ], at);
    assert.equal(wrong.code, 2);
  }));

const RUNNERS: readonly (readonly [TestRunner, ending: string])[] = [["node", "mjs"], [
  "vitest",
  "ts",
], ["deno", "ts"]];

for (const [runner, ending] of RUNNERS) {
  test(`history: a test for ${runner} fails with the change, and passes without it`, (t) => {
    const how = missing(runner);
    if (how !== undefined) return t.skip(`${runner} is not installed: ${how}`);
    return inFolder(async (folder) => {
      project(folder);
      const file = `order.test.${ending}`;
      const args = [
        "--workflows",
        "new.ts",
        "--repaired",
        "old.ts",
        "--runner",
        runner,
        "--out",
        file,
      ];
      const made = await run(["history", "test", "run.json", ...args], { cwd: folder });
      assert.equal(made.code, 0, made.err);
      const name = "Main replays the history of order";
      const broken = await runTests(runner, folder, [file]);
      assert.match(broken.get(name) ?? "", /ondetermini[\s\S]*at .*new\.ts:1\d/);
      writeFileSync(join(folder, "new.ts"), before);
      assert.deepEqual([...await runTests(runner, folder, [file])], [[name, ""]]);
    });
  });
}
