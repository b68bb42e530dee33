// Programs with their histories, for measurements over many: native ones are recorded here, those
// for Temporal are taken from the corpus next to the checkout.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  caseNames,
  corpusRoot,
  historyOf,
  loadCase,
} from "#dist/tests/unit/compat/support/corpus.js";
import { silentLogger } from "#dist/ts/base/logger.js";
import { ApplicationFailure } from "#dist/ts/converter/failures.js";
import { readHistoryFile } from "#dist/ts/history_files/history_file.js";
import { TestEnvironment } from "#dist/ts/testing/mod.js";
import { strip } from "../verdicts/edits.mjs";
import { editsOf } from "./edits.mjs";
import { ENTITIES, entityCode } from "./entities.mjs";
import { messageEditsOf } from "./message_edits.mjs";
import { ACTIVITIES, LOCAL, PROGRAMS } from "./native.mjs";
import { RANDOM_ACTIVITIES, randomPrograms, REFUSING_ACTIVITY } from "./random_programs.mjs";

/** Each activity returns its name and its first argument. */
const results = Object.fromEntries(
  [...ACTIVITIES, ...LOCAL, ...RANDOM_ACTIVITIES].map((
    name,
  ) => [name, (value) => Promise.resolve(`${name} ${value}`)]),
);
results[REFUSING_ACTIVITY] = () =>
  Promise.reject(new ApplicationFailure("refused", { nonRetryable: true }));

/**
 * Runs a program on the embedded engine in virtual time. Returns the history of the run with the id
 * `name`, open or closed.
 */
export async function recordHistory({ file, name, drive }) {
  const env = await TestEnvironment.create({ logger: silentLogger, startTime: 1_750_000_000_000 });
  try {
    const worker = await env.createWorker({ workflows: file, activities: results });
    const history = await worker.runUntil(async () => {
      await drive(env);
      return env.client.getHandle(undefined, name).historyJson();
    });
    const { bytes, workflowId } = await readHistoryFile(new TextEncoder().encode(history));
    return { bytes, workflowId, text: history };
  } finally {
    await env.dispose();
  }
}

/**
 * Programs of this package, recorded on the embedded engine in virtual time; their files go into a
 * folder.
 */
export async function nativePrograms(work) {
  const programs = [];
  for (const { name, text, drive } of PROGRAMS) {
    const code = strip(text);
    const file = join(work, `${name}.js`);
    writeFileSync(file, code);
    const own = { sleep: "sleep", proxies: ["acts"] };
    programs.push({
      name,
      dialect: "native",
      code,
      file,
      histories: [await recordHistory({ file, name, drive })],
      edits: editsOf(code, own),
    });
  }
  return programs;
}

/**
 * Programs with handlers, canceled timers, try/finally, equal children and open runs, recorded like
 * native programs.
 */
export async function entityPrograms(work) {
  return await recordWithMessages(
    ENTITIES.map((one) => ({ ...one, code: entityCode(one) })),
    work,
  );
}

/** Programs that a seed makes, every second one open, recorded like native programs. */
export async function recordRandomPrograms(work, seed, count) {
  return await recordWithMessages(randomPrograms(seed, count), work);
}

async function recordWithMessages(list, work) {
  const programs = [];
  for (const { name, dialect, drive, code } of list) {
    const file = join(work, `${name}.js`);
    writeFileSync(file, code);
    const found = await recordHistory({ file, name, drive });
    const edits = [
      ...editsOf(code, { sleep: "sleep", proxies: ["acts"] }),
      ...messageEditsOf(code),
    ];
    programs.push({ name, dialect, code, file, histories: [found], edits });
  }
  return programs;
}

/** Programs for Temporal with their histories, if the corpus is next to the checkout. */
export async function compatPrograms(work) {
  const root = corpusRoot();
  if (root === undefined) return [];
  const programs = [];
  for (const name of caseNames(root)) {
    const found = loadCase(root, name);
    if (
      found.variants.base === undefined || found.histories !== undefined ||
      found.recordedWith !== undefined ||
      name === "m-big-payload"
    ) continue;
    let history;
    try {
      history = historyOf(root, found, {
        case: name,
        history: "h",
        variant: "base",
        verdict: "OK",
      });
    } catch {
      continue;
    }
    if (history.events.length > 400) continue;
    const code = strip(readFileSync(join(root, "workflows", found.variants.base.file), "utf8"));
    const file = join(work, `${name}.js`);
    writeFileSync(file, code);
    const { bytes, workflowId } = await readHistoryFile(
      new TextEncoder().encode(JSON.stringify(history)),
    );
    const id = history.events[0].workflowExecutionStartedEventAttributes.workflowId || workflowId ||
      "replay-h";
    const proxies = [
      ...code.matchAll(/(?:const|let)\s+(\w+)\s*=\s*(?:wf\.)?proxy(?:Local)?Activities/g),
    ].map(([, one]) => one);
    const sleep = /\bwf\./.test(code) ? "wf.sleep" : "sleep";
    programs.push({
      name,
      dialect: "compat",
      code,
      file,
      histories: [{ bytes, workflowId: id, json: history }],
      edits: editsOf(code, { sleep, proxies }),
    });
  }
  return programs;
}

/** The programs for Temporal of this repository's own tests, with their recorded histories. */
export async function ownPrograms() {
  const folder = new URL("../../../tests/unit/compat/", import.meta.url);
  const names = readdirSync(new URL("histories/", folder)).filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -5));
  return await Promise.all(names.map(async (name) => {
    const { bytes, workflowId } = await readHistoryFile(
      readFileSync(new URL(`histories/${name}.json`, folder)),
    );
    const file = fileURLToPath(new URL(`programs/${name}.ts`, folder));
    return { name, dialect: "compat", file, histories: [{ bytes, workflowId }] };
  }));
}
