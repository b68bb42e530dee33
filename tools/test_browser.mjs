#!/usr/bin/env node
// Runs the runtime-neutral cases (tests/cases/*.ts that export `cases`) in a browser. The bundle is
// served from a loopback port with COOP/COEP off, as an ordinary page would be.
import { createServer } from "node:http";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { withinTime } from "./lib/browser_watch.mjs";
import { launchChromium } from "./lib/chromium.mjs";
import { readCommandLine } from "./lib/command_line.mjs";
import { launchFirefox } from "./lib/firefox.mjs";
import { portOf } from "./lib/serve.mjs";
import { root } from "./lib/steps.mjs";

const HELP =
  `usage: node tools/test_browser.mjs [--browser=NAME] [--file=FILE] [--only=TEXT] [--verbose]

Runs the cases of tests/cases in a browser, in a page or in a module worker; files named realm_* in both.
Prints the failures and "N passed, N failed, N skipped".

--browser=NAME  chromium (default) or firefox
--file=FILE     only the cases of this file in tests/cases, for example language.ts
--only=TEXT     only the cases whose name or file contains TEXT
--verbose       print the name of each case when it starts
Environment: CHROMIUM_PATH, FIREFOX_PATH.`;
const { values } = readCommandLine(HELP, {
  browser: { type: "string" },
  file: { type: "string" },
  only: { type: "string" },
  verbose: { type: "boolean" },
});
const { browser: kind = "chromium", file: onlyFile, only = "", verbose: isVerbose } = values;
const launch = { chromium: launchChromium, firefox: launchFirefox }[kind];
if (launch === undefined) {
  console.error(`unknown browser "${kind}"; known: chromium, firefox`);
  process.exit(2);
}
/** Where the loss of the browser is reported while files run in it. */
let onLost = (error) => console.error(error.message);
const launched = await launch({ onLost: (error) => onLost(error) });
if (!launched.browser) {
  console.log(`0 passed, 0 failed, 1 skipped: no browser: ${launched.reason}`);
  process.exit(0);
}
const { build } = await import("esbuild");
const dir = mkdtempSync(join(tmpdir(), "cases-"));
const casesDir = join(root, "tests/cases");
const files = readdirSync(casesDir).filter((f) =>
  f.endsWith(".ts") && (onlyFile === undefined || f === onlyFile) &&
  /export const cases\b/.test(readFileSync(join(casesDir, f), "utf8"))
).sort();
const sources = {};
for (const dir of readdirSync(join(root, "examples"))) {
  const path = `examples/${dir}/workflow.ts`;
  if (existsSync(join(root, path))) sources[path] = readFileSync(join(root, path), "utf8");
}
for (const dir of ["tests/unit/compat/programs", "tests/unit/compat/histories"]) {
  for (const file of readdirSync(join(root, dir))) {
    sources[`${dir}/${file}`] = readFileSync(join(root, dir, file), "utf8");
  }
}
const entry = `${
  files.map((f, i) => `import { cases as c${i} } from ${JSON.stringify(join(casesDir, f))};`).join(
    "\n",
  )
}
import { runCases } from ${JSON.stringify(join(casesDir, "case.ts"))};
// Sources for realms, which load TypeScript themselves, and their entry.
globalThis.__caseSources = ${JSON.stringify(sources)};
globalThis.__caseRealmEntry = new URL("./realm.js", import.meta.url).href;
const groups = [${files.map((f, i) => `{ file: ${JSON.stringify(f)}, cases: c${i} }`).join(", ")}];
const plainFetch = fetch.bind(globalThis);
const tell = (message) => plainFetch("/told", { method: "POST", body: JSON.stringify(message) });
const listener = { began: (file, name) => void tell({ file, name }), ended: (result) => tell(result) };
globalThis.__run = (names, only) => runCases(groups.filter(({ file }) => names.includes(file)), only, listener);
if (typeof WorkerGlobalScope !== "undefined") {
  globalThis.onmessage = async (e) => globalThis.postMessage(await globalThis.__run(...e.data));
}
`;
writeFileSync(join(dir, "entry.ts"), entry);
const extra = {};
// A realm entry of the product for cases that start worker realms in the browser.
const realmEntry = join(root, "ts/realm/browser_entry.ts");
try {
  readFileSync(realmEntry);
  extra.realm = realmEntry;
} catch {
  // the room has no browser entry
}
const { metafile } = await build({
  entryPoints: { cases: join(dir, "entry.ts"), ...extra },
  bundle: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
  outdir: dir,
  absWorkingDir: root,
  nodePaths: [join(root, "node_modules")],
  alias: {
    "temporalex/workflow": join(root, "ts/workflow/mod.ts"),
    temporalex: join(root, "ts/mod.ts"),
  },
  logLevel: "error",
  // Separate files: a map in the text costs each realm a third of its CPU.
  sourcemap: "linked",
  metafile: true,
});
const types = { ".js": "text/javascript", ".html": "text/html" };
const server = createServer(async (req, res) => {
  const path = new URL(req.url ?? "/", "http://localhost").pathname;
  if (path === "/") {
    return res.writeHead(200, { "content-type": "text/html" }).end(
      "<!doctype html><meta charset=utf-8><title>cases</title>",
    );
  }
  if (path === "/told") {
    told(JSON.parse(await text(req)));
    return res.writeHead(204).end();
  }
  try {
    const file = readFileSync(join(dir, path.replace(/[^a-z0-9_.-]/gi, "")));
    res.writeHead(200, {
      "content-type": types[path.slice(path.lastIndexOf("."))] ?? "application/octet-stream",
    }).end(file);
  } catch {
    res.writeHead(404).end();
  }
});
await new Promise((r) => server.listen(0, "127.0.0.1", () => r(undefined)));
const url = `http://127.0.0.1:${portOf(server)}/`;
const counts = { passed: 0, failed: 0, skipped: 0 };
const reasons = new Set();
const times = new Map();
/**
 * Longer than the limit of one case (tests/cases/case.ts): a place without a report for so long has
 * stopped.
 */
