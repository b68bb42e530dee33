#!/usr/bin/env node
// Builds the page, finds an installed browser and runs the tests of this folder. `--built`: the
// page is already built. Other arguments are passed to Playwright: files, `-g NAME`,
// `--repeat-each=5`. Ends with `N passed, N failed, N skipped`.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { chromiumOptions } from "../../tools/lib/chromium.mjs";
import { leaveWithParent } from "../../tools/lib/leave.mjs";
import { root } from "../../tools/lib/steps.mjs";

leaveWithParent();
const given = process.argv.slice(2);
const rest = given.filter((arg) => arg !== "--built");
if (rest.length === given.length) await (await import("../../tools/demo.mjs")).buildDemo();
const found = await chromiumOptions();
if (found.executablePath === undefined) {
  console.log(`0 passed, 0 failed, 1 skipped: no browser: ${found.reason}`);
  process.exit(0);
}
const { executablePath, args, env } = found;
const program = join(
  dirname(createRequire(import.meta.url).resolve("@playwright/test/package.json")),
  "cli.js",
);
const config = join(root, "web-demo/e2e/playwright.config.ts");
const child = spawn(process.execPath, [program, "test", "--config", config, ...rest], {
  cwd: root,
  stdio: "inherit",
  env: {
    ...process.env,
    FORCE_COLOR: undefined,
    NO_COLOR: "1",
    E2E_CHROMIUM: JSON.stringify({ executablePath, args, env }),
  },
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
process.exitCode = await new Promise((resolve) => child.on("exit", (code) => resolve(code ?? 1)));
