// The suites of `npm test`: each says what it found as { passed, failed, skipped, output, reason?,
// skippedNames? }.
import { existsSync } from "node:fs";
import { availableParallelism, homedir } from "node:os";
import { join } from "node:path";
import { denoBeside, denoTogether } from "./deno_tests.mjs";
import { launchFirefox } from "./firefox.mjs";
import { HALVES } from "./halves.mjs";
import { ensureOfficial } from "./official.mjs";
import { writeRealmImportMap } from "./realm_bundle.mjs";
import { bin, patience, root, run, which } from "./steps.mjs";
import { forDeno, inBrowser, inFirefox, interop } from "./test_files.mjs";
import { inProcesses } from "./test_groups.mjs";
import { denoFilesOf, nodeFilesOf, PAGE_STORIES } from "./tiers.mjs";

const deno = bin("deno");
const hasDeno = deno !== undefined && (await run(deno, ["--version"])).status === 0;
/** npm's `deno` is a program that starts this one, and hands no signal on. */
const denoItself = [join(root, "node_modules/deno/deno"), deno].find((path) =>
  path !== undefined && existsSync(path)
);
const noDeno = "the npm package deno has no binary here";
const cargo = which("cargo");
const temporal = process.env.TEMPORAL_CLI ?? which("temporal") ??
  [join(homedir(), "go/bin/temporal")].find((p) => existsSync(p));
const noTemporal =
  "no Temporal dev server (set TEMPORAL_CLI, or: go install github.com/temporalio/cli/cmd/temporal@v1.5.1)";

/**
 * Files at a time. Many wait for timers or for their child processes; one processor is left to
 * those, and more files start while processors are idle.
 */
const LEAST_JOBS = Math.max(2, availableParallelism() - 1);
const JOBS = { least: LEAST_JOBS, most: LEAST_JOBS + 1 };
const ONE_JOB = { least: 1, most: 1 };
/**
 * Files of interop at a time. Each has a separate server and waits for it most of the time; but
 * servers have time limits, so more than two files start only while processors are idle.
 */
const INTEROP_JOBS = { least: 2, most: 6 };
/** The same in Deno, which runs a fixed number of files. */
const INTEROP_JOBS_OF_DENO = 3;
/** Of one file of node's tests. Next to other suites a file of a minute may take six. */
const FILE_MINUTES = 10;

const one = (status, output) => ({
  passed: status === 0 ? 1 : 0,
  failed: status === 0 ? 0 : 1,
  skipped: 0,
  output,
});
const skip = (reason) => ({ passed: 0, failed: 0, skipped: 1, reason });
const dist = (files) => files.map((f) => join(root, "dist", f.replace(/\.ts$/, ".js")));
const linesOf = (output, re) => [...output.matchAll(re)].map((m) => m[1]);

