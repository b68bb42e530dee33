#!/usr/bin/env node
// How well a divergence is explained: programs are recorded on the embedded engine in virtual time
// (and, if the corpus of Temporal programs is next to the checkout, taken with their histories),
// edited in one place, and replayed. Of each edit it is known at which line it is, what it is, and,
// from the commands of both programs, which workflow task is the first that differs. Prints how
// often the explanation says the same, each miss, and the table; exit code 1 under the goals. An
// edit that history does not show is only counted.
//   node tools/build_dist.mjs && node tools/soak/divergences.mjs [--seed 1] [--edits 240] [--only
//   native|compat|entity|random] [--programs 40] [--misses] [--judge] [--keep FOLDER]
// random: programs that the seed makes, --programs of them, native and for Temporal, half of them
// open.
// --judge: the official replayer (npm ci --prefix tests/system/interop --ignore-scripts) replays
// the edits of programs for Temporal, too.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { decodeCommand } from "#dist/ts/debug/commands.js";
import { createWorkerRealm } from "#dist/ts/realm/mod.js";
import { hasOfficial, judge, judged } from "./divergences/judge.mjs";
import {
  compatPrograms,
  entityPrograms,
  nativePrograms,
  recordRandomPrograms,
} from "./divergences/recorded.mjs";
import { Random } from "./verdicts/random.mjs";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    edits: { type: "string", default: "240" },
    only: { type: "string" },
    programs: { type: "string", default: "40" },
    misses: { type: "boolean", default: false },
    all: { type: "boolean", default: false },
    judge: { type: "boolean", default: false },
    keep: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: node tools/soak/divergences.mjs [--seed 1] [--edits 240] [--only native|compat|entity|random] [--programs 40] [--misses] [--all] [--judge] [--keep FOLDER]",
  );
  process.exit(0);
}
if (values.judge && !hasOfficial()) {
  console.error(
    "--judge needs the official SDK: npm ci --prefix tests/system/interop --ignore-scripts",
  );
  process.exit(2);
}
/** Code that does not end is stopped by the clock, and a busy machine has little time for any. */
const PATIENCE_MS = 300_000;
const random = new Random(Number(values.seed));
const work = values.keep === undefined
  ? mkdtempSync(join(tmpdir(), "temporalex-divergences-"))
  : resolve(values.keep);
mkdirSync(work, { recursive: true });

/**
 * Per started event what the code issued, as kind and name; commands that were canceled in the same
 * task are omitted.
 */
function issued(verdict) {
  const tasks = new Map();
  for (const { startedEventId, queryOnly, commands } of verdict.recorded ?? []) {
    if (queryOnly) continue;
    const list = tasks.get(startedEventId) ?? [];
    tasks.set(startedEventId, list);
    for (const command of commands) {
      const { kind, attributes } = decodeCommand(command, undefined);
      const name = attributes.activityType ?? attributes.workflowType ?? attributes.signalName ??
        attributes.patchId ?? "";
      if (command.cancel) {
        const at = list.findIndex((one) =>
          one.kindNumber === command.kind && one.seq === command.seq
        );
        if (at >= 0) {
          list.splice(at, 1);
          continue;
        }
      }
      list.push({ kindNumber: command.kind, seq: command.seq, text: `${kind} ${name}` });
    }
  }
  return tasks;
}

function firstTaskOf(original, changed) {
  const a = issued(original), b = issued(changed);
  let task = 0;
  for (const [started, list] of a) {
    task++;
    const other = b.get(started);
    if (other === undefined) return { task, started };
    if (
      JSON.stringify(list.map(({ text }) => text)) !== JSON.stringify(other.map(({ text }) => text))
    ) return { task, started };
  }
  return { task: 0, started: 0 };
}

/** Of code that gives only the event: the last task that had begun before it. */
function taskOfEvent(original, eventId) {
  const started = [...issued(original).keys()];
  return started.filter((id) => id < eventId).length;
}

function groupBy(list, keyOf) {
  const groups = new Map();
  for (const one of list) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

function shuffled(list) {
  const all = [...list];
  for (let i = all.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [all[i], all[j]] = [all[j], all[i]];
  }
  return all;
}

/**
 * The kinds of edit that are true. A step that the history does not have and that was moved to the
 * front looks like one that was added.
 */
function expected({ expect, moved }, original) {
  const isRecorded = moved === undefined ||
    [...issued(original).values()].flat().some(({ text }) => text.endsWith(` ${moved}`));
  return isRecorded ? expect : [...expect, "inserted", "changedKind"];
}

const lineOf = (location) => Number(/:(\d+):\d+\)?$/.exec(location)?.[1] ?? 0);