const SILENT_MS = 200_000;
/** Time in which the loss of the browser is reported after a call has rejected because of it. */
const LOSS_REPORT_MS = 2000;
/**
 * Files for one page of Firefox. With all cases in one page Firefox 153 stops in the middle, at
 * rest, after some hundred realms (workers) that have come and gone; each part alone passes.
 */
const FILES_OF_A_PAGE = kind === "firefox" ? 9 : Infinity;

/**
 * The reports since the place began: the case that runs, the results by file, and the time of the
 * last report.
 */
let heard;
function told({ status, ...rest }) {
  if (status === undefined) {
    heard.running = { ...rest, began: Date.now() };
    if (isVerbose) console.log(`case: ${rest.file}: ${rest.name}`);
  } else {heard.results.push({
      status,
      ms: Date.now() - (heard.running?.began ?? heard.at),
      ...rest,
    });}
  heard.at = Date.now();
}

/** Whether a file of cases may start a realm, by the modules that it imports. */
function startsRealms(file) {
  const seen = new Set();
  const reaches = (path) => {
    if (path === "tests/cases/realm_host.ts") return true;
    if (seen.has(path)) return false;
    seen.add(path);
    return (metafile.inputs[path]?.imports ?? []).some((imported) => reaches(imported.path));
  };
  return reaches(`tests/cases/${file}`) ||
    /createWorkerRealm/.test(readFileSync(join(casesDir, file), "utf8"));
}

/**
 * Where the cases of a file run. Both places have the same language and the same timers, so plain
 * cases run in the page of one browser and in the worker of the other. Realms are workers: they
 * start from a page, and in Chromium the files about realms themselves run in a worker, too. Firefox
 * may hang in a worker's `new Worker` once another worker of that worker has ended (seen in Firefox
 * 153; docs/dev/realms.md#firefox).
 */
function placesOf(file) {
  if (startsRealms(file)) {
    return kind !== "firefox" && file.startsWith("realm_") ? ["page", "worker"] : ["page"];
  }
  return kind === "firefox" ? ["worker"] : ["page"];
}

const inPage = (page, names) =>
  page.evaluate(async ([u, ...task]) => (await import(u), globalThis.__run(...task)), [
    `${url}cases.js`,
    names,
    only,
  ]);
const inWorker = (page, names) =>
  page.evaluate(([u, ...task]) =>
    new Promise((resolve, reject) => {
      const w = new Worker(u, { type: "module" });
      w.onmessage = () => (w.terminate(), resolve(undefined));
      w.onerror = (e) => reject(new Error(e.message));
      w.postMessage(task);
    }), [`${url}cases.js`, names, only]);