/** Functions that run commands within the time of a suite; `runInTime` as for `suitesOf`. */
function makeRunners(runInTime) {
  const command = async (cmd, argv, opts) => {
    const r = await runInTime(cmd, argv, opts);
    return one(r.status, r.output);
  };

  /** Counts of tools/lib/test_reporter.mjs, whose other lines are the failures. */
  const nodeTests = async (files, opts = {}, jobs = JOBS) => {
    if (files.length === 0) return { passed: 0, failed: 0, skipped: 0, output: "" };
    const runner = join(root, "tools/lib/run_node_tests.mjs");
    const r = await runInTime(process.execPath, [
      runner,
      `${jobs.least}-${jobs.most}`,
      `${FILE_MINUTES * patience}`,
      ...inProcesses(files).map((group) => group.join(",")),
    ], {
      env: { FORCE_COLOR: "0" },
      lastWords: "SIGTERM",
      ...opts,
    });
    const count = (what) => Number(new RegExp(`^# ${what} (\\d+)$`, "m").exec(r.output)?.[1] ?? 0);
    return {
      passed: count("pass"),
      failed: Math.max(count("fail"), r.status === 0 ? 0 : 1),
      skipped: count("skipped"),
      skippedNames: linesOf(r.output, /^skipped: (.*)$/gm),
      times: linesOf(r.output, /^time: (.*)$/gm),
      output: r.output,
    };
  };

  /** A tool that ends with a line of counts. */
  const counted = async (...argv) => {
    const r = await runInTime(process.execPath, argv);
    const m = /^(\d+) passed, (\d+) failed, (\d+) skipped(?:: (.*))?$/m.exec(r.output);
    if (!m) return one(1, r.output);
    const skippedNames = linesOf(r.output, /^skipped: (.*)$/gm);
    const times = linesOf(r.output, /^time: (.*)$/gm);
    return {
      passed: +m[1],
      failed: +m[2],
      skipped: +m[3],
      reason: m[4],
      skippedNames,
      times,
      output: r.output,
    };
  };
  const bundled = (
    ...argv
  ) => (bin("esbuild") ? counted(...argv) : skip("esbuild is not installed"));
  return { command, nodeTests, counted, bundled };
}

/**
 * The suites by name, each a function. `runInTime` is `run` of steps.mjs with what is left of the
 * suite's time as its limit; `tier` leaves long files out of `node`.
 */
export function suitesOf(runInTime, tier) {
  const { command, nodeTests, counted, bundled } = makeRunners(runInTime);
  const inDeno = () => ({
    runInTime,
    deno: denoItself,
    patience,
    importMap: writeRealmImportMap(join(root, "dist"), join(root, ".build/deno_tests.json")),
  });
  return {
    format: () => (hasDeno ? command(deno, ["fmt", "--check", "-q"]) : skip(noDeno)),
    lint: () => (hasDeno ? command(deno, ["lint", "-q"]) : skip(noDeno)),
    types: async () => {
      if (!bin("tsc")) return skip("typescript is not installed");
      // After a small change a third of the time.
      const check = (project, state) =>
        command(bin("tsc"), ["-p", project, "--incremental", "--tsBuildInfoFile", state]);
      const sources = await check("tsconfig.json", ".build/types.tsbuildinfo");
      if (sources.failed > 0) return sources;
      return await check("tools/tsconfig.json", ".build/types_of_tools.tsbuildinfo");
    },
    generated: () => command(process.execPath, ["tools/check_generated.mjs"]),
    build: () => command(process.execPath, ["tools/build_dist.mjs"]),
    node: () =>
      nodeTests(dist(nodeFilesOf(tier)), { env: { TEST_NAME: "node", FORCE_COLOR: "0" } }),
    deno: () => (hasDeno ? denoBeside(inDeno(), forDeno(denoFilesOf(tier)), JOBS) : skip(noDeno)),
    chromium: () => bundled("tools/test_browser.mjs", "--browser=chromium"),
    firefox:
      () => (bin("esbuild") ? firefox(counted, nodeTests) : skip("esbuild is not installed")),
    "cross-engine": () => bundled("tools/soak/cross_engine.mjs", "--runtimes=node,deno,chromium"),
    // One file after the other: each has a separate browser.
    browser:
      () => (bin("esbuild")
        ? nodeTests(dist(inBrowser), {}, ONE_JOB)
        : skip("esbuild is not installed")),
    // The built page, in a browser.
    "web-demo": async () => {
      if (!bin("vite")) return skip("vite is not installed");
      const built = await runInTime(process.execPath, ["tools/demo.mjs", "--build-only"]);
      if (built.status !== 0) return one(1, built.output);
      return counted("web-demo/e2e/run.mjs", "--built", ...(tier === "usual" ? PAGE_STORIES : []));
    },
    rust: () => (cargo ? rust(runInTime) : skip("no cargo: the committed module is used as it is")),
    "core-rebuild": async () => {
      if (process.env.SKIP_CORE_REBUILD) return skip("SKIP_CORE_REBUILD is set");
      const { missing } = await import("../ensure_wasm_toolchain.mjs");
      const gaps = missing();
      if (gaps.length > 0) return skip(`cannot rebuild the module: missing ${gaps.join("; ")}`);
      return command(process.execPath, ["tools/check_generated.mjs", "--rebuild"]);
    },
    package: () => {
      for (const needed of ["esbuild", "tsc"]) {
        if (!bin(needed)) return skip(`${needed} is not installed`);
      }
      return counted("tests/system/package/run.mjs");
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
      const result = await denoTogether(inDeno(), forDeno(interop), {
        env: { TEMPORAL_CLI: temporal },
        jobs: INTEROP_JOBS_OF_DENO,
      });
      const reason = [result.reason, absent].filter((text) => text !== undefined).join("; ");
      return { ...result, ...(reason !== "" && { reason }) };
    },
  };
}