const programs = [
  ...(values.only === undefined || values.only === "native" ? await nativePrograms(work) : []),
  ...(values.only === undefined || values.only === "compat" ? await compatPrograms(work) : []),
  ...(values.only === "entity" ? await entityPrograms(work) : []),
  ...(values.only === "random"
    ? await recordRandomPrograms(work, Number(values.seed), Number(values.programs))
    : []),
];
const planned = [];
for (const program of programs) for (const edit of program.edits) planned.push({ program, edit });
// Each kind of edit has its turn, so that many places of one kind do not hide the others.
const byKind = groupBy(shuffled(planned), ({ edit }) => edit.kind);
const order = [];
for (let more = true; more;) {
  more = false;
  for (const list of byKind.values()) {
    const one = list.shift();
    if (one !== undefined) order.push(one);
    more ||= list.length > 0;
  }
}

/**
 * What came of the repair: "replays", "put in" and diverging still, "shown" with something to fill
 * in, or "none" in the user's lines.
 */
async function repaired(code, repair, workflowId, bytes, name) {
  if (repair === undefined || repair.code === "") return { kind: "none" };
  if (repair.changes === undefined) {
    return {
      kind: /as before:|the line that|the new way:|the new end/.test(repair.code)
        ? "words"
        : "shown",
    };
  }
  const lines = code.split("\n");
  for (const { first, last, lines: by } of repair.changes) {
    lines.splice(first - 1, last - first + 1, ...by);
  }
  const file = join(work, name);
  writeFileSync(file, lines.join("\n"));
  let realm;
  try {
    realm = await createWorkerRealm({
      workflows: file,
      cacheSize: 0,
      watchdogMs: PATIENCE_MS,
      startupMs: PATIENCE_MS,
    });
    const { verdict, error } = await realm.replay(workflowId, bytes, {
      explain: false,
      strict: true,
    });
    return verdict === "ok"
      ? { kind: "replays" }
      : { kind: "put in", message: error.message, file };
  } catch (error) {
    return { kind: "put in", message: error.message, file };
  } finally {
    await realm?.dispose();
  }
}

const originals = new Map();
const rows = [];
const unseen = [], failed = [], notLoaded = [];
let n = 0;
// A run that is ended early prints what it has measured.
let isEnding = false;
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => (isEnding = true));
for (const { program, edit } of order) {
  if (isEnding || rows.length >= Number(values.edits)) break;
  const file = join(work, `${program.name}.v${n++}.js`);
  writeFileSync(file, edit.code);
  let original = originals.get(program.name);
  const [{ bytes, workflowId, json }] = program.histories;
  if (original === undefined) {
    const realm = await createWorkerRealm({
      workflows: program.file,
      cacheSize: 0,
      watchdogMs: PATIENCE_MS,
      startupMs: PATIENCE_MS,
    });
    original = await realm.replay(workflowId, bytes, { record: true });
    await realm.dispose();
    originals.set(program.name, original);
    if (original.verdict !== "ok") {
      process.stderr.write(`${program.name} does not replay itself: ${original.error?.message}\n`);
    }
  }
  if (original.verdict !== "ok") continue;
  let realm;
  try {
    realm = await createWorkerRealm({
      workflows: file,
      cacheSize: 0,
      watchdogMs: PATIENCE_MS,
      startupMs: PATIENCE_MS,
    });
  } catch (error) {
    notLoaded.push(`${program.name} ${edit.kind}:${edit.line}: ${error.message.split("\n")[0]}`);
    continue;
  }
  try {
    const verdict = await realm.replay(workflowId, bytes, { record: true });
    const where = { program: program.name, file, kind: edit.kind, line: edit.line };
    if (verdict.verdict === "ok") {
      unseen.push(where);
      continue;
    }
    if (verdict.verdict === "failed") {
      failed.push({ ...where, message: verdict.error.message });
      continue;
    }
    const truth = firstTaskOf(original, verdict);
    const { error } = verdict;
    const divergence = error.divergence;
    const task = error.firstTask ?? taskOfEvent(original, error.eventId);
    const line = lineOf(error.location);
    const said = divergence?.edit;
    const words = `${divergence?.sentence ?? ""} ${said?.text ?? ""}`;
    const repair = await repaired(
      edit.code,
      divergence?.repair,
      workflowId,
      bytes,
      `${program.name}.v${n - 1}.repaired.js`,
    );
    rows.push({
      ...where,
      repair,
      dialect: program.dialect,
      ...{ workflowId, json },
      truth: truth.task,
      task,
      taskOk: task === truth.task,
      saidLine: line,
      lineOk: line > 0 && (edit.lines ?? [edit.line]).some((own) => Math.abs(line - own) <= 2),
      editOk: said !== undefined && expected(edit, original).includes(said.kind) &&
        edit.names.some((name) => words.includes(name)),
      said: said === undefined ? "" : `${said.kind} (${said.confidence}): ${said.text}`,
      sentence: divergence?.sentence ?? error.message,
    });
  } finally {
    await realm.dispose();
  }
}

