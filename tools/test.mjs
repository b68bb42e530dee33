#!/usr/bin/env node
// `npm test`: one line per suite, skipped tests by name with the reason, and at the end one line `N
// passed, N failed, N skipped`. Needs Node and npm alone; Rust, Temporal's development server, Deno
// and browsers are used when present. tools/lib/tiers.mjs has what `quick`, the usual run and `all`
// contain.
import { BARE_SUITES, BareCheckout } from "./lib/bare_checkout.mjs";
import { readCommandLine } from "./lib/command_line.mjs";
import { leaveWithParent } from "./lib/leave.mjs";
import { bold, dim, ensureInstalled, patience, red, run, say } from "./lib/steps.mjs";

const HELP =
  `usage: npm test [-- SUITE... | quick | all] [--bare] [--json] [--verbose] [--times] [--write-times] [--list]

Without a name: the usual run, about ten minutes on two cores. It covers each promise of docs/guarantees.md and prints what it leaves out.
quick      format, lint, types, generated files, and the short test files in Node: one to three minutes
all        each suite that this machine can run, as CI does: about an hour on two cores
SUITE...   the named suites, complete

--list         print the names of the suites
--bare         run the suites ${BARE_SUITES.join(", ")} with Node and npm only:
               in a fresh clone of the last commit, with a PATH of node, npm, git and core utilities
--json         print the results as JSON at the end
--verbose      print the output of suites that pass, too
--times        print the time of each file
--write-times  write the times into the heads of the files ("// takes:"); long files start first
Environment: CHROMIUM_PATH, FIREFOX_PATH, TEMPORAL_CLI (the dev server's binary), SKIP_CORE_REBUILD=1.`;
const FLAGS = ["bare", "json", "verbose", "times", "write-times", "list"];
const { values, positionals: args } = readCommandLine(
  HELP,
  Object.fromEntries(FLAGS.map((name) => [name, { type: "boolean" }])),
  { most: Infinity },
);
const flags = new Set(Object.keys(values).map((name) => `--${name}`));
const bare = flags.has("--bare") ? new BareCheckout() : undefined;
process.on("exit", () => bare?.remove());
const TIERS = ["quick", "all"];
const names = args.filter((a) => !TIERS.includes(a));
/** A suite that is named runs whole. */
const tier = TIERS.find((name) => args.includes(name)) ?? (names.length > 0 ? "all" : "usual");
leaveWithParent();
ensureInstalled();
// What needs the packages comes after they are there.
const { OF_DIST, suitesOf } = await import("./lib/suites.mjs");
const { backgroundOf, omittedFiles, stagesOf, suitesOfTier } = await import("./lib/tiers.mjs");

/** Timeout of a suite in minutes; each takes two thirds of it or less, next to others. */
const MINUTES = {
  // In the background: on a busy machine these two take as long as all others.
  rust: 80,
  "core-rebuild": 80,
  node: 45,
  deno: 40,
  chromium: 25,
  firefox: 30,
  browser: 15,
  "web-demo": 35,
  interop: 30,
  "interop-deno": 30,
  package: 20,
};
const OTHERS_MINUTES = 6;
/**
 * For the clone, its packages and its build, so that a suite there reaches its own limit and
 * reports it.
 */
const PREPARATION_MINUTES = 4;
/**
 * For all together, from the start of .ci/run: a suite that hangs must not take the results of the
 * others along.
 */
const ALL_MINUTES = 88;
const end = (Number(process.env.CI_BEGAN ?? 0) * 1000 || Date.now()) + ALL_MINUTES * patience;

/**
 * Of the suites in the background ("nice"). With the lowest one they did not end before the others,
 * which keep all processors busy.
 */
const BACKGROUND_PRIORITY = 5;

const isBare = (name) => bare !== undefined && BARE_SUITES.includes(name);

/**
 * Runs one suite within its time: its result, its seconds, and what it left running. `priority` is
 * that of its processes.
 *
 * @param {string} name
 * @param {number} [priority]
 */
async function measured(name, priority) {
  const t0 = Date.now();
  const minutes = (MINUTES[name] ?? OTHERS_MINUTES) + (isBare(name) ? PREPARATION_MINUTES : 0);
  const deadline = Math.min(t0 + minutes * patience, end);
  const running = [];
  const runInTime = async (cmd, argv, opts = {}) => {
    const { mostMs = Infinity, ...rest } = opts;
    const r = await run(cmd, argv, {
      ...rest,
      priority,
      timeoutMs: Math.max(1000, Math.min(mostMs, deadline - Date.now())),
    });
    running.push(...r.left);
    return r;
  };
  const result = deadline - t0 < 10_000
    ? {
      passed: 0,
      failed: 1,
      skipped: 0,
      output: "",
      reason: "not run: the suites before it took all the time",
    }
    : isBare(name)
    ? await bare?.suite(name, runInTime)
    : await suitesOf(runInTime, tier)[name]();
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
if (names.length === 0) names.push(...(suitesOfTier(tier) ?? all));
if (tier !== "all") {
  const left = all.filter((name) => !names.includes(name));
  const files = omittedFiles(tier).map((file) =>
    file.replace(/^tests\/(?:unit\/)?|\.test\.ts$/g, "")
  ).sort();
  say(
    dim(
      `left out: the suites ${left.join(", ")}, and of node's files ${
        files.join(", ")
      } (npm run test:all runs everything)`,
    ),
  );
}
const wanted = all.filter((name) =>
  names.includes(name) || (name === "build" && names.some((n) => OF_DIST.includes(n) && !isBare(n)))
);
async function runRow(row, priority) {
  for (const name of row) told(await measured(name, priority));
}
const background = runRow(backgroundOf(wanted), BACKGROUND_PRIORITY);
for (const rows of stagesOf(tier, wanted)) await Promise.all(rows.map((row) => runRow(row)));
await background;
if (flags.has("--write-times")) {
  const { writeTakes } = await import("./lib/takes.mjs");
  say(
    `times written into ${
      writeTakes(report.find(({ suite }) => suite === "node")?.times ?? [])
    } files`,
  );
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
  say(
    `${verdict} ${bold(name.padEnd(13))} ${counts} ${dim(`${seconds} s`)}${
      reason ? ` - ${reason}` : ""
    }`,
  );
  for (const n of r.skippedNames ?? []) say(`       skipped: ${n}`);
  for (const command of running) say(`       left running, and ended: ${command.slice(0, 150)}`);
  if (flags.has("--times")) { for (const line of r.times ?? []) say(`       ${line}`); }
  if (r.failed > 0 || flags.has("--verbose")) say(failuresOf(r.output ?? ""));
}

/**
 * The useful part of a long output: of node's tests the failures, of Deno's the part after the last
 * test, else the tail.
 */
function failuresOf(output) {
  if (flags.has("--verbose")) return output;
  const most = 60_000;
  const failed = output.search(/^not ok - /m);
  const errors = output.indexOf("\n ERRORS \n");
  if (failed >= 0) output = output.slice(failed);
  else if (errors >= 0) output = output.slice(errors);
  else return output.length > 12_000 ? `…\n${output.slice(-12_000)}` : output;
  return output.length > most
    ? `${output.slice(0, most / 2)}\n…\n${output.slice(-most / 2)}`
    : output;
}
