// Runs test files in Node, each in a process of its own, in the order in which they are given: `node --test` would begin with A, and end
// with the longest file running alone.
//   node run_node_tests.mjs JOBS TIMEOUT_MS FILE...
import { resolve } from "node:path";
import process from "node:process";
import { run } from "node:test";
import report from "./test_reporter.mjs";

const [jobs, timeout, ...files] = process.argv.slice(2);
const events = run({ files: files.map((file) => resolve(file)), concurrency: Number(jobs), timeout: Number(timeout) });
events.on("test:fail", ({ todo }) => {
  if (todo === undefined) process.exitCode = 1;
});
const text = report(events);
// The reporter's own listener comes first, and names what was running.
process.once("SIGTERM", () => process.exit(143));
for await (const lines of text) process.stdout.write(lines);