const count = (list, test) => list.filter(test).length;
const table = [];
for (
  const [kind, list] of [...groupBy(rows, ({ kind }) => kind)].sort(([a], [b]) => a < b ? -1 : 1)
) {
  table.push([kind, list]);
}
for (const dialect of ["native", "compat"]) {
  table.push([
    `all ${dialect}`,
    rows.filter((row) => row.dialect === dialect),
  ]);
}
table.push(["all", rows]);
for (const row of rows) {
  if (values.all || (values.misses && !(row.taskOk && row.lineOk && row.editOk))) {
    const { taskOk, lineOk, editOk } = row;
    const marks = `${taskOk ? "" : " TASK"}${lineOk ? "" : " LINE"}${editOk ? "" : " EDIT"}`;
    console.log(
      `${row.program} ${row.kind} at line ${row.line}, task ${row.truth}:${marks}\n    said task ${row.task}, line ${row.saidLine}; ${row.said}\n    ${row.sentence}\n    ${row.file}`,
    );
  }
}
for (const text of notLoaded) console.log(`not loaded: ${text}`);
for (const { program, kind, line, message } of values.misses ? failed : []) {
  console.log(`fails instead: ${program} ${kind}:${line}: ${message}`);
}
console.log(
  `${"edit".padEnd(20)} ${"n".padStart(4)} ${"task".padStart(5)} ${"line".padStart(5)} ${
    "edit".padStart(5)
  }`,
);
for (const [kind, list] of table) {
  const cells = [
    list.length,
    count(list, (r) => r.taskOk),
    count(list, (r) => r.lineOk),
    count(list, (r) => r.editOk),
  ];
  console.log(
    `${kind.padEnd(20)} ${
      cells.map((cell, i) => String(cell).padStart(i === 0 ? 4 : 5)).join(" ")
    }`,
  );
}
const repairs = groupBy(rows, ({ repair }) => repair.kind);
console.log(`repairs: ${[...repairs].map(([kind, list]) => `${list.length} ${kind}`).join(", ")}`);
for (
  const [kind, list] of [...groupBy(rows, ({ kind }) => kind)].sort(([a], [b]) => a < b ? -1 : 1)
) {
  console.log(
    `  ${kind}: ${
      [...groupBy(list, ({ repair }) => repair.kind)].map(([said, of]) => `${of.length} ${said}`)
        .join(", ")
    }`,
  );
}
for (const { program, kind, line, repair } of values.misses ? repairs.get("put in") ?? [] : []) {
  console.log(
    `put in, and diverges still: ${program} ${kind}:${line}: ${repair.message}\n    ${repair.file}`,
  );
}
console.log(
  `${unseen.length} edits are not to be seen from history, ${failed.length} make the code fail, ${notLoaded.length} do not load`,
);
if (values.judge) {
  const temporal = rows.filter(({ json }) => json !== undefined);
  await judge(temporal, work);
  for (const line of judged(temporal)) console.log(line);
}
if (values.keep === undefined) rmSync(work, { recursive: true, force: true });
const enough = (test, of) => count(rows, test) * 200 >= of * rows.length;
process.exitCode =
  enough((r) => r.taskOk, 198) && enough((r) => r.lineOk, 190) && enough((r) => r.editOk, 160)
    ? 0
    : 1;
