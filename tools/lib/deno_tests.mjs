// Runs test files in Deno, in groups with a separate process and timeout each. Deno 2.9.5 may end
// its whole process in nghttp2 when the peer closes a connection by GOAWAY
// (docs/dev/decisions/044-goaway-in-deno.md), by an assertion or in freed memory. A group that
// crashes or times out is run a second time, and the suite's line names its current test: a
// reproducible defect of this project fails the second time, too.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { runJobs } from "./idle_jobs.mjs";
import { takes } from "./test_files.mjs";
import { sharesProcess } from "./test_groups.mjs";

/** Seconds of a group, as its files tell them; and files, since each has its own loading. */
const GROUP = { seconds: 45, files: 30 };
/** Timeout of a group: many times its usual duration. */
const GROUP_MINUTES = 10;

const ASSERTION = /nghttp2\S*: int find_stream_on_goaway_func.*Assertion/;
const COUNTS =
  /(\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed(?: \(\d+ steps?\))?(?: \| (\d+) ignored)?/g;
const GIVEN_UP = /^\(timed out after (\d+) s\)$/m;

/** What became of one process: its counts, or why it has none. */
function judged(r) {
  const counts = [...r.output.matchAll(COUNTS)].at(-1);
  const late = GIVEN_UP.exec(r.output);
  if (late !== null) {
    const pending = [...r.output.matchAll(/^(.+) => (\S+\.test\.ts):\d+:\d+$/gm)].map((
      [, name, file],
    ) => `${file}: ${name}`);
    return {
      lost: `did not end within ${late[1]} s${
        pending.length > 0 ? ` (at ${pending.join(", ")})` : ""
      }`,
    };
  }
  if (counts === undefined && (ASSERTION.test(r.output) || r.signal === "SIGSEGV")) {
    return { lost: "crashed (nghttp2, or SIGSEGV)" };
  }
  return { counts };
}

/**
 * Runs one process; `minutes` limits it below what the suite has left.
 *
 * @param {any} how
 * @param {readonly string[]} files
 * @param {{ env?: object; jobs?: number; minutes?: number }} options
 */
async function runGroup(
  { runInTime, deno, patience, importMap },
  files,
  { env = {}, jobs = 1, minutes } = {},
) {
  const once = () =>
    runInTime(deno, [
      "test",
      "-A",
      "--no-check",
      "--quiet",
      ...(importMap === undefined ? [] : [`--import-map=${importMap}`]),
      ...(jobs > 1 ? ["--parallel"] : []),
      ...files,
    ], {
      env: { NO_COLOR: "1", DENO_JOBS: String(jobs), ...env },
      // It names the tests that have not ended.
      lastWords: "SIGINT",
      ...(minutes !== undefined && { mostMs: minutes * patience }),
    });
  let r = await once(), { counts, lost } = judged(r);
  let reason;
  if (lost !== undefined) {
    reason = `Deno ${lost}; run again`;
    r = await once();
    ({ counts, lost } = judged(r));
    if (lost !== undefined) reason = `Deno ${lost}, twice`;
  }
  const failed = counts ? Number(counts[2]) : 1;
  return {
    passed: Number(counts?.[1] ?? 0),
    failed: r.status === 0 ? failed : Math.max(1, failed),
    skipped: Number(counts?.[3] ?? 0),
    output: r.output,
    reasons: reason === undefined ? [] : [reason],
  };
}

/** Hooks of a file that would apply to the tests of all files of its process. */
const EACH = /^(?:beforeEach|afterEach)\(/m;

/**
 * Writes a file that imports those of a group that share a process: Deno loads and compiles the
 * package again for each file of its command line. Returns the files for the command line.
 */
function withShared(files, entry) {
  const shared = files.filter((file) =>
    sharesProcess(resolve(file)) && !EACH.test(readFileSync(resolve(file), "utf8"))
  );
  if (shared.length < 2) return files;
  const lines = shared.map((file) =>
    `await import(${JSON.stringify(pathToFileURL(resolve(file)).href)}).catch((error) =>
  Deno.test(${JSON.stringify(`${file} loads`)}, () => Promise.reject(error)));\n`
  );
  writeFileSync(entry, lines.join(""));
  return [entry, ...files.filter((file) => !shared.includes(file))];
}

const sum = (results) => {
  const of = (what) => results.reduce((n, result) => n + result[what], 0);
  const told = results.filter(({ failed }) => failed > 0);
  const reasons = results.flatMap((result) => result.reasons);
  return {
    passed: of("passed"),
    failed: of("failed"),
    skipped: of("skipped"),
    output: (told.length > 0 ? told : results).map(({ output }) => output).join("\n"),
    ...(reasons.length > 0 && { reason: reasons.join("; ") }),
  };
};

/**
 * All files in one process, `jobs` at a time: for files that wait most of the time. `how` is {
 * runInTime, deno, patience, importMap }.
 */
export const denoTogether = async (how, files, options) =>
  sum([await runGroup(how, files, options)]);

/**
 * In groups, `jobs.least` at a time and up to `jobs.most` while processors are idle; the longest
 * files first, so that no group runs alone at the end for long.
 */
export async function denoBeside(how, files, jobs) {
  const groups = [];
  for (const file of files) {
    const seconds = Math.max(1, takes(file));
    const room = (group) =>
      group.files.length < GROUP.files && group.seconds + seconds <= GROUP.seconds;
    const group = groups.find(room) ?? groups[groups.push({ seconds: 0, files: [] }) - 1];
    group.seconds += seconds;
    group.files.push(file);
  }
  groups.sort((a, b) => b.seconds - a.seconds);
  const results = [];
  const folder = mkdtempSync(join(tmpdir(), "temporalex-groups-"));
  try {
    await runJobs([...groups.entries()], async ([i, { files }]) => {
      const shared = withShared(files, join(folder, `${i}.test.ts`));
      results.push(await runGroup(how, shared, { minutes: GROUP_MINUTES }));
    }, jobs);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return sum(results);
}
