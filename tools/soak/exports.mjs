#!/usr/bin/env node
// Divergences exported as tests: `temporalex history test` writes a test and its history for each
// edit of two programs (one of each model) and each runner; then the runners run what was written,
// against the broken code, where every test must fail with the divergence, and against the repaired
// code, where every one must pass. Then a history with 200 secrets is redacted against broken and
// sound code of both programs: none may be left, and the verdict stays. Prints what each runner did
// and how much of the histories was left. From the checkout:
//   node tools/build_dist.mjs && node tools/soak/exports.mjs [--divergences 20] [--runners
//   node,vitest,deno] [--signals 20] [--keep FOLDER]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { historyJson, redact } from "#dist/ts/debug/mod.js";
import { createRealmFromText } from "#dist/tests/cases/realm_host.js";
import { missing, project, runTests } from "#dist/tests/unit/cli/support/exported_tests.js";
import { run } from "#dist/tests/unit/cli/support/run.js";
import { EDITED, recorded } from "#dist/tests/unit/debug/take_away_support.js";

const { values } = parseArgs({
  options: {
    divergences: { type: "string", default: "20" },
    runners: { type: "string", default: "node,vitest,deno" },
    signals: { type: "string", default: "20" },
    keep: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: node tools/soak/exports.mjs [--divergences 20] [--runners node,vitest,deno] [--signals 20] [--keep FOLDER]",
  );
  process.exit(0);
}
/** @type {import("#dist/ts/debug/mod.js").TestRunner[]} */
const RUNNERS = ["node", "vitest", "deno"];
const folder = values.keep === undefined
  ? mkdtempSync(join(tmpdir(), "temporalex-exports-"))
  : resolve(values.keep);
project(folder);
const edits = EDITED.slice(0, Number(values.divergences));
const runners = RUNNERS.filter((runner) => {
  if (!values.runners.split(",").includes(runner)) return false;
  const why = missing(runner);
  if (why !== undefined) console.log(`${runner} is not installed: ${why}`);
  return why === undefined;
});
const wrong = [];

/**
 * The files of each runner.
 *
 * @type {Map<string, string[]>}
 */
const files = new Map(runners.map((runner) => [runner, []]));
const parts = [];
const histories = new Map();
for (const [i, { name, before, after }] of edits.entries()) {
  const cwd = join(folder, `divergence-${i + 1}`);
  mkdirSync(cwd);
  if (!histories.has(before)) {
    histories.set(before, historyJson(await recorded(before, Number(values.signals))));
  }
  writeFileSync(join(cwd, "run.json"), histories.get(before));
  writeFileSync(join(cwd, "workflows.ts"), after);
  writeFileSync(join(cwd, "repaired.ts"), before);
  for (const runner of runners) {
    const out = `${runner}-${i + 1}.test.${runner === "node" ? "mjs" : "ts"}`;
    const args = [
      "--workflows",
      "workflows.ts",
      "--repaired",
      "repaired.ts",
      "--runner",
      runner,
      "--out",
      out,
      "--json",
    ];
    const made = await run(["history", "test", "run.json", ...args], { cwd });
    if (made.code !== 0) {
      wrong.push(`${name}, ${runner}: ${made.err}`);
      continue;
    }
    files.get(runner)?.push(join(`divergence-${i + 1}`, out));
    if (runner === runners[0]) {
      const { events, eventsBefore } = JSON.parse(made.out);
      parts.push(events / eventsBefore);
    }
  }
}

async function check(code, fails) {
  for (const runner of runners) {
    const results = await runTests(runner, folder, files.get(runner) ?? []);
    let right = 0;
    for (const i of edits.keys()) {
      const said = results.get(`Main replays the history of ${runner}-${i + 1}`);
      if (
        said !== undefined &&
        (fails ? /Nondeterminism|history has|your code/i.test(said) : said === "")
      ) right++;
      else {wrong.push(
          `${edits[i].name}, ${runner}, ${code} code: ${said ?? "the test did not run"}`,
        );}
    }
    console.log(
      `${runner.padEnd(7)} ${code.padEnd(9)} ${right} of ${edits.length} ${
        fails ? "fail" : "pass"
      }`,
    );
  }
}
await check("broken", true);
for (const [i, { before }] of edits.entries()) {
  writeFileSync(join(folder, `divergence-${i + 1}`, "workflows.ts"), before);
}
await check("repaired", false);

const SECRETS = 200;
for (const { name, before, after } of [EDITED[2], EDITED[12]]) {
  const history = await recorded(before, SECRETS);
  const secrets = Array.from({ length: SECRETS }, (_, i) => `item ${i}`);
  for (const [code, text] of [["sound", before], ["broken", after]]) {
    const { realm, dispose } = await createRealmFromText(text);
    const { history: redacted, verified, needed } = await redact(history, { realm });
    await dispose();
    const shown = new TextDecoder("latin1").decode(redacted);
    const left = secrets.filter((secret) => shown.includes(`"${secret}"`));
    console.log(
      `${name}, ${code} code: ${left.length} of ${SECRETS} secrets left, verdict ${
        verified ? "kept" : "NOT kept"
      }`,
    );
    if (redacted === undefined || left.length > 0 || verified !== true) {
      wrong.push(`${name}, ${code}: ${left} ${needed}`);
    }
  }
}

for (const text of wrong) console.log(`WRONG: ${text}`);
const median = parts.toSorted((a, b) => a - b)[Math.floor(parts.length / 2)] ?? Number.NaN;
console.log(
  `${edits.length} divergences, ${runners.length} runners, ${wrong.length} wrong; ${
    (100 * median).toFixed(1)
  } % of the events are left in the median`,
);
if (values.keep === undefined) rmSync(folder, { recursive: true, force: true });
process.exitCode = wrong.length === 0 && median <= 0.25 ? 0 : 1;
