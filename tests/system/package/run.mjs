#!/usr/bin/env node
// The suite `package`: makes the package, has it judged by publint, attw, knip and `deno publish
// --dry-run`, installs its tarball into throw- away projects as users have them, and runs a
// workflow to its end in each. Ends with `N passed, N failed, N skipped: reasons`. Needs what `npm
// ci` installs in the checkout, and installs the judges (tests/system/package/package.json) into
// their own folder on demand.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { installTools } from "../../../tools/docs_api.mjs";
import { pack } from "../../../tools/pack.mjs";
import { ensureInstalled, patience, root, run } from "../../../tools/lib/steps.mjs";
import { checks } from "./checks.mjs";
import { docs } from "./docs.mjs";
import { adapters } from "./adapters.mjs";
import { projects } from "./projects.mjs";
import { uncaught } from "./uncaught.mjs";

const HELP = `usage: node tests/system/package/run.mjs [--only=TEXT] [--keep] [--list]

--only=TEXT  tests whose name contains TEXT
--keep       leaves the throw-away projects on disk and says where`;
const args = process.argv.slice(2);
if (args.includes("--help") || args.includes("-h")) {
  console.log(HELP);
  process.exit(0);
}
const only = args.find((a) => a.startsWith("--only="))?.slice(7) ?? "";
const keep = args.includes("--keep");

ensureInstalled();
const npm = process.platform === "win32" ? "npm.cmd" : "npm";

const all = [...checks, ...docs, ...projects, ...uncaught, ...adapters];
if (args.includes("--list")) {
  for (const { name } of all) console.log(name);
  process.exit(0);
}
const chosen = all.filter(({ name }) => name.includes(only));
if (chosen.length === 0) {
  console.error(`no test's name contains "${only}"; --list shows them`);
  process.exit(2);
}
/** No command waits as long as the suite may: one that hangs fails its own test. */
const COMMAND_MS = 5 * patience;
const work = mkdtempSync(join(tmpdir(), "temporalex-package-"));
const counts = { passed: 0, failed: 0, skipped: 0 };
const reasons = new Set();
try {
  const context = {
    root,
    work,
    made: await pack({ out: join(work, "package") }),
    noJudges: await installTools(),
    shared: new Map(),
  };
  for (const { name, test } of chosen) {
    const began = Date.now();
    const lines = [];
    let outcome;
    try {
      outcome = await test({
        ...context,
        say: (line) => lines.push(line),
        run: (command, argv, options) => run(command, argv, { timeoutMs: COMMAND_MS, ...options }),
        npm,
      });
    } catch (error) {
      counts.failed++;
      console.log(`not ok - package: ${name}\n${error.stack ?? error}`);
      continue;
    }
    if (outcome?.skip !== undefined) {
      counts.skipped++;
      reasons.add(`${name} (${outcome.skip})`);
      console.log(`skip - ${name}: ${outcome.skip}`);
    } else {
      counts.passed++;
      console.log(
        `ok - ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`,
      );
    }
    for (const line of lines) console.log(`       ${line}`);
  }
} catch (error) {
  counts.failed++;
  console.log(
    `not ok - package: the package cannot be made\n${error.stack ?? error}`,
  );
} finally {
  if (keep) console.log(`kept: ${work}`);
  else rmSync(work, { recursive: true, force: true });
}
console.log(
  `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped${
    reasons.size > 0 ? `: ${[...reasons].join("; ")}` : ""
  }`,
);
process.exitCode = counts.failed > 0 ? 1 : 0;
