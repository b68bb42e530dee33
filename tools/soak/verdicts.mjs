#!/usr/bin/env node
// Verdicts compared with the official replayer's, over programs without fixtures: random programs
// of `@temporalio/workflow` and the modules of given folders. Each runs on the embedded engine; its
// history is replayed with the original program and with changed copies of it, by Temporal's own
// replayer and by a realm. Prints the table of verdicts and each difference; exit code 1 when a
// divergence was missed or under 98.5 % are equal.
//   node tools/build_dist.mjs && npm ci --prefix tests/system/interop --ignore-scripts
//   node tools/soak/verdicts.mjs [--programs 60] [--edits 9] [--seed 1] [--modules FOLDER] [--keep
//   FOLDER] [--jobs 2]
import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { edited, strip } from "./verdicts/edits.mjs";
import { ACTIVITIES, LOCAL_ACTIVITIES, programText } from "./verdicts/programs.mjs";
import { Random } from "./verdicts/random.mjs";
import { record } from "./verdicts/record.mjs";
import { readHistoryFile } from "#dist/ts/history_files/history_file.js";
import { createWorkerRealm } from "#dist/ts/realm/mod.js";

const { values } = parseArgs({
  options: {
    programs: { type: "string", default: "60" },
    edits: { type: "string", default: "9" },
    seed: { type: "string", default: "1" },
    modules: { type: "string" },
    keep: { type: "string" },
    jobs: { type: "string", default: "2" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    `usage: node tools/soak/verdicts.mjs [options]      (after: node tools/build_dist.mjs, npm ci --prefix tests/system/interop)

--programs N      random programs (default 60)
--modules FOLDER  also the exported functions of the modules there, as far as they load
--edits N         changed copies of each program (default 9)
--seed N          default 1
--jobs N          processes of the official replayer (default 2)
--keep FOLDER     leaves programs, histories and verdicts there`,
  );
  process.exit(0);
}
const [programs, edits, seed, jobs] = [values.programs, values.edits, values.seed, values.jobs].map(
  Number,
);
const work = values.keep === undefined
  ? mkdtempSync(join(tmpdir(), "temporalex-verdicts-"))
  : resolve(values.keep);
mkdirSync(join(work, "histories"), { recursive: true });
const say = (text) => process.stderr.write(`${text}\n`);

/** Copies of programs in one bundle: more of them make each replay of the official SDK slower. */
const GROUP = 60;
/** { id, workflowId, kind, line, file, module, exported } */
const cases = [];
const notLoaded = [];

/**
 * The history up to the commands of its last task that completed, when later ones failed: the
 * official replayer does not look at those, a realm does. Undefined when no task has ever
 * completed.
 */
function settled(history) {
  const is = (name) => (event) => event.eventType === `EVENT_TYPE_WORKFLOW_TASK_${name}`;
  const last = history.events.findLastIndex(is("COMPLETED"));
  if (last < 0) return undefined;
  if (
    !history.events.some((event, i) => i > last && (is("FAILED")(event) || is("TIMED_OUT")(event)))
  ) return history;
  const { eventId } = history.events[last];
  const ofTask = (event) =>
    Object.values(event).some((attributes) => attributes?.workflowTaskCompletedEventId === eventId);
  let end = last + 1;
  while (ofTask(history.events[end])) end++;
  return { ...history, events: history.events.slice(0, end) };
}

/** The history under another type, so that one bundle has all copies. */
function addCase(folder, module, exported, { workflowId, history }, kind, line) {
  const id = `w${cases.length}`;
  const copy = structuredClone(history);
  copy.events[0].workflowExecutionStartedEventAttributes.workflowType.name = id;
  const file = join(work, "histories", `${id}.json`);
  writeFileSync(file, JSON.stringify(copy));
  cases.push({
    id,
    workflowId,
    kind,
    line,
    file,
    folder,
    module,
    exported,
    events: copy.events.length,
  });
}

function withEdits(folder, name, exported, lived, text, random) {
  const history = settled(lived.history);
  if (history === undefined) {
    return void notLoaded.push(`${name} ${exported}: no task of it completed`);
  }
  const life = { ...lived, history };
  addCase(folder, name, exported, life, "as it was", 0);
  const code = strip(text);
  const seen = new Set([code]);
  for (let made = 0, tries = 0; made < edits && tries < edits * 8; tries++) {
    const edit = edited(code, random);
    if (edit === undefined || seen.has(edit.code)) continue;
    seen.add(edit.code);
    const module = `${name.replace(/\.ts$/, "")}.${exported}.v${made++}.ts`;
    writeFileSync(join(folder, module), edit.code);
    addCase(folder, module, exported, life, edit.kind, edit.line);
  }
}

async function randomPrograms() {
  const folder = join(work, "random");
  mkdirSync(folder, { recursive: true });
  for (let i = 0; i < programs; i++) {
    const random = new Random(seed * 100_003 + i);
    const name = `p${i}.ts`, text = programText(seed * 7919 + i);
    writeFileSync(join(folder, name), text);
    const [life] = await record({
      workflows: join(folder, name),
      types: [{ type: "main", args: [] }],
      activities: [...ACTIVITIES, ...LOCAL_ACTIVITIES],
      signals: ["poke"],
      updates: ["ask0", "ask1", "ask2"],
    }, random);
    withEdits(folder, name, "main", life, text, random);
    if (i % 10 === 9) say(`${i + 1} random programs have lived`);
  }
}

const namesIn = (text, pattern) =>
  [...text.matchAll(pattern)].flatMap((match) => match[1].split(",")).map((name) =>
    name.split(":")[0].trim()
  ).filter(Boolean);

async function modulesOf(source) {
  const folder = join(work, "modules");
  cpSync(source, folder, { recursive: true });
  const files = readdirSync(folder).filter((name) => /\.ts$/.test(name)).sort();
  const all = files.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  const activities = namesIn(
    all,
    /\{([^{}]*)\}\s*=\s*(?:\w+\.)?(?:proxyActivities|proxyLocalActivities|configureActivities)/g,
  );
  for (const name of files) {
    const text = readFileSync(join(folder, name), "utf8");
    const random = new Random(seed * 31 + name.length * 1009 + text.length);
    const types = namesIn(text, /export\s+(?:async\s+)?function\s+(\w+)/g).map((type) => ({
      type,
      args: [],
    }));
    if (types.length === 0) continue;
    for (const one of types) {
      try {
        const [life] = await record({
          workflows: join(folder, name),
          types: [one],
          activities,
          signals: namesIn(all, /defineSignal(?:<[^(]*>)?\(\s*['"]([\w-]+)/g),
          updates: namesIn(all, /defineUpdate(?:<[^(]*>)?\(\s*['"]([\w-]+)/g),
        }, random);
        withEdits(folder, name, one.type, life, text, random);
      } catch (error) {
        notLoaded.push(
          `${name} ${one.type}: ${String(error?.message ?? error).split("\n")[0].slice(0, 200)}`,
        );
      }
    }
  }
}

function groups() {
  const made = [];
  const texts = new Map();
  for (const one of cases) {
    // What one of the named modules imports may be missing: a bundle for each of them.
    const key = one.folder.endsWith("random")
      ? one.folder
      : join(one.folder, one.module.split(".")[0]);
    texts.set(key, [...(texts.get(key) ?? []), one]);
  }
  for (const [key, here] of texts) {
    for (let from = 0; from < here.length; from += GROUP) {
      const list = here.slice(from, from + GROUP);
      const modules = `${key}.${from}.group.ts`;
      writeFileSync(
        modules,
        list.map(({ id, module, exported, folder }) =>
          `export { ${exported} as ${id} } from "${folder}/${module.replace(/\.ts$/, "")}";\n`
        ).join(""),
      );
      made.push({ modules, histories: list });
    }
  }
  return made;
}

async function officialVerdicts(made) {
  const verdicts = new Map();
  const program = fileURLToPath(new URL("./verdicts/official.mjs", import.meta.url));
  const lanes = Array.from({ length: jobs }, (_, lane) => made.filter((_, i) => i % jobs === lane))
    .filter((lane) => lane.length > 0);
  await Promise.all(lanes.map(async (lane, i) => {
    const list = join(work, `official-${i}.json`);
    let left = lane;
    while (left.length > 0) {
      writeFileSync(list, JSON.stringify(left));
      const child = spawn(process.execPath, [program, list], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const before = verdicts.size;
      let open, watch;
      for await (const line of createInterface({ input: child.stdout })) {
        if (!line.startsWith("{")) continue;
        clearTimeout(watch);
        const { begins, ...verdict } = JSON.parse(line);
        open = begins;
        if (begins !== undefined) {
          watch = setTimeout(() => child.kill("SIGKILL"), 60_000);
          continue;
        }
        verdicts.set(verdict.id, verdict);
        if (verdicts.size % 100 === 0) {
          say(`the official replayer has judged ${verdicts.size} of ${cases.length}`);
        }
      }
      clearTimeout(watch);
      // A program that takes all memory, or never ends, takes the official replayer's process with
      // it.
      if (open !== undefined) {
        notLoaded.push(`${open}: the official replayer's process died, or gave no answer`);
      } else if (verdicts.size === before) break;
      const isOpen = ({ id }) => id !== open && !verdicts.has(id);
      const at = left.findIndex(({ histories }) => histories.some(({ id }) => id === open));
      left = left.slice(Math.max(at, 0)).map((group) => ({
        ...group,
        histories: group.histories.filter(isOpen),
      }))
        .filter(({ histories }) => histories.length > 0);
      if (open === undefined) break;
    }
  }));
  return verdicts;
}

const VERDICTS = { ok: "OK", nondeterminism: "NONDETERMINISM", failed: "TASK_FAILURE" };

async function ourVerdicts(made) {
  const verdicts = new Map();
  for (const { modules, histories } of made) {
    let realm;
    try {
      realm = await createWorkerRealm({ workflows: modules, cacheSize: 0 });
    } catch (error) {
      notLoaded.push(`${modules}: ${String(error?.message ?? error).split("\n")[0].slice(0, 200)}`);
      continue;
    }
    try {
      for (const { id, workflowId, file } of histories) {
        const { bytes } = await readHistoryFile(readFileSync(file));
        const { verdict, error } = await realm.replay(workflowId, bytes);
        verdicts.set(id, { verdict: VERDICTS[verdict], message: error?.message ?? "" });
      }
    } finally {
      await realm.dispose();
    }
  }
  return verdicts;
}

const words = (message) => {
  const inside = /message: "((?:[^"\\]|\\.)*)"/.exec(message)?.[1] ?? message;
  return inside
    // Of one machine Core prints the whole event, payloads and all.
    .replace(
      /HistoryEvent \{ event_id: (\d+),.*? event_type: (\w+),.*$/s,
      "HistoryEvent(id: $1, $2)",
    )
    .replaceAll('\\"', '"').replace(/\\n[\s\S]*/, "").replace(/\n[\s\S]*/, "");
};

try {
  if (
    !existsSync(
      fileURLToPath(
        new URL("../../tests/system/interop/node_modules/@temporalio/worker", import.meta.url),
      ),
    )
  ) {
    throw new Error(
      "Temporal's TypeScript SDK is not installed: npm ci --prefix tests/system/interop --ignore-scripts",
    );
  }
  await randomPrograms();
  if (values.modules !== undefined) await modulesOf(resolve(values.modules));
  const made = groups();
  say(`${cases.length} cases in ${made.length} bundles`);
  const ours = await ourVerdicts(made);
  const theirs = await officialVerdicts(made);
  const table = {};
  let judged = 0, equal = 0, missed = 0, worded = 0, divergences = 0;
  for (const one of cases) {
    const official = theirs.get(one.id), our = ours.get(one.id);
    if (official === undefined || our === undefined) continue;
    judged++;
    const key = `official ${official.verdict}, ours ${our.verdict}`;
    table[key] = (table[key] ?? 0) + 1;
    if (official.verdict === our.verdict) equal++;
    else {
      console.log(
        JSON.stringify({
          ...one,
          official: official.verdict,
          ours: our.verdict,
          officialMessage: words(official.message),
          ourMessage: words(our.message),
        }),
      );
    }
    if (official.verdict === "NONDETERMINISM" && our.verdict === "OK") missed++;
    if (official.verdict === "NONDETERMINISM" && our.verdict === "NONDETERMINISM") {
      divergences++;
      if (words(official.message) === words(our.message)) worded++;
      else {console.log(
          JSON.stringify({
            id: one.id,
            module: one.module,
            wording: true,
            official: words(official.message),
            ours: words(our.message),
          }),
        );}
    }
  }
  for (const text of notLoaded) console.log(`not judged: ${text}`);
  console.log(
    JSON.stringify({
      cases: cases.length,
      judged,
      equal,
      percent: Number((100 * equal / judged).toFixed(2)),
      missed,
      divergences,
      sameWording: worded,
      table,
    }),
  );
  if (missed > 0 || equal < 0.985 * judged) process.exitCode = 1;
} finally {
  if (values.keep === undefined) rmSync(work, { recursive: true, force: true });
}
