// Checks sentences of the inspector at seeded positions of recorded runs against the events of the
// history, the text of the program, and a fresh replay of the history up to the position. By default
// a sample; INSPECTOR_RUNS=500 takes all recorded runs that have a program (tests/README.md).
// takes: 7 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type DebugSession, openSession } from "../../../ts/debug/mod.ts";
import { createWorkerRealm, type WorkerRealm } from "../../../ts/realm/mod.ts";
import { decodeHistoryBytes } from "../../../ts/history_files/decode_events.ts";
import { readHistoryFile } from "../../../ts/history_files/history_file.ts";
import type { HistoryEvent } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { describeCondition } from "../../../ts/run_view/condition_text.ts";
import { type Said, whyText } from "../../../ts/run_view/why.ts";
import { prefixFor } from "../../cases/debug_positions.ts";
import { withSeed } from "../../support/seed.ts";
import { corpusRoot, historyOf, loadCase } from "../compat/support/corpus.ts";

/** Positions of one run. */
const POSITIONS = 8;
/** Runs with a program: all of this repository, and as many of the corpus as that leaves. */
const RUNS = Number(process.env["INSPECTOR_RUNS"] ?? 20);
/** Larger histories of the corpus are left out: each position is replayed. */
const MOST_EVENTS = 400;

interface Recorded {
  readonly name: string;
  readonly program: string;
  readonly bytes: Uint8Array;
}

interface Checked {
  readonly session: DebugSession;
  readonly events: readonly HistoryEvent[];
  readonly realm: WorkerRealm;
  readonly program: string;
  readonly position: number;
}

const textOf = (said: Said): string =>
  said.map((part) => typeof part === "string" ? part : part.name).join("");

function rootFolder(): string {
  let here = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(here, "package.json"))) here = dirname(here);
  return here;
}

/** The programs of this repository with the histories that the official worker recorded. */
async function ownRuns(): Promise<Recorded[]> {
  const folder = join(rootFolder(), "tests/unit/compat");
  const names = readdirSync(join(folder, "histories")).filter((file) => file.endsWith(".json"));
  return await Promise.all(names.map(async (file) => {
    const name = file.slice(0, -".json".length);
    const { bytes } = await readHistoryFile(readFileSync(join(folder, "histories", file)));
    return { name, program: join(folder, "programs", `${name}.ts`), bytes };
  }));
}

/** The samples of the page with the examples that made them. */
async function exampleRuns(): Promise<Recorded[]> {
  const samples = join(rootFolder(), "web-demo/samples");
  return await Promise.all(
    readdirSync(samples).filter((file) => !file.includes("diverged")).map(async (file) => {
      const name = file.slice(0, -".json".length);
      const program = join(rootFolder(), "examples", name.replace("_open", ""), "workflow.ts");
      const { bytes } = await readHistoryFile(readFileSync(join(samples, file)));
      return { name, program, bytes };
    }),
  );
}

/** Some programs of the corpus next to the checkout; none without it. */
async function corpusRuns(random: (below: number) => number, most: number): Promise<Recorded[]> {
  const root = corpusRoot();
  if (root === undefined) return [];
  const recorded = readdirSync(join(root, "corpus")).flatMap((file) => {
    const [, name, of] = /^(.+)@(.+)\.json$/.exec(file) ?? [];
    return name === undefined || of === undefined ? [] : [{ name, of }];
  });
  const runs: Recorded[] = [];
  while (runs.length < most && recorded.length > 0) {
    const [{ name, of }] = recorded.splice(random(recorded.length), 1) as [typeof recorded[number]];
    const found = loadCase(root, name);
    const variant = found.recordedWith?.[of] ?? "base";
    const recordedWith = found.variants[variant];
    if (recordedWith === undefined || found.interceptors !== undefined) continue;
    const row = { case: name, history: of, variant, verdict: "OK" as const };
    const history = historyOf(root, found, row);
    if (history.events.length > MOST_EVENTS) continue;
    const { bytes } = await readHistoryFile(new TextEncoder().encode(JSON.stringify(history)));
    runs.push({
      name: `${name}@${of}`,
      program: join(root, "workflows", recordedWith.file),
      bytes,
    });
  }
  return runs;
}