/** Suites that run what `build` makes. */
export const OF_DIST = [
  "node",
  "deno",
  "firefox",
  "cross-engine",
  "browser",
  "web-demo",
  "interop",
  "interop-deno",
];

/**
 * All that needs Firefox: the cases, the files of tests/system/browser for it, and random programs
 * compared with Node.
 */
async function firefox(counted, nodeTests) {
  const { browser, reason } = await launchFirefox();
  await browser?.close();
  if (reason !== undefined) return skip(`no browser: ${reason}`);
  const results = [
    await counted("tools/test_browser.mjs", "--browser=firefox"),
    await nodeTests(dist(inFirefox), {}, ONE_JOB),
    // The first of the programs: the suite cross-engine compares all of them in the other engines.
    await counted(
      "tools/soak/cross_engine.mjs",
      "--runtimes=node,firefox",
      ...["--programs=200", "--inline=40", "--histories=25"],
    ),
  ];
  const sum = (what) => results.reduce((n, result) => n + result[what], 0);
  return {
    passed: sum("passed"),
    failed: sum("failed"),
    skipped: sum("skipped"),
    skippedNames: results.flatMap(({ skippedNames = [] }) => skippedNames),
    times: results.flatMap(({ times = [] }) => times),
    output: results.filter(({ failed }) => failed > 0).map(({ output }) => output).join("\n"),
  };
}

async function rust(runInTime) {
  const opts = { cwd: join(root, "core-rs") };
  const fmt = await runInTime(cargo, ["fmt", "--check"], opts);
  const clippy = await runInTime(cargo, [
    "clippy",
    "-q",
    "--locked",
    "--all-targets",
    "--",
    "-D",
    "warnings",
  ], opts);
  const lints = [fmt, clippy];
  // Each half is built without the other; tests have both.
  for (const { feature } of Object.values(HALVES)) {
    const half = ["--lib", "--no-default-features", "--features", feature];
    lints.push(
      await runInTime(cargo, ["clippy", "-q", "--locked", ...half, "--", "-D", "warnings"], opts),
    );
  }
  const test = await runInTime(cargo, ["test", "--locked", "--no-fail-fast"], opts);
  const sum = (re) => [...test.output.matchAll(re)].reduce((n, m) => n + Number(m[1]), 0);
  // Tests over histories next to the checkout report when those are absent; cargo counts them as
  // passed.
  const absent = linesOf(test.output, /^SKIPPED (.*)$/gm);
  const failed = sum(/(\d+) failed;/g) + lints.filter((r) => r.status !== 0).length;
  return {
    passed: sum(/(\d+) passed;/g) - absent.length + lints.filter((r) => r.status === 0).length,
    failed: test.status === 0 ? failed : Math.max(1, failed),
    skipped: sum(/(\d+) ignored;/g) + absent.length,
    skippedNames: absent,
    output: [...lints, test].filter((r) => r.status !== 0).map((r) => r.output).join("\n"),
  };
}
