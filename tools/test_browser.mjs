#!/usr/bin/env node
// Runs the runtime-neutral cases (tests/cases/*.ts that export `cases`) in a browser, `--browser=chromium` or `--browser=firefox`: once in a
// page and once in a module worker. The bundle is served from a loopback port with COOP/COEP off, as an ordinary page would be.
// `--only=TEXT`: the cases whose name or file contains it. Ends with `N passed, N failed, N skipped`.
import { createServer } from "node:http";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchChromium } from "./lib/chromium.mjs";
import { launchFirefox } from "./lib/firefox.mjs";
import { root } from "./lib/steps.mjs";

const option = (name) => process.argv.find((a) => a.startsWith(`--${name}=`))?.slice(name.length + 3);
const only = option("only") ?? "";
const kind = option("browser") ?? "chromium";
const launch = { chromium: launchChromium, firefox: launchFirefox }[kind];
if (launch === undefined) {
  console.error(`no browser named ${kind}; there are: chromium, firefox`);
  process.exit(2);
}
const launched = await launch();
if (!launched.browser) {
  console.log(`0 passed, 0 failed, 1 skipped: no browser: ${launched.reason}`);
  process.exit(0);
}
const { build } = await import("esbuild");
const dir = mkdtempSync(join(tmpdir(), "cases-"));
const casesDir = join(root, "tests/cases");
const files = readdirSync(casesDir).filter((f) =>
  f.endsWith(".ts") && /export const cases\b/.test(readFileSync(join(casesDir, f), "utf8"))
).sort();
/** Cases that start realms; seen in Firefox 153, with a worker of six lines too (docs/dev/realms.md#firefox). */
const NESTED = {
  files: files.filter((f) => /realm_host|createWorkerRealm/.test(readFileSync(join(casesDir, f), "utf8"))),
  reason: "Firefox may hang in a worker's `new Worker` once another worker of that worker has ended",
};
const sources = {};
for (const dir of readdirSync(join(root, "examples"))) {
  const path = `examples/${dir}/workflow.ts`;
  if (existsSync(join(root, path))) sources[path] = readFileSync(join(root, path), "utf8");
}
for (const dir of ["tests/compat/programs", "tests/compat/histories"]) {
  for (const file of readdirSync(join(root, dir))) sources[`${dir}/${file}`] = readFileSync(join(root, dir, file), "utf8");
}
const entry = `${files.map((f, i) => `import { cases as c${i} } from ${JSON.stringify(join(casesDir, f))};`).join("\n")}
import { runCases } from ${JSON.stringify(join(casesDir, "case.ts"))};
// Sources for realms, which load TypeScript themselves, and their entry.
globalThis.__caseSources = ${JSON.stringify(sources)};
globalThis.__caseRealmEntry = new URL("./realm.js", import.meta.url).href;
const groups = [${files.map((f, i) => `{ file: ${JSON.stringify(f)}, cases: c${i} }`).join(", ")}];
globalThis.__runAll = (only, skips, [from, to]) => runCases(groups.slice(from, to), only, skips);
if (typeof WorkerGlobalScope !== "undefined") {
  globalThis.onmessage = async (e) => globalThis.postMessage(await globalThis.__runAll(...e.data));
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
await build({
  entryPoints: { cases: join(dir, "entry.ts"), ...extra },
  bundle: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
  outdir: dir,
  absWorkingDir: root,
  nodePaths: [join(root, "node_modules")],
  alias: { "temporalex/workflow": join(root, "ts/workflow/mod.ts"), temporalex: join(root, "ts/mod.ts") },
  logLevel: "error",
  sourcemap: "inline",
});
const types = { ".js": "text/javascript", ".html": "text/html" };
const server = createServer((req, res) => {
  const path = new URL(req.url, "http://localhost").pathname;
  if (path === "/") {
    return res.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><meta charset=utf-8><title>cases</title>");
  }
  try {
    const file = readFileSync(join(dir, path.replace(/[^a-z0-9_.-]/gi, "")));
    res.writeHead(200, { "content-type": types[path.slice(path.lastIndexOf("."))] ?? "application/octet-stream" }).end(file);
  } catch {
    res.writeHead(404).end();
  }
});
await new Promise((r) => server.listen(0, "127.0.0.1", r));
const url = `http://127.0.0.1:${server.address().port}/`;
let passed = 0, failed = 0, skipped = 0;
const reasons = new Set();
/** For a part of the cases in one place; on a machine at rest they take a third of it. */
const HANGS_MS = 270_000;
/**
 * Each part has a page of its own, and a worker of that page. With all cases in one page Firefox 153 stops in the middle, at rest, after some
 * hundred realms (workers) that have come and gone; each part alone passes.
 */
const PARTS = kind === "firefox" ? 4 : 1;
const bounds = Array.from({ length: PARTS + 1 }, (_, i) => Math.round(i * files.length / PARTS));
try {
  const places = bounds.slice(1).flatMap((to, i) => [["page", [bounds[i], to]], ["worker", [bounds[i], to]]]);
  let page;
  const open = async () => {
    await page?.close();
    page = await launched.browser.newPage();
    page.on("pageerror", (e) => console.log(`page error: ${e.message}`));
    await page.goto(url);
  };
  const where = {
    page: async (part) => {
      await open();
      return await page.evaluate(
        async ([u, o, p]) => (await import(u), globalThis.__runAll(o, undefined, p)),
        [`${url}cases.js`, only, part],
      );
    },
    worker: (part) =>
      page.evaluate(([u, ...task]) =>
        new Promise((resolve, reject) => {
          const w = new Worker(u, { type: "module" });
          w.onmessage = (e) => (w.terminate(), resolve(e.data));
          w.onerror = (e) => reject(new Error(e.message));
          w.postMessage(task);
        }), [`${url}cases.js`, only, kind === "firefox" ? NESTED : undefined, part]),
  };
  for (const [name, part] of places) {
    let timer;
    const late = new Promise((
      _,
      reject,
    ) => (timer = setTimeout(() => reject(new Error(`no answer in ${HANGS_MS / 1000} s`)), HANGS_MS)));
    const results = await Promise.race([where[name](part), late]).finally(() => clearTimeout(timer));
    for (const r of results) {
      if (r.status === "passed") passed++;
      else if (r.status === "skipped") {
        skipped++;
        reasons.add(`${r.file} in a ${name}: ${r.error}`);
      } else {
        failed++;
        console.log(`not ok - ${kind} ${name}: ${r.file}: ${r.name}\n${r.error}`);
      }
    }
  }
} catch (e) {
  failed++;
  console.log(`not ok - ${kind}: ${e.stack}`);
} finally {
  await launched.browser.close().catch((e) => console.log(`the browser did not end: ${e.message}`));
  server.close();
  server.closeAllConnections();
  rmSync(dir, { recursive: true, force: true });
}
console.log(`browser: ${launched.source}, ${launched.browser.version()}`);
for (const reason of reasons) console.log(`skipped: ${reason}`);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed > 0 ? 1 : 0;
