#!/usr/bin/env node
// Mutation tests: `node tools/mutate/main.mjs --sample 400 --seed 1 --rooms
// executor,engine,worker,client`. Draws small changes of the product's code at random, and runs for
// each the tests that execute the changed place, in Node, until one fails. A change that no test
// notices has survived: either a test is missing, or the code does nothing. It works on copies of
// dist/ (.build/mutate), so the checkout may change meanwhile; results are kept there, and the same
// command resumes an interrupted run.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { say } from "../lib/steps.mjs";
import { collect } from "./coverage.mjs";
import { mutantsOf } from "./operators.mjs";
import { judge } from "./judge.mjs";
import { home, makeBase, makeWorkspace } from "./workspace.mjs";

const USAGE =
  `usage: node tools/mutate/main.mjs [--sample 400] [--seed 1] [--rooms executor,engine,worker,client]
         [--jobs 2] [--budget SECONDS] [--only ID,...] [--from FILE] [--survivors] [--fresh] [--json]

Runs the tests against randomly drawn small changes of the code, and says which of them no test noticed.
  --budget     of test files, for each mutant, beginning with those that are likeliest to notice; default: no limit
  --only       these mutants alone (ids of an earlier run, or ts/FILE.js:LINE for all of a line)
  --from       those that survived in the results of another checkout, instead of a sample: found by what they do where, also in files
               that have moved since, in all rooms
  --survivors  those that survived so far, again, on dist/ as it is now: coverage is taken again for test files that changed
  --fresh      forgets earlier results and coverage
  --json       one JSON object at the end; progress goes to standard error`;