/** The signal at an event; undefined if the event is not a signal. */
function signalAt(events: readonly HistoryEvent[], eventId: number): string | undefined {
  const { attributes } = events[eventId - 1] ?? {};
  return attributes?.case === "workflowExecutionSignaledEventAttributes"
    ? attributes.value.signalName
    : undefined;
}

/** Checks the events that sentences name. Returns the number of sentences. */
function checkEvents({ session, events, position, program }: Checked): number {
  const why = whyText(session.viewAt(position), "");
  for (const { name, times, eventId } of why.untaken) {
    assert.equal(signalAt(events, eventId), name, `event ${eventId}`);
    const come = events.slice(0, position).filter((_, i) => signalAt(events, i + 1) === name);
    assert.ok(eventId <= position && times <= come.length, `${times} times ${name}`);
  }
  const conditions = session.code!.conditions(position);
  const lines = readFileSync(program, "utf8").split("\n");
  const files = session.code!.files.map(({ name }) => name);
  for (const { test, unchangedBy, changedBy = [] } of conditions) {
    assert.equal(test.isTrue, false);
    for (const { name, place, variables } of changedBy) {
      const { receive } = session.viewAt(position);
      assert.ok([...receive!.signals, ...receive!.updates].includes(name), name);
      if (place === undefined || files[place.file] !== program) continue;
      const text = lines[place.line - 1]!;
      assert.ok(variables.some((one) => text.includes(one.split(".").at(-1)!)), `${name}: ${text}`);
    }
    for (const { name, eventId } of unchangedBy) {
      assert.equal(signalAt(events, eventId), name, `event ${eventId}`);
      assert.ok(eventId <= position);
    }
  }
  const tests = session.code!.tests(position);
  for (const { place, text, taskEventId, operands } of tests) {
    assert.equal(typeOf(events, taskEventId), "workflowTaskStartedEventAttributes");
    assert.ok(taskEventId <= position);
    if (files[place.file] !== program || /[…\n]/.test(text)) continue;
    const [word = ""] = /[\w$]+/.exec(text) ?? [];
    assert.ok(lines[place.line - 1]!.includes(word), `line ${place.line}: ${text}`);
    for (const { text: own } of operands) assert.ok(text.includes(own), `${own} of ${text}`);
  }
  const { sentence } = session.code!.why(position);
  for (const [, id] of sentence.matchAll(/since event (\d+)/g)) {
    assert.equal(typeOf(events, Number(id)), "workflowTaskStartedEventAttributes", sentence);
  }
  for (const [, id] of sentence.matchAll(/[Ee]vent (\d+) resolved/g)) {
    assert.ok(Number(id) <= position, sentence);
    assert.match(
      typeOf(events, Number(id)),
      /Completed|Failed|TimedOut|Canceled|Fired|Started|ExternalWorkflow\w+(?:Signaled|Requested)/i,
    );
  }
  for (const [, line] of sentence.matchAll(/at line (\d+) for/g)) {
    assert.match(lines[Number(line) - 1] ?? "", /await|return|condition|sleep|for /, sentence);
  }
  for (const [, due] of sentence.matchAll(/\(due (\S+)\)/g)) {
    const isDue = (time: number) => Math.abs(time - Date.parse(due!)) < 1;
    assert.ok(dueTimes(events).some(isDue), sentence);
  }
  return why.untaken.length + conditions.length + tests.length + 1;
}

const typeOf = (events: readonly HistoryEvent[], eventId: number): string =>
  events[eventId - 1]?.attributes.case ?? "";

/** When the timers of a history are due: a server counts from the event. In milliseconds. */
function dueTimes(events: readonly HistoryEvent[]): number[] {
  const millis = (time: { readonly seconds: bigint; readonly nanos: number } | undefined) =>
    Number(time?.seconds ?? 0n) * 1000 + (time?.nanos ?? 0) / 1e6;
  return events.flatMap(({ attributes, eventTime }) =>
    attributes.case === "timerStartedEventAttributes"
      ? [millis(eventTime) + millis(attributes.value.startToFireTimeout)]
      : []
  );
}