let browser = launched.browser;
/**
 * For calls of the browser that take milliseconds on an idle machine: opening, loading and closing
 * a page.
 */
const CALL_MS = 90_000;

/**
 * Runs the files in a new page. If the browser stops in one of them, returns its name and the
 * reason.
 */
async function runInPage(names, body) {
  heard = { at: Date.now(), results: [], running: undefined };
  let timer;
  const stop = new Promise((resolve) => {
    onLost = (error) => resolve(error.message);
    timer = setInterval(() => {
      if (Date.now() - heard.at > SILENT_MS) {
        resolve(`no message from the browser for ${SILENT_MS / 1000} s`);
      }
    }, 1000);
  });
  const work = async () => {
    const page = await withinTime(CALL_MS, "opening a page", browser.newPage());
    page.on("pageerror", (e) => console.log(`page error: ${e.message}`));
    await withinTime(CALL_MS, "loading the page", page.goto(url));
    await body(page, names);
    await withinTime(CALL_MS, "closing the page", page.close());
  };
  // A call that rejects because the browser is lost does so shortly before or after the loss is
  // reported.
  const worked = work().then(
    () => undefined,
    (error) => Promise.race([stop, delay(LOSS_REPORT_MS, error.message)]),
  );
  const reason = await Promise.race([worked, stop]).finally(() => clearInterval(timer));
  return reason === undefined ? undefined : { file: heard.running?.file ?? names[0], reason };
}

/** Replaces a browser that stopped. */
async function restart() {
  await withinTime(CALL_MS, "closing the browser", browser.close()).catch((e) =>
    console.log(e.message)
  );
  const started = await launch({ onLost: (error) => onLost(error) });
  if (started.browser === undefined) {
    throw new Error(`the browser did not start again: ${started.reason}`);
  }
  browser = started.browser;
}

function count(place, results) {
  for (const r of results) {
    const key = `${r.file} in a ${place}`;
    times.set(key, (times.get(key) ?? 0) + r.ms / 1000);
    counts[r.status]++;
    if (r.status === "skipped") reasons.add(`${r.file} in a ${place}: ${r.error}`);
    if (r.status === "failed") {
      console.log(`not ok - ${kind} ${place}: ${r.file}: ${r.name}\n${r.error}`);
    }
  }
}

/**
 * Runs the files in one place. After a browser that stopped, a new one runs the other files, and
 * Firefox the same file once again.
 */
async function run(place, names, body) {
  let again;
  while (names.length > 0) {
    const stopped = await runInPage(names, body);
    count(place, heard.results.filter(({ file }) => file !== stopped?.file));
    if (stopped === undefined) return;
    const { file, reason } = stopped;
    const { name } = heard.running ?? { name: "(before its first case)" };
    const words = `${kind} ${place}: ${file}: ${name}: ${reason}`;
    const isLast = again === file || kind !== "firefox";
    names = names.slice(names.indexOf(file) + (isLast ? 1 : 0));
    again = file;
    console.log(isLast ? `not ok - ${words}` : `${words}; a new browser runs the file again`);
    if (isLast) counts.failed++;
    await restart();
  }
}

try {
  for (let from = 0; from < files.length; from += FILES_OF_A_PAGE) {
    const names = files.slice(from, from + FILES_OF_A_PAGE);
    await run("page", names.filter((file) => placesOf(file).includes("page")), inPage);
    await run("worker", names.filter((file) => placesOf(file).includes("worker")), inWorker);
  }
} catch (e) {
  counts.failed++;
  console.log(`not ok - ${kind}: ${e.stack}`);
} finally {
  await withinTime(CALL_MS, "closing the browser", browser.close()).catch((e) =>
    console.log(e.message)
  );
  server.close();
  server.closeAllConnections();
  rmSync(dir, { recursive: true, force: true });
}
console.log(`browser: ${launched.source}, ${launched.browser.version()}`);
for (const [file, seconds] of [...times].sort((a, b) => b[1] - a[1])) {
  console.log(`time: ${seconds.toFixed(1)} s ${file}`);
}
for (const reason of reasons) console.log(`skipped: ${reason}`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed > 0 ? 1 : 0;