const { values } = parseArgs({
  options: {
    sample: { type: "string", default: "400" },
    seed: { type: "string", default: "1" },
    rooms: { type: "string", default: "executor,engine,worker,client" },
    jobs: { type: "string", default: "2" },
    budget: { type: "string", default: "Infinity" },
    only: { type: "string" },
    from: { type: "string" },
    survivors: { type: "boolean", default: false },
    fresh: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const [sample, seed, jobs] = [values.sample, values.seed, values.jobs].map(Number);
const budgetMs = Number(values.budget) * 1000;
if (values.help || ![sample, seed, jobs].every(Number.isInteger) || !(budgetMs > 0)) {
  say(USAGE);
  process.exit(values.help ? 0 : 2);
}

/** The folders of tests that a change in a room should not pass. */
const SUITES = {
  executor: ["system/runtime", "unit/executor", "unit/realm", "unit/testing", "unit/compat"],
  engine: [
    "unit/engine",
    "unit/client",
    "unit/app",
    "unit/testing",
    "system/runtime",
    "unit/crash_notes",
    "unit/api",
    "unit/dev",
    "unit/what_if",
  ],
  worker: [
    "unit/worker",
    "unit/client",
    "unit/app",
    "unit/metrics",
    "unit/testing",
    "system/runtime",
    "unit/otel",
    "unit/codec",
    "unit/crash_notes",
  ],
  client: ["unit/client", "unit/app", "unit/testing", "system/runtime", "unit/codec"],
  api: ["unit/api", "unit/grpc", "unit/engine", "unit/worker"],
  base: ["unit/base", "unit/worker", "unit/client", "unit/metrics"],
  crash_notes: ["unit/crash_notes", "unit/engine", "unit/worker"],
  grpc: ["unit/grpc", "unit/api"],
  service: ["unit/service", "unit/grpc", "unit/client", "unit/app"],
};
/** What only browsers and newer Nodes can run. */
const NOT_HERE = /\/sqlite\/opfs\/|\/drivers\/node\.js$/;
/** Loops that kill processes. */
const LEFT_OUT = /(?:kill9|power_loss|syncs|waiting_kills)\.test/;
/** These files are many: the tests of each file of cases are taken by themselves. */
const CASES =
  /^tests\/system\/runtime\/(?:broken_realms|divergences|language|official_programs|realms|replays)\.test\.js/;

const progress = (text) => process.stderr.write(`${text}\n`);
const walk = (dir) =>
  readdirSync(dir).flatMap((
    n,
  ) => (statSync(join(dir, n)).isDirectory() ? walk(join(dir, n)) : [join(dir, n)]));

mkdirSync(home, { recursive: true });
const paths = {
  coverage: join(home, "coverage.json"),
  results: join(home, `results-${seed}.json`),
  base: join(home, "base"),
};
if (values.fresh) {
  for (const path of Object.values(paths)) rmSync(path, { recursive: true, force: true });
}
const results = existsSync(paths.results) ? JSON.parse(readFileSync(paths.results, "utf8")) : {};
const again = values.survivors && existsSync(paths.base);
const before = again ? textsOf(paths.base) : new Map();
const base = again || !existsSync(paths.base) ? makeBase() : paths.base;
if (again) forgetChanged(before, textsOf(base));

const dist = join(base, "dist");
const roomOf = (file) => file.split("/")[1];
// What is asked for by name may be anywhere.
const rooms = values.from ?? values.only ?? values.survivors
  ? Object.keys(SUITES)
  : values.rooms.split(",");
const inRooms = rooms.flatMap((room) => walk(join(dist, "ts", room))).map((f) => relative(dist, f));
const files = inRooms.filter((f) =>
  f.endsWith(".js") && !f.includes("/generated/") && !NOT_HERE.test(f)
).sort();
const drawn = draw();
progress(`${drawn.length} mutants`);
const tests = await testsOf([...new Set(drawn.map(({ file }) => roomOf(file)))]);
const coverage = await collect({
  base,
  path: paths.coverage,
  tests,
  files: allFiles(),
  jobs,
  progress,
});
const broken = tests.filter((test) => coverage[test].outcome !== "passed");
for (const test of broken) {
  progress(`left out, because it does not pass by itself: ${test} (${coverage[test].failure})`);
}

const workspaces = Array.from(
  { length: jobs },
  (_, i) => makeWorkspace(base, `job-${process.pid}-${i}`),
);
const began = performance.now();
let done = 0;
const waiting = [...drawn];
try {
  await Promise.all(workspaces.map(async (workspace) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const folders = SUITES[roomOf(mutant.file)];
      const suites = Object.entries(coverage).filter(([test]) =>
        folders.some((folder) => test.startsWith(`tests/${folder}/`))
      );
      const outcome = await judge(mutant, { workspace, suites, results, budgetMs });
      results[mutant.id] = {
        ...outcome,
        ...mutant,
        code: undefined,
        what: undefined,
        nth: undefined,
      };
      writeFileSync(paths.results, JSON.stringify(results, undefined, 1));
      const { file, line, operator, original, text } = mutant;
      const by = outcome.by === undefined ? "" : ` by ${outcome.by}`;
      progress(
        `${++done}/${drawn.length} ${outcome.outcome}${by} (${outcome.ms} ms, ${outcome.files} files${
          outcome.left > 0 ? `, ${outcome.left} left` : ""
        }) ${file}:${line} ${operator}: ` +
          `${shown(original)} -> ${shown(text)} [${mutant.id}]`,
      );
    }
  }));
} finally {
  for (const { folder } of workspaces) rmSync(folder, { recursive: true, force: true });
}
report();

async function testsOf(rooms) {
  const { partOf } = await import(pathToFileURL(join(dist, "tests/system/runtime/parts.js")).href);
  const folders = [...new Set(rooms.flatMap((room) => SUITES[room] ?? []))].map((folder) =>
    join(dist, "tests", folder)
  );
  const found = folders.flatMap(walk).map((f) => relative(dist, f)).filter((f) =>
    f.endsWith(".test.js") && !LEFT_OUT.test(f)
  );
  const cases = readdirSync(join(dist, "tests/cases")).filter((name) =>
    /export const cases\b/.test(readFileSync(join(dist, "tests/cases", name), "utf8"))
  );
  const ofPart = (part) => cases.filter((name) => partOf(name) === part);
  return found.flatMap((f) =>
    CASES.test(f)
      ? ofPart(basename(f, ".test.js")).map((name) => `${f}#${name.replace(/\.js$/, "")}`)
      : [f]
  );
}

function shown(text) {
  const line = text.replace(/\s+/g, " ");
  return line.length > 70 ? `${line.slice(0, 67)}...` : line;
}

/** Coverage includes all rooms, so that runs over other rooms can reuse it. */
function allFiles() {
  return walk(join(dist, "ts")).map((f) => relative(dist, f)).filter((f) =>
    f.endsWith(".js") && !f.includes("/generated/")
  );
}

function textsOf(folder) {
  const from = join(folder, "dist");
  return new Map(
    walk(from).filter((f) => f.endsWith(".js")).map((
      f,
    ) => [relative(from, f), readFileSync(f, "utf8")]),
  );
}

/**
 * Deletes the coverage of changed test files, and of all tests that reach a changed module: its
 * positions moved.
 */
function forgetChanged(old, now) {
  const known = JSON.parse(readFileSync(paths.coverage, "utf8"));
  const changed = [...now].filter(([file, text]) => old.get(file) !== text).map(([file]) => file);
  for (const test of Object.keys(known)) {
    const [own] = test.split("#");
    const folder = CASES.test(test) ? "tests/cases/" : own.replace(/[^/]*$/, "");
    const stale = changed.some((file) =>
      file === own || (file.startsWith(folder) && !file.endsWith(".test.js")) ||
      known[test].files[file]
    );
    if (stale || !now.has(own)) delete known[test];
  }
  writeFileSync(paths.coverage, JSON.stringify(known));
}

/** Identifies a mutant by its change and its context, so that the id survives moved lines. */
function draw() {
  const all = files.flatMap((file) => possible(file));
  progress(`${all.length} possible mutants in ${files.length} files`);
  if (values.from !== undefined) return foundAgain(values.from, all);
  if (values.only !== undefined) {
    const only = values.only.split(",");
    return all.filter(({ id, file, line }) =>
      only.includes(id) || only.includes(`${file}:${line}`)
    );
  }
  if (values.survivors) return all.filter(({ id }) => results[id]?.outcome === "survived");
  return all.sort((a, b) => hash(`${seed} ${a.id}`) < hash(`${seed} ${b.id}`) ? -1 : 1).slice(
    0,
    sample,
  )
    .filter(({ id }) => results[id] === undefined);
}

function possible(file) {
  const code = readFileSync(join(dist, file), "utf8");
  const lines = code.split("\n");
  const seen = new Map();
  return mutantsOf(code).map((mutant) => {
    const original = code.slice(mutant.start, mutant.end);
    const what = `${mutant.operator} ${lines[mutant.line - 1].trim()} ${original}`;
    const nth = (seen.get(what) ?? 0) + 1;
    seen.set(what, nth);
    return { ...mutant, what, nth, id: idIn(file, what, nth), file, original, code };
  });
}

function idIn(file, what, nth) {
  return hash(`${file} ${what} ${nth}`);
}

/**
 * The survivors of another run among the mutants of today: with the id that they had in the file in
 * which they were.
 */
function foundAgain(path, all) {
  const found = [];
  for (const was of Object.values(JSON.parse(readFileSync(path, "utf8")))) {
    if (was.outcome !== "survived") continue;
    const same = all.filter((mutant) =>
      mutant.operator === was.operator && mutant.original === was.original &&
      idIn(was.file, mutant.what, mutant.nth) === was.id
    );
    const named = same.filter(({ file }) => basename(file) === basename(was.file));
    const here = same.find(({ file }) => file === was.file) ?? named[0] ??
      (same.length === 1 ? same[0] : undefined);
    if (here === undefined) {
      progress(
        `not found: ${was.file}:${was.line} ${was.operator}: ${shown(was.original)} [${was.id}]`,
      );
    } else if (results[here.id] === undefined) found.push(here);
  }
  return found;
}

function hash(text) {
  let h = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    h = ((h ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  h ^= h >> 29n;
  h = (h * 0xbf58476d1ce4e5b9n) & 0xffffffffffffffffn;
  return (h ^ (h >> 32n)).toString(16).padStart(16, "0");
}

function report() {
  const all = Object.values(results);
  const count = (outcome) => all.filter((result) => result.outcome === outcome).length;
  const survivors = all.filter((result) => result.outcome === "survived");
  const killed = count("killed") + count("timeout");
  const summary = {
    ...{
      seed,
      rooms: values.rooms,
      mutants: all.length,
      killed,
      ofThemByTimeout: count("timeout"),
      survived: survivors.length,
    },
    percent: Math.round((1000 * killed) / Math.max(1, all.length)) / 10,
    seconds: Math.round((performance.now() - began) / 1000),
  };
  if (values.json) return say(JSON.stringify({ ...summary, survivors }, undefined, 1));
  for (const { file, line, operator, original, text, id } of survivors) {
    say(`survived: ${file}:${line} ${operator}: ${shown(original)} -> ${shown(text)} [${id}]`);
  }
  say(JSON.stringify(summary));
}
