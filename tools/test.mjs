#!/usr/bin/env node
// `npm test`: every kind of test that this machine can run, one line per suite, skipped ones by name with the reason, and at the end one
// line `N passed, N failed, N skipped`. Needs Node and npm alone; Rust, Go's Temporal dev server and Deno or Chromium binaries are used
// when present.
import { BARE_SUITES, BareCheckout } from "./lib/bare_checkout.mjs";
import { leaveWithParent } from "./lib/leave.mjs";
import { bold, dim, ensureInstalled, patience, red, run, say } from "./lib/steps.mjs";

const args = process.argv.slice(2);
if (args.includes("--help") || args.includes("-h")) {
  say(`usage: npm test [-- SUITE... | quick] [--bare] [--json] [--verbose] [--times] [--list]

Runs all suites, or those named. \`quick\` is for the loop of a contributor: format, lint, types, generated files, and the test files in
Node that take less than three seconds; it takes one to three minutes, and names what it leaves out.
--bare runs the suites ${BARE_SUITES.join(", ")} as on a machine with Node and npm alone: in a fresh clone
of the last commit, with a PATH of node, npm, git and core utilities.
--list prints the names of the suites. --verbose prints the output of passing suites too, --times how long each file took.
Environment: CHROMIUM_PATH, FIREFOX_PATH, TEMPORAL_CLI (the dev server's binary), SKIP_CORE_REBUILD=1.`);
  process.exit(0);
}
const flags = new Set(args.filter((a) => a.startsWith("--")));
const bare = flags.has("--bare") ? new BareCheckout() : undefined;
process.on("exit", () => bare?.remove());
const isQuick = args.includes("quick");
const names = args.filter((a) => !a.startsWith("--") && a !== "quick");
leaveWithParent();
ensureInstalled();
// What needs the packages comes after they are there.
const { longFiles, OF_DIST, suitesOf } = await import("./lib/suites.mjs");

/** Minutes after which a suite is given up; each takes a third of it or less. */
const MINUTES = {
  rust: 20,
  node: 20,
  deno: 17,
  chromium: 10,
  firefox: 10,
  browser: 10,
  "web-demo": 20,
  interop: 18,
  "interop-deno": 15,
  package: 15,
};
const OTHERS_MINUTES = 6;
/** For the clone, its packages and its build, so that a suite there reaches its own limit and reports it. */
const PREPARATION_MINUTES = 4;
/** For all together, from the start of .ci/run: a suite that hangs must not take the results of the others along. */
const ALL_MINUTES = 76;
/**
 * Suites that run at the same time, after all others: each stage has rows of suites. Those of a stage wait for pages, servers, downloads and
 * single threads most of the time.
 */
const STAGES = [
  [["chromium"], ["firefox", "cross-engine"]],
  [["web-demo"]],
  [["rust", "core-rebuild", "package", "browser"], ["interop", "interop-deno"]],
];
const end = (Number(process.env.CI_BEGAN ?? 0) * 1000 || Date.now()) + ALL_MINUTES * patience;

const isBare = (name) => bare !== undefined && BARE_SUITES.includes(name);

/** Runs one suite within its time: its result, its seconds, and what it left running. */
async function measured(name) {
  const t0 = Date.now();
  const minutes = (MINUTES[name] ?? OTHERS_MINUTES) + (isBare(name) ? PREPARATION_MINUTES : 0);
  const deadline = Math.min(t0 + minutes * patience, end);
  const running = [];
  const runInTime = async (cmd, argv, opts = {}) => {
    const { mostMs = Infinity, ...rest } = opts;
    const r = await run(cmd, argv, { ...rest, timeoutMs: Math.max(1000, Math.min(mostMs, deadline - Date.now())) });
    running.push(...r.left);
    return r;
  };
  const result = deadline - t0 < 10_000
    ? { passed: 0, failed: 1, skipped: 0, output: "", reason: "not run: the suites before it took all the time" }
    : isBare(name)
    ? await bare.suite(name, runInTime)
    : await suitesOf(runInTime, isQuick)[name]();
  return { name, running, seconds: ((Date.now() - t0) / 1000).toFixed(1), ...result };
}

const all = Object.keys(suitesOf());
if (flags.has("--list")) {
  say(all.join("\n"));
  process.exit(0);
}
const unknown = names.filter((n) => !all.includes(n));
if (unknown.length > 0) {
  console.error(`no suite named ${unknown.join(", ")}; there are: ${all.join(", ")}`);
  process.exit(2);
}
const total = { passed: 0, failed: 0, skipped: 0 };
const report = [];
if (isQuick) {
  names.push("format", "lint", "types", "generated", "build", "node");
  const left = all.filter((name) => !names.includes(name));
  const files = longFiles().map((file) => file.replace(/^tests\/|\.test\.ts$/g, "")).sort();
  say(dim(`quick leaves out the suites ${left.join(", ")}, and of node's files ${files.join(", ")}`));
}
const wanted = all.filter((name) =>
  names.length === 0 || names.includes(name) || (name === "build" && names.some((n) => OF_DIST.includes(n) && !isBare(n)))
);
if (isQuick) {
  // All at once: each of the others is one process, and waits for nobody. Only `node` needs what `build` makes.
  const built = measured("build");
  const started = wanted.map(async (name) => {
    if (name === "build") return await built;
    if (name === "node") await built;
    return await measured(name);
  });
  for (const result of started) told(await result);
} else {
  const inRow = async (names) => {
    for (const name of names) told(await measured(name));
  };
  await inRow(wanted.filter((name) => !STAGES.flat(2).includes(name)));
  for (const rows of STAGES) await Promise.all(rows.map((names) => inRow(names.filter((name) => wanted.includes(name)))));
}
if (flags.has("--json")) say(JSON.stringify({ suites: report, ...total }));
say(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;

function told({ name, seconds, running, ...r }) {
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
    ...(r.skippedNames?.length ? { skippedNames: r.skippedNames } : {}),
    ...(r.times?.length ? { times: r.times } : {}),
    ...(r.failed > 0 ? { output: failuresOf(r.output ?? "") } : {}),
  });
  if (flags.has("--json")) return;
  const counts = `${r.passed} passed, ${r.failed} failed, ${r.skipped} skipped`;
  const reason = [isBare(name) ? "bare machine" : "", r.reason].filter(Boolean).join("; ");
  const verdict = r.failed > 0 ? red("FAIL") : r.passed === 0 && r.skipped > 0 ? "skip" : "ok  ";
  say(`${verdict} ${bold(name.padEnd(13))} ${counts} ${dim(`${seconds} s`)}${reason ? ` - ${reason}` : ""}`);
  for (const n of r.skippedNames ?? []) say(`       skipped: ${n}`);
  for (const command of running) say(`       left running, and ended: ${command.slice(0, 150)}`);
  if (flags.has("--times")) { for (const line of r.times ?? []) say(`       ${line}`); }
  if (r.failed > 0 || flags.has("--verbose")) say(failuresOf(r.output ?? ""));
}

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
