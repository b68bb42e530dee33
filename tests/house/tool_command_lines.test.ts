// The tools in tools/*.mjs: `--help` prints the usage and runs nothing, and unknown options are
// rejected.
// runtime: node
// takes: 12 s
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "node:test";

/** Modules without a command line. */
const MODULES = new Set(["core_source_hash.mjs"]);
const tools = readdirSync("tools").filter((name) => name.endsWith(".mjs") && !MODULES.has(name));

const run = (tool: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`tools/${tool}`, ...args], {
    encoding: "utf8",
    timeout: 120_000,
  });
  return { status, stdout, stderr };
};

for (const tool of tools) {
  test(`tools/${tool}: --help prints the usage; an unknown option is rejected with it`, () => {
    const help = run(tool, "--help");
    assert.equal(help.status, 0, help.stderr);
    assert.match(help.stdout, /^usage: (?:node tools\/|npm )/);
    const wrong = run(tool, "--no-such-option");
    assert.equal(wrong.status, 2, wrong.stdout + wrong.stderr);
    assert.match(wrong.stderr, /usage: (?:node tools\/|npm )/);
  });
}
