// Which test file runs which code: each test file once, with V8's block coverage of all its
// processes and threads. Types are stripped in place, so a position in dist/ is on the line that it
// has in the source.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runTestFile } from "./test_file.mjs";

const MAX_MS = 300_000;

/**
 * Runs what is missing in `path`. Returns, by test file, its time, whether it passes, and the
 * functions' ranges by file.
 */
export async function collect({ base, path, tests, files, jobs, progress }) {
  const known = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  const wanted = tests.filter((test) => known[test] === undefined);
  let done = 0;
  await Promise.all(Array.from({ length: jobs }, async () => {
    for (let test = wanted.shift(); test !== undefined; test = wanted.shift()) {
      const folder = mkdtempSync(join(tmpdir(), "mutate-coverage-"));
      const { outcome, ms, failure } = await runTestFile(base, test, {
        timeoutMs: MAX_MS,
        env: { NODE_V8_COVERAGE: folder },
        all: true,
      });
      known[test] = { outcome, ms, failure, files: rangesOf(folder, base, files) };
      rmSync(folder, { recursive: true, force: true });
      writeFileSync(path, JSON.stringify(known));
      progress(`coverage: ${++done} done, ${wanted.length} left: ${test} ${outcome} in ${ms} ms`);
    }
  }));
  return Object.fromEntries(tests.map((test) => [test, known[test]]));
}

/**
 * By file, a list for each process of its functions' ranges: [start, end, count], outer ones first.
 */
function rangesOf(folder, base, files) {
  const prefix = `${pathToFileURL(join(base, "dist")).href}/`;
  const wanted = new Set(files);
  const found = {};
  for (const name of readdirSync(folder)) {
    let report;
    try {
      report = JSON.parse(readFileSync(join(folder, name), "utf8"));
    } catch {
      // A process that was killed while it wrote.
      continue;
    }
    for (const { url, functions } of report.result) {
      const file = url.startsWith(prefix)
        ? url.slice(prefix.length).replace(/\?.*$/, "")
        : undefined;
      if (!wanted.has(file)) continue;
      const ranges = functions.flatMap((f) =>
        f.ranges.map((r) => [r.startOffset, r.endOffset, r.count > 0 ? 1 : 0])
      );
      (found[file] ??= []).push(ranges);
    }
  }
  return found;
}

/**
 * Whether a test file ran the code at a position: the smallest range around it says so, in any of
 * its processes.
 */
export function covers(record, file, position) {
  return (record.files[file] ?? []).some((ranges) => {
    let smallest;
    for (const range of ranges) {
      const around = range[0] <= position && position < range[1];
      if (around && (smallest === undefined || range[1] - range[0] <= smallest[1] - smallest[0])) {
        smallest = range;
      }
    }
    return smallest !== undefined && smallest[2] > 0;
  });
}
