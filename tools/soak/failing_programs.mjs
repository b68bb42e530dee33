#!/usr/bin/env node
// Programs that throw are failures, with message and line, in the output of `temporalex replay`, in
// its JSON, and on the debugger's page: 60 programs that throw in different ways, native, entities,
// and for Temporal. Prints each that is shown as something else; exit code 1 with any.
//   node tools/build_dist.mjs && node tools/demo.mjs --build-only && node tools/soak/failing_programs.mjs
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { root } from "../lib/steps.mjs";
import { launchChromium } from "../lib/chromium.mjs";
import { serveDemo } from "../demo.mjs";
import { recordHistory } from "./divergences/recorded.mjs";
import { failingPrograms } from "./failing/programs.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    keep: { type: "string" },
    "no-page": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: node tools/soak/failing_programs.mjs [--only W7] [--no-page] [--keep FOLDER]\n\n" +
      "Replays 60 programs that throw, and compares verdict, message and line in text, JSON and page.\n\n" +
      "  --only     only the program of this name\n" +
      "  --no-page  text and JSON only; needs no browser\n" +
      "  --keep     leaves programs and histories in this folder",
  );
  process.exit(0);
}

const work = values.keep ?? mkdtempSync(join(tmpdir(), "temporalex-failing-"));
const [recorded, broken, histories] = ["recorded", "broken", "histories"].map((name) =>
  join(work, name)
);
for (const folder of [recorded, broken, histories]) mkdirSync(folder, { recursive: true });
const programs = failingPrograms().filter(({ name }) => name === (values.only ?? name));
const problems = [];
/** Prints a difference of a program on one of the three surfaces. */
function report({ name, kind, statement }, surface, text) {
  problems.push({ name, surface });
  console.log(`${name} (${kind}) ${statement}\n    ${surface}: ${text}`);
}
// A run that is ended early states how many programs the page has shown.
let isEnding = false;
let shown = 0;
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => (isEnding = true));

for (const { name, good, broken: code, drive } of programs) {
  const file = join(recorded, `${name}.js`);
  writeFileSync(file, good);
  writeFileSync(join(broken, `${name}.js`), code);
  const { text } = await recordHistory({ file, name, drive });
  writeFileSync(join(histories, `${name}.json`), text);
}
const entry = join(broken, "main.js");
writeFileSync(
  entry,
  programs.map(({ name, kind }) =>
    `export { ${kind === "compat" ? name : `main as ${name}`} } from "./${name}.js";\n`
  ).join(""),
);

/**
 * An error of a native handler fails its update, or is logged for its signal; it does not fail the
 * task. The difference to the history is then explained by the error.
 */
function isHandlersError({ kind, broken, statement }) {
  return kind === "entity" && broken.indexOf(statement) < broken.indexOf('acts.ship("all")') &&
    broken.indexOf(statement) > broken.indexOf("receive(0");
}

/** Replays all histories in one process. Resolves with its output. */
function replay(...args) {
  const main = join(root, "dist/ts/cli/main.js");
  const child = spawn(
    process.execPath,
    [main, "replay", "--workflows", entry, ...args, histories],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => output += text);
  return new Promise((resolve) => child.on("close", () => resolve(output)));
}

const lines = (await replay("--json")).split("\n").filter((line) => line !== "").map((line) =>
  JSON.parse(line)
);
const text = await replay("--output", "text");
/** The part of the text about each history: it begins with the verdict at the left edge. */
const parts = text.split(/^(?=\S)/m);
for (const program of programs) {
  const { name, message, line } = program;
  const file = `${name}.json`;
  const place = `${name}.js:${line}:`;
  const found = lines.find((one) => one.file?.endsWith(`/${file}`));
  const error = found?.error;
  const isHandler = isHandlersError(program) && error?.edit?.kind === "failingCode";
  const said = isHandler ? error.sentence : error?.message;
  if (found?.verdict !== "failed" && !isHandler) {
    report(program, "JSON", `${found?.verdict}: ${error?.sentence ?? error?.message}`);
  } else if (!message.test(said) || !error.location.includes(place)) {
    report(program, "JSON", `${said} at ${error.location}, not ${place}`);
  } else if (!isHandler && (error.sentence !== undefined || error.edit !== undefined)) {
    report(program, "JSON", `explained as a divergence: ${error.sentence}`);
  }
  const part = parts.find((one) => one.includes(file) && !one.startsWith("Verdict")) ?? "";
  const head = isHandler ? "nondeterminism" : "failed";
  const names = !isHandler || /Handler of .* failed in this task with/.test(part);
  if (!part.startsWith(head) || !message.test(part) || !part.includes(place) || !names) {
    report(program, "text", part.trim() === "" ? "missing" : part);
  }
}
if (!values["no-page"]) await checkPage();

async function checkPage() {
  const site = await serveDemo();
  const { browser, reason } = await launchChromium();
  if (browser === undefined) throw new Error(`no browser found: ${reason}`);
  try {
    for (const program of programs) {
      if (isEnding) break;
      shown++;
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
      try {
        await checkProgram(page, site.url, program);
      } catch (error) {
        report(program, "page", error.message);
      } finally {
        await page.close();
      }
    }
  } finally {
    await browser.close();
    await site.close();
  }
}

async function checkProgram(page, url, program) {
  const { name, message, line } = program;
  await page.goto(url);
  await page.locator("#main").waitFor();
  const drop = async (file, content) => {
    const transfer = await page.evaluateHandle(([file, content]) => {
      const data = new DataTransfer();
      data.items.add(new File([content], file));
      return data;
    }, [file, content]);
    await page.dispatchEvent("#main", "drop", { dataTransfer: transfer });
  };
  await drop(`${name}.json`, readFileSync(join(histories, `${name}.json`), "utf8"));
  await page.locator("#verdict", { hasText: "No code" }).waitFor();
  await drop(`${name}.js`, program.broken);
  await page.getByRole("button", { name: "Show what will run" }).click();
  await page.getByRole("button", { name: "Run code" }).click();
  const verdict = page.locator("#verdict", { hasText: /Replays|Diverges|Fails/ });
  await verdict.waitFor();
  const said = await verdict.innerText();
  const isHandler = isHandlersError(program);
  if (!said.includes("Fails") && !(isHandler && said.includes("Diverges"))) {
    return report(program, "page", said);
  }
  const red = page.locator(".code-line.red");
  await red.waitFor();
  const at = await red.getAttribute("data-line");
  const why = await page.locator("#where-they-part").innerText();
  if (at !== String(line) || !message.test(why)) {
    report(program, "page", `line ${at}, not ${line}: ${why.slice(0, 300)}`);
  }
}

const count = (surface, of) =>
  `${
    of - new Set(problems.filter((one) => one.surface === surface).map(({ name }) => name)).size
  } of ${of}`;
const page = values["no-page"] ? "" : `, page ${count("page", shown)}`;
console.log(
  `shown as failures with message and line: JSON ${count("JSON", programs.length)}, text ${
    count("text", programs.length)
  }${page}`,
);
if (values.keep === undefined) rmSync(work, { recursive: true, force: true });
process.exitCode = problems.length === 0 ? 0 : 1;
