#!/usr/bin/env node
// `npm test`: every kind of test that this machine can run, one line per suite, skipped ones by name with the reason, and at the end one
// line `N passed, N failed, N skipped`. Needs Node and npm alone; Rust, Go's Temporal dev server and Deno or Chromium binaries are used
// when present.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { leaveWithParent } from "./lib/leave.mjs";
import { ensureOfficial } from "./lib/official.mjs";
import { bin, bold, dim, ensureInstalled, red, root, run, say, which } from "./lib/steps.mjs";

const args = process.argv.slice(2);
if (args.includes("--help") || args.includes("-h")) {
  say(`usage: npm test [-- SUITE... | quick] [--json] [--verbose] [--list]

Runs all suites, or those named. \`quick\` is for the loop of a contributor: format, lint, types, generated files, and the tests in
Node that need no other process; it takes a minute or two, and names what it leaves out.
--list prints the names of the suites. --verbose prints the output of passing suites too.
Environment: CHROMIUM_PATH, FIREFOX_PATH, TEMPORAL_CLI (the dev server's binary), SKIP_CORE_REBUILD=1.`);
  process.exit(0);
}
const flags = new Set(args.filter((a) => a.startsWith("--")));
const isQuick = args.includes("quick");
const names = args.filter((a) => !a.startsWith("--") && a !== "quick");
leaveWithParent();
ensureInstalled();

const walk = (dir) =>
  existsSync(dir)
    ? readdirSync(dir).filter((n) => n !== "node_modules").flatMap((n) =>
      statSync(join(dir, n)).isDirectory() ? walk(join(dir, n)) : [join(dir, n)]
    )
    : [];
/** Seconds that a file says it takes (`// takes: 90 s` at its head). */
const length = (f) => Number(/^\/\/ takes: (\d+) s/m.exec(readFileSync(join(root, f), "utf8").slice(0, 600))?.[1] ?? 0);
const forDeno = (files) => files.filter((f) => !/^\/\/ runtime: node\b/m.test(readFileSync(join(root, f), "utf8").slice(0, 600)));
const testFiles = walk(join(root, "tests")).filter((f) => f.endsWith(".test.ts")).map((f) => relative(root, f));
// The longest first: they run beside the others.
const interop = testFiles.filter((f) => f.startsWith("tests/interop")).sort((a, b) => length(b) - length(a));
const inBrowser = testFiles.filter((f) => f.startsWith("tests/browser"));
const deno = bin("deno");
const hasDeno = deno !== undefined && (await run(deno, ["--version"])).status === 0;
/** npm's `deno` is a program that starts this one, and hands no signal on. */
const denoItself = [join(root, "node_modules/deno/deno"), deno].find((path) => path !== undefined && existsSync(path));
const noDeno = "the npm package deno has no binary here";
const cargo = which("cargo");
const temporal = process.env.TEMPORAL_CLI ?? which("temporal") ?? [join(homedir(), "go/bin/temporal")].find((p) => existsSync(p));

const noTemporal = "no Temporal dev server (set TEMPORAL_CLI, or: go install github.com/temporalio/cli/cmd/temporal@v1.5.1)";
/** Files at a time: each has a server of its own and waits for it most of the time. */
const INTEROP_JOBS = 4;

/** Minutes after which a suite is given up; each takes a third of it or less. */
const MINUTES = {
  rust: 12,
  node: 14,
  deno: 17,
  chromium: 10,
  firefox: 10,
  browser: 10,
  "web-demo": 10,
  interop: 12,
  "interop-deno": 12,
  package: 10,
};
const OTHERS_MINUTES = 6;
/** Of one file of node's tests. */
const FILE_MINUTES = 6;
/** For all together, from the start of .ci/run: a suite that hangs must not take the results of the others along. */
const ALL_MINUTES = 48;
/** A machine that nobody waits for may be slow. */
const patience = process.env.CI ? 60_000 : 3 * 60_000;
const end = (Number(process.env.CI_BEGAN ?? 0) * 1000 || Date.now()) + ALL_MINUTES * patience;
let deadline = Infinity;
const running = [];
/** As `run`, within the time of the suite. */
const runInTime = async (cmd, argv, opts = {}) => {
  const r = await run(cmd, argv, { ...opts, timeoutMs: Math.max(1000, deadline - Date.now()) });
  running.push(...r.left);
  return r;
};

