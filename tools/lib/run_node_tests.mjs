// Runs test files in Node, in the given order: `node --test` would begin with A, and end with the
// longest file running alone. Each process is a separate run, so that its events arrive at once,
// and the time of each file is known.
// JOBS is the number of processes at a time, or LEAST-MOST: more than LEAST while processors are
// idle. Files joined by commas share a process.
//   node run_node_tests.mjs JOBS TIMEOUT_MS FILE[,FILE...]...
import { mkdtempSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { run } from "node:test";
import { pathToFileURL } from "node:url";
import { runJobs } from "./idle_jobs.mjs";
import { GroupEvents } from "./test_groups.mjs";
import { Report } from "./test_reporter.mjs";

const [jobs, timeout, ...groups] = process.argv.slice(2);
// Each run listens for the end of the process.
process.setMaxListeners(0);
const report = new Report();
const folder = mkdtempSync(join(tmpdir(), "temporalex-groups-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
process.prependOnceListener("SIGTERM", () => {
  writeSync(1, report.unfinished());
  process.exit(143);
});

function take(event, file) {
  const text = report.take(event, file);
  if (text !== "") process.stdout.write(text);
  if (event.type === "test:fail" && event.data.todo === undefined) process.exitCode = 1;
}

/** The events of one process. */
function eventsOf(file) {
  // Not by the option `timeout`: from Node 24 on that ends a file's tests, and not its process,
  // which what is open then keeps.
  const signal = AbortSignal.timeout(Number(timeout));
  return run({ files: [file], concurrency: 1, signal });
}

/** In Linux; hundredths of a second, as `getconf CLK_TCK` prints almost everywhere. */
function cpuOfEndedChildren() {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return undefined;
  }
}

let cpuBefore = cpuOfEndedChildren();
/**
 * CPU time of a process that has just ended and of the children that it waited for, in seconds.
 * Browsers that run on are not in it.
 */
function cpuOfLast() {
  const now = cpuOfEndedChildren();
  if (now === undefined || cpuBefore === undefined) return undefined;
  const spent = now - cpuBefore;
  cpuBefore = now;
  return spent;
}

async function runFile(file) {
  const began = performance.now();
  for await (const event of eventsOf(file)) take(event, file);
  report.took(file, performance.now() - began, cpuOfLast());
}

let written = 0;
async function runGroup(files) {
  const entry = join(folder, `${++written}.mjs`);
  const module = new URL("./test_groups.mjs", import.meta.url);
  const list = files.map((path) => ({ path, url: pathToFileURL(path).href }));
  writeFileSync(
    entry,
    `import { runTogether } from ${JSON.stringify(module)};\nawait runTogether(${
      JSON.stringify(list)
    });\n`,
  );
  const group = new GroupEvents(files, { take, took: (file, ms) => report.took(file, ms) });
  for await (const event of eventsOf(entry)) group.event(event);
  report.tookTogether(cpuOfLast());
  for (const file of group.left) {
    const error = `not run to its end: its process had ended (with ${files.join(", ")})`;
    take({ type: "test:fail", data: { name: file, nesting: 0, details: { error } } }, file);
    report.lost();
  }
}

const [least, most = least] = jobs.split("-").map(Number);
await runJobs(
  groups.map((names) => names.split(",").map((file) => resolve(file))),
  (files) => files.length === 1 ? runFile(files[0]) : runGroup(files),
  { least, most },
);
process.stdout.write(report.unfinished() + report.times() + report.end());
