// Runs test files in Node, each in a separate process, in the given order: `node --test` would
// begin with A, and end with the longest file running alone. Each file is a separate run, so that
// its events arrive at once, and its time is known.
// JOBS is the number of files at a time, or LEAST-MOST: more than LEAST while processors are idle.
//   node run_node_tests.mjs JOBS TIMEOUT_MS FILE...
import { writeSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { run } from "node:test";
import { runJobs } from "./idle_jobs.mjs";
import { Report } from "./test_reporter.mjs";

const [jobs, timeout, ...files] = process.argv.slice(2);
// Each run listens for the end of the process.
process.setMaxListeners(0);
const report = new Report();
process.prependOnceListener("SIGTERM", () => {
  writeSync(1, report.unfinished());
  process.exit(143);
});

async function runFile(file) {
  const began = performance.now();
  // Not by the option `timeout`: from Node 24 on that ends a file's tests, and not its process,
  // which what is open then keeps.
  const signal = AbortSignal.timeout(Number(timeout));
  for await (const event of run({ files: [file], concurrency: 1, signal })) {
    const text = report.take(event, file);
    if (text !== "") process.stdout.write(text);
    if (event.type === "test:fail" && event.data.todo === undefined) process.exitCode = 1;
  }
  report.took(file, performance.now() - began);
}
const [least, most = least] = jobs.split("-").map(Number);
await runJobs(files.map((file) => resolve(file)), runFile, { least, most });
process.stdout.write(report.unfinished() + report.times() + report.end());