/** Rooms of tests whose files run in this process alone and end within seconds. */
const QUICK = ["codec", "compat", "converter", "executor", "house", "metrics", "runtime", "service"];
if (isQuick) names.push("format", "lint", "types", "generated", "build", "node");

const one = (status, output) => ({ passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: 0, output });
const skip = (reason) => ({ passed: 0, failed: 0, skipped: 1, reason });
const command = async (cmd, argv, opts) => {
  const r = await runInTime(cmd, argv, opts);
  return one(r.status, r.output);
};
/** Counts of tools/lib/test_reporter.mjs, whose other lines are the failures. */
const nodeTests = async (files, opts = {}, concurrency = 2) => {
  if (files.length === 0) return { passed: 0, failed: 0, skipped: 0, output: "" };
  const flags = [
    `--test-reporter=${join(root, "tools/lib/test_reporter.mjs")}`,
    "--test-reporter-destination=stdout",
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${FILE_MINUTES * patience}`,
  ];
  const r = await runInTime(process.execPath, ["--test", ...flags, ...files], {
    env: { FORCE_COLOR: "0" },
    lastWords: "SIGTERM",
    ...opts,
  });
  const count = (what) => Number(new RegExp(`^# ${what} (\\d+)$`, "m").exec(r.output)?.[1] ?? 0);
  const skippedNames = [...r.output.matchAll(/^skipped: (.*)$/gm)].map((m) => m[1]);
  const failed = Math.max(count("fail"), r.status === 0 ? 0 : 1);
  return { passed: count("pass"), failed, skipped: count("skipped"), skippedNames, output: r.output };
};
/**
 * Counts of Deno's last line. Deno 2.9.5 may abort its whole process in nghttp2 when the other side of a connection says goodbye
 * (docs/dev/decisions/044-goaway-in-deno.md), and takes all results with it. That one abort, and nothing else, is tried once more, and the suite's line says so.
 */
const ABORTED = /nghttp2\S*: int find_stream_on_goaway_func.*Assertion/;
const denoTests = async (files, { env = {}, jobs = 1 } = {}) => {
  const once = () =>
    runInTime(denoItself, ["test", "-A", "--no-check", "--quiet", ...(jobs > 1 ? ["--parallel"] : []), ...files], {
      env: { NO_COLOR: "1", DENO_JOBS: String(jobs), ...env },
      // It names the tests that have not ended.
      lastWords: "SIGINT",
    });
  const line = /(\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed(?: \(\d+ steps?\))?(?: \| (\d+) ignored)?/g;
  const counts = (output) => [...output.matchAll(line)].at(-1) ?? null;
  let r = await once();
  let reason;
  if (counts(r.output) === null && ABORTED.test(r.output)) {
    reason = "Deno aborted in nghttp2 and was run again";
    r = await once();
  }
  const m = counts(r.output);
  const failed = m ? Number(m[2]) : 1;
  return {
    passed: Number(m?.[1] ?? 0),
    failed: r.status === 0 ? failed : Math.max(1, failed),
    skipped: Number(m?.[3] ?? 0),
    output: r.output,
    ...(reason !== undefined && { reason }),
  };
};
/** A tool that bundles for browsers, runs, and ends with a line of counts. */
const bundled = async (...argv) => {
  if (!bin("esbuild")) return skip("esbuild is not installed");
  const r = await runInTime(process.execPath, argv);
  const m = /^(\d+) passed, (\d+) failed, (\d+) skipped(?:: (.*))?$/m.exec(r.output);
  if (!m) return one(1, r.output);
  const skippedNames = [...r.output.matchAll(/^skipped: (.*)$/gm)].map((m) => m[1]);
  return { passed: +m[1], failed: +m[2], skipped: +m[3], reason: m[4], skippedNames, output: r.output };
};
const dist = (files) => files.map((f) => join(root, "dist", f.replace(/\.ts$/, ".js")));

const suites = {
  format: async () => (hasDeno ? command(deno, ["fmt", "--check", "-q"]) : skip(noDeno)),
  lint: async () => (hasDeno ? command(deno, ["lint", "-q"]) : skip(noDeno)),
  types: async () => (bin("tsc") ? command(bin("tsc"), ["-p", "tsconfig.json"]) : skip("typescript is not installed")),
  generated: () => command(process.execPath, ["tools/check_generated.mjs"]),
  build: () => command(process.execPath, ["tools/build_dist.mjs"]),
  node: () => {
    const files = testFiles.filter((f) => !interop.includes(f) && !inBrowser.includes(f)).filter((f) =>
      !isQuick || QUICK.includes(f.split("/")[1])
    );
    return nodeTests(dist(files), { env: { TEST_NAME: "node", FORCE_COLOR: "0" } });
  },
  deno: () => (hasDeno ? denoTests(forDeno(testFiles.filter((f) => !interop.includes(f)))) : skip(noDeno)),
  chromium: () => bundled("tools/test_browser.mjs", "--browser=chromium"),
  firefox: () => bundled("tools/test_browser.mjs", "--browser=firefox"),
  "cross-engine": () => bundled("tools/soak/cross_engine.mjs"),
  // One file after the other: each has a browser of its own.
  browser: () => (bin("esbuild") ? nodeTests(dist(inBrowser), {}, 1) : skip("esbuild is not installed")),
  // The built page, in a browser.
  "web-demo": async () => {
    if (!bin("vite")) return skip("vite is not installed");
    const built = await runInTime(process.execPath, ["tools/demo.mjs", "--build-only"]);
    if (built.status !== 0) return one(1, built.output);
    const files = walk(join(root, "web-demo/tests")).filter((f) => f.endsWith(".test.mjs"));
    return nodeTests(files, { env: { DEMO_IS_BUILT: "1", FORCE_COLOR: "0" } }, 1);
  },
  rust: async () => {
    if (!cargo) return skip("no cargo: the committed module is used as it is");
    const opts = { cwd: join(root, "core-rs") };
    const fmt = await runInTime(cargo, ["fmt", "--check"], opts);
    const clippy = await runInTime(cargo, ["clippy", "-q", "--locked", "--all-targets", "--", "-D", "warnings"], opts);
    const test = await runInTime(cargo, ["test", "--locked", "--no-fail-fast"], opts);
    const sum = (re) => [...test.output.matchAll(re)].reduce((n, m) => n + Number(m[1]), 0);
    // Tests over histories that lie beside the checkout say so when those are absent; cargo counts them as passed.
    const absent = [...test.output.matchAll(/^SKIPPED (.*)$/gm)].map((m) => m[1]);
    const failed = sum(/(\d+) failed;/g) + (fmt.status === 0 ? 0 : 1) + (clippy.status === 0 ? 0 : 1);
    return {
      passed: sum(/(\d+) passed;/g) - absent.length + (fmt.status === 0 ? 1 : 0) + (clippy.status === 0 ? 1 : 0),
      failed: test.status === 0 ? failed : Math.max(1, failed),
      skipped: sum(/(\d+) ignored;/g) + absent.length,
      skippedNames: absent,
      output: [fmt, clippy, test].filter((r) => r.status !== 0).map((r) => r.output).join("\n"),
    };
  },
  "core-rebuild": async () => {
    if (process.env.SKIP_CORE_REBUILD) return skip("SKIP_CORE_REBUILD is set");
    const { missing } = await import("./ensure_wasm_toolchain.mjs");
    const gaps = missing();
    if (gaps.length > 0) return skip(`cannot rebuild the module: missing ${gaps.join("; ")}`);
    return command(process.execPath, ["tools/check_generated.mjs", "--rebuild"]);
  },
  package: async () => {
    for (const needed of ["esbuild", "tsc"]) if (!bin(needed)) return skip(`${needed} is not installed`);
    const r = await runInTime(process.execPath, ["tests/package/run.mjs"]);
    const m = /^(\d+) passed, (\d+) failed, (\d+) skipped(?:: (.*))?$/m.exec(r.output);
    if (!m) return one(1, r.output);
    return { passed: +m[1], failed: +m[2], skipped: +m[3], reason: m[4], output: r.output };
  },
  interop: async () => {
    if (!temporal) return skip(noTemporal);
    const absent = await ensureOfficial();
    const env = { TEMPORAL_CLI: temporal, FORCE_COLOR: "0" };
    return { ...await nodeTests(dist(interop), { env }, INTEROP_JOBS), reason: absent };
  },
  "interop-deno": async () => {
    if (!temporal) return skip(noTemporal);
    if (!hasDeno) return skip(noDeno);
    const absent = await ensureOfficial();
    return {
      ...await denoTests(forDeno(interop), { env: { TEMPORAL_CLI: temporal }, jobs: INTEROP_JOBS }),
      ...(absent !== undefined && { reason: absent }),
    };
  },
};

if (flags.has("--list")) {
  say(Object.keys(suites).join("\n"));
  process.exit(0);
}
const unknown = names.filter((n) => !(n in suites));
if (unknown.length > 0) {
  console.error(`no suite named ${unknown.join(", ")}; there are: ${Object.keys(suites).join(", ")}`);
  process.exit(2);
}
if (isQuick) {
  const rooms = new Set(testFiles.map((f) => f.split("/")[1]).filter((room) => !QUICK.includes(room)));
  const left = Object.keys(suites).filter((name) => !names.includes(name));
  say(dim(`quick leaves out the suites ${left.join(", ")} and of tests/ ${[...rooms].sort().join(", ")}`));
}
const total = { passed: 0, failed: 0, skipped: 0 };
const report = [];
for (const [name, suite] of Object.entries(suites)) {
  if (
    names.length > 0 && !names.includes(name) &&
    !(name === "build" &&
      names.some((n) => ["node", "cross-engine", "browser", "web-demo", "interop", "interop-deno"].includes(n)))
  ) {
    continue;
  }
  const t0 = Date.now();
  deadline = Math.min(t0 + (MINUTES[name] ?? OTHERS_MINUTES) * patience, end);
  const r = deadline - t0 < 10_000 ? { ...one(1, ""), reason: "not run: the suites before it took all the time" } : await suite();
  const seconds = ((Date.now() - t0) / 1000).toFixed(1);
  total.passed += r.passed;
  total.failed += r.failed;
  total.skipped += r.skipped;
  report.push({
    suite: name,
    passed: r.passed,
    failed: r.failed,
    skipped: r.skipped,
    seconds: Number(seconds),
    ...(r.reason ? { reason: r.reason } : {}),
  });
  if (!flags.has("--json")) {
    const counts = `${r.passed} passed, ${r.failed} failed, ${r.skipped} skipped`;
    say(
      `${r.failed > 0 ? red("FAIL") : r.passed === 0 && r.skipped > 0 ? "skip" : "ok  "} ${bold(name.padEnd(13))} ${counts} ${
        dim(`${seconds} s`)
      }${r.reason ? ` - ${r.reason}` : ""}`,
    );
    for (const n of r.skippedNames ?? []) say(`       skipped: ${n}`);
    for (const command of running.splice(0)) say(`       left running, and ended: ${command.slice(0, 150)}`);
    if (r.failed > 0 || flags.has("--verbose")) say(failuresOf(r.output ?? ""));
  }
}
if (flags.has("--json")) say(JSON.stringify({ suites: report, ...total }));
say(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;

/** The useful part of a long output: of node's tests the failures, of Deno's what stands behind the last test, else the tail. */
function failuresOf(output) {
  if (flags.has("--verbose")) return output;
  const most = 60_000;
  const failed = output.search(/^not ok - /m);
  const errors = output.indexOf("\n ERRORS \n");
  if (failed >= 0) output = output.slice(failed);
  else if (errors >= 0) output = output.slice(errors);
  else return output.length > 12_000 ? `…\n${output.slice(-12_000)}` : output;
  return output.length > most ? `${output.slice(0, most / 2)}\n…\n${output.slice(-most / 2)}` : output;
}
