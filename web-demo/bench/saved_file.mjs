#!/usr/bin/env node
// A file that is saved, and the verdict of `temporalex debug` on it: its line on the terminal, and
// the page in Chromium.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { buildDemo } from "../../tools/demo.mjs";
import { launchChromium } from "../../tools/lib/chromium.mjs";
import { leaveWithParent } from "../../tools/lib/leave.mjs";
import {
  conditions,
  conditionsText,
  figures,
  figuresText,
  optionsOf,
  tallyCode,
  tallyHistory,
  watchVerdicts,
} from "./lib/tally.mjs";

const HELP =
  `usage: node web-demo/bench/saved_file.mjs [--events=41,5000] [--saves=30] [--pause=700] [--no-build] [--json]

From the save of a workflow's file to the verdict of \`temporalex debug\`, in its output and in the page, for histories of so many events.
--pause: milliseconds between a verdict and the next save, as of a person who writes.`;

leaveWithParent();
const options = optionsOf(HELP, { events: "41,5000", saves: 30, pause: 700 });
if (!options["no-build"]) await buildDemo();
const main = fileURLToPath(new URL("../../dist/ts/cli/main.js", import.meta.url));
const { browser, reason } = await launchChromium();
if (browser === undefined) throw new Error(`there is no browser: ${reason}`);
const results = [];
try {
  for (const events of options.events.split(",").map(Number)) {
    results.push({ events, ...await measure(events) });
  }
  const is = conditions(browser);
  if (options.json) {
    console.log(JSON.stringify({ bench: "saved file to verdict", results, conditions: is }));
  } else {
    for (const { events, line, page } of results) {
      console.log(`${events} events, save to line: ${figuresText(line)}`);
      console.log(`${events} events, save to page: ${figuresText(page)}`);
    }
    console.log(conditionsText(is));
  }
} finally {
  await browser.close();
}

async function measure(events) {
  const cwd = mkdtempSync(join(tmpdir(), "temporalex-bench-"));
  writeFileSync(join(cwd, "tally.json"), tallyHistory(events));
  writeFileSync(join(cwd, "package.json"), "{}");
  const save = (text) => writeFileSync(join(cwd, "workflow.ts"), text);
  save(tallyCode());
  const args = [
    main,
    "debug",
    "tally.json",
    "--workflows",
    "workflow.ts",
    "--port",
    "0",
    "--no-open",
    "--json",
  ];
  const command = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const versions = new Map();
    const waiting = new Map();
    let url;
    const started = new Promise((resolve) => {
      createInterface(command.stdout).on("line", (text) => {
        const line = JSON.parse(text);
        if (line.event === "started") resolve(url = line.url);
        if (line.event !== "verdict") return;
        if (line.verdict !== "ok") throw new Error(text);
        const at = performance.timeOrigin + performance.now();
        versions.set(line.version, at);
        waiting.get(line.version)?.(at);
      });
    });
    const lineOf = (version) =>
      versions.get(version) ?? new Promise((resolve) => waiting.set(version, resolve));
    await started;
    const page = await browser.newPage();
    await page.goto(url);
    await page.locator("#verdict", { hasText: "Replays" }).waitFor({ timeout: 60_000 });
    await lineOf(1);
    await page.evaluate(watchVerdicts);
    const taken = { line: [], page: [] };
    for (let i = 0; i < options.saves; i++) {
      await page.waitForTimeout(options.pause);
      const since = performance.timeOrigin + performance.now();
      save(`${tallyCode()}// ${i}\n`);
      const [line, shown] = await Promise.all([
        lineOf(i + 2),
        page.evaluate((since) => globalThis.verdict(since), since),
      ]);
      taken.line.push(line - since);
      taken.page.push(shown - since);
    }
    await page.close();
    return { line: figures(taken.line), page: figures(taken.page) };
  } finally {
    command.kill("SIGINT");
    await new Promise((resolve) =>
      command.exitCode === null ? command.on("exit", resolve) : resolve()
    );
    rmSync(cwd, { recursive: true, force: true });
  }
}
