// Checks sentences of the inspector at seeded positions of recorded runs against the events of the
// history, the text of the program, and a fresh replay of the history up to the position.
// takes: 7 s
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
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
import { caseNames, corpusRoot, historyOf, loadCase } from "../compat/support/corpus.ts";

/** Positions of one run, and runs of the corpus. */
const POSITIONS = 8, CORPUS_RUNS = 12;
/** Larger histories of the corpus are left out: each position is replayed. */
const MOST_EVENTS = 120;

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

/** Some programs of the corpus next to the checkout; none without it. */
async function corpusRuns(random: (below: number) => number): Promise<Recorded[]> {
  const root = corpusRoot();
  if (root === undefined) return [];
  const names = caseNames(root);
  const runs: Recorded[] = [];
  while (runs.length < CORPUS_RUNS && names.length > 0) {
    const [name] = names.splice(random(names.length), 1);
    const found = loadCase(root, name!);
    const { base } = found.variants;
    if (base === undefined || found.histories !== undefined || found.interceptors !== undefined) {
      continue;
    }
    if (!existsSync(join(root, `corpus/${name}@h.json`))) continue;
    const row = { case: name!, history: "h", variant: "base", verdict: "OK" as const };
    const history = historyOf(root, found, row);
    if (history.events.length > MOST_EVENTS) continue;
    const { bytes } = await readHistoryFile(new TextEncoder().encode(JSON.stringify(history)));
    runs.push({ name: name!, program: join(root, "workflows", base.file), bytes });
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
  for (const { test, unchangedBy } of conditions) {
    assert.equal(test.isTrue, false);
    for (const { name, eventId } of unchangedBy) {
      assert.equal(signalAt(events, eventId), name, `event ${eventId}`);
      assert.ok(eventId <= position);
    }
  }
  const lines = readFileSync(program, "utf8").split("\n");
  const tests = session.code!.tests(position);
  const files = session.code!.files.map(({ name }) => name);
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
    why: textOf(whyText(one.viewAt(position), "").said),
    code: one.code!.why(position).sentence,
  });
  assert.deepEqual(sentences(fresh), sentences(session), `position ${position}`);
}

test("inspector: its sentences agree with the history and with a fresh replay", () =>
  withSeed(async (seed) => {
    let state = seed;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor(state / 2 ** 32 * below);
    };
    let sentences = 0;
    for (const { name, program, bytes } of [...await ownRuns(), ...await corpusRuns(random)]) {
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
        for (let i = 0; i < POSITIONS; i++) {
          const position = i === 0 ? session.length : 1 + random(session.length);
          const checked = { session, events, realm, program, position };
          try {
            sentences += checkEvents(checked);
            await checkFresh(checked);
          } catch (error) {
            throw new Error(`${name}, position ${position}: ${(error as Error).message}`);
          }
        }
      } finally {
        await realm.dispose();
      }
    }
    assert.ok(sentences > 100, `${sentences} sentences`);
  }));