/** Checks values and causes: a replay of the history up to the position has the same ones. */
async function checkFresh({ session, events, realm, position }: Checked): Promise<void> {
  const fresh = await openSession(prefixFor(session, events, position), { realm });
  const sentences = (one: DebugSession) => ({
    conditions: one.code!.conditions(position).flatMap(describeCondition).map(textOf),
    tests: one.code!.tests(position),
    why: textOf(whyText(one.viewAt(position), "", one.code!.conditions(position)).said),
    code: one.code!.why(position).sentence,
  });
  assert.deepEqual(sentences(fresh), sentences(session), `position ${position}`);
}

/** Events that a handler could not cause. */
const isOfTask = (type: string): boolean => type.startsWith("workflowTask");

/**
 * Checks the handlers that can change a condition, which come from the text of the code, against the
 * recorded values: a signal that alone arrived before the values changed or the condition ended is one
 * of these handlers. Returns the number of such signals.
 */
function checkHandlers(
  session: DebugSession,
  events: readonly HistoryEvent[],
  name: string,
): number {
  const started = events.filter(({ attributes }) =>
    attributes.case === "workflowTaskStartedEventAttributes"
  ).map(({ eventId }) => Number(eventId));
  const valuesOf = (one: ReturnType<typeof conditionsAt>[number]) =>
    JSON.stringify(one.test.operands.map(({ value }) => value?.text));
  const conditionsAt = (position: number) => session.code!.conditions(position);
  let checked = 0;
  started.slice(1).forEach((next, i) => {
    const before = started[i]!;
    const between = events.slice(before, next).filter(({ attributes }) =>
      !isOfTask(attributes.case ?? "")
    );
    const signal = signalAt(events, Number(between[0]?.eventId ?? 0n));
    if (signal === undefined || between.length > 1) return;
    for (const one of conditionsAt(before)) {
      const same = conditionsAt(next).find(({ place, fiber }) =>
        place.line === one.place.line && place.file === one.place.file && fiber === one.fiber
      );
      // A condition that is over has become true.
      const isSame = same !== undefined && valuesOf(same) === valuesOf(one);
      if (isSame || one.changedBy === undefined) continue;
      const known = one.changedBy.map((handler) => handler.name);
      assert.ok(known.includes(signal), `${name}, event ${next}: ${signal} of [${known}]`);
      checked++;
    }
  });
  return checked;
}

test("inspector: its sentences agree with the history and with a fresh replay", (t) =>
  withSeed(async (seed) => {
    let state = seed;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor(state / 2 ** 32 * below);
    };
    let sentences = 0;
    let histories = 0;
    let positions = 0;
    let changes = 0;
    const own = [...await ownRuns(), ...await exampleRuns()];
    const runs = [...own, ...await corpusRuns(random, RUNS - own.length)];
    for (const { name, program, bytes } of runs) {
      const realm = await createWorkerRealm({
        workflows: program,
        cacheSize: 0,
        lines: true,
        watchdogMs: 60_000,
      });
      try {
        const session = await openSession(bytes, { realm });
        // The code of some runs fails its task by design.
        if (session.problem?.isDivergence === false) continue;
        assert.equal(session.problem, undefined, `${name}: ${session.problem?.message}`);
        const { events } = decodeHistoryBytes(bytes);
        histories++;
        changes += checkHandlers(session, events, name);
        for (let i = 0; i < POSITIONS; i++) {
          const position = i === 0 ? session.length : 1 + random(session.length);
          const checked = { session, events, realm, program, position };
          try {
            sentences += checkEvents(checked);
            await checkFresh(checked);
            positions++;
          } catch (error) {
            throw new Error(`${name}, position ${position}: ${(error as Error).message}`);
          }
        }
      } finally {
        await realm.dispose();
      }
    }
    assert.ok(sentences > 100, `${sentences} sentences`);
    // Few recorded runs have such a signal.
    if (runs.length > 60) assert.ok(changes > 0, "no signal has changed a condition");
    t.diagnostic(
      `${sentences} sentences at ${positions} positions of ${histories} histories, ` +
        `${changes} signals that changed conditions`,
    );
  }));
