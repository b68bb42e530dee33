// runtime: node
// Workflows with tables in debug sessions and in histories without code: reducers, procedures,
// subscriptions, broadcasts and named timers appear by name with their values; a redacted history
// contains nothing that code wrote next to a timer.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type DebugSession, openRun, openSession, redact } from "../../../ts/debug/mod.ts";
import { createWorkerRealm, type WorkerRealm } from "../../../ts/realm/mod.ts";
import { liveWithTables, TABLES } from "../what_if/tables_support.ts";

let history: Uint8Array;
let realm: WorkerRealm;
let session: DebugSession;

before(async () => {
  history = await liveWithTables("Raid", [7], [
    [91_000, (handle) => handle.completeProcedure({ name: "compute_damage" }, 30)],
  ]);
  realm = await createWorkerRealm({ workflows: new URL(TABLES), lines: true });
  session = await openSession(history, { realm });
  assert.equal(session.problem, undefined);
});
after(() => realm.dispose());

const commands = () => session.tasks.flatMap(({ eventId }) => session.viewAt(eventId).commands);

test("without code each construct is listed by name with its input and output", async () => {
  const run = await openRun(history);
  const things = run.items.filter(({ kind }) => kind !== "task").map((item) =>
    `${item.name} | ${run.detailOf(item)}`.trim()
  );
  assert.deepEqual(things, [
    "Raid | 7",
    'transact logLine | "a raid"',
    "subscribe stand_down:orc |",
    "timer muster | 1 min 30 s",
    // What code wrote next to it is not a name but a value.
    'timer 1 s | "waits for SECRET of grace"',
    "procedure compute_damage | 7, 7 → 30",
    'transact strike | 7, 30 → {"hp":70}',
    "transact strike | 99, 1 npc 99 not found",
    'transact strike | 7, 1 → {"hp":69}',
    "unsubscribe stand_down:orc |",
    "broadcast | → 0",
    "timer SECRET_name | 1 s",
    'completes | → {"hp":70,"missed":"npc 99 not found","left":69,"heard":0}',
  ]);
  assert.deepEqual([...run.search("secret of grace")].map((index) => run.items[index]!.name), [
    "timer 1 s",
  ]);
});

test("event lines show timers and reducers by name, also at their end", () => {
  const said = session.events.filter(({ type }) =>
    /Timer|Marker|Upsert|ActivityTaskScheduled/.test(type)
  ).map(({ summary }) => summary);
  assert.deepEqual(said, [
    'transact logLine("a raid")',
    "subscribe stand_down:orc",
    "timer muster for 1 min 30 s",
    "timer muster",
    'timer 2 for 1 s: "waits for SECRET of grace"',
    "timer 2",
    "procedure compute_damage(7, 7)",
    'transact strike(7, 30) = {"hp":70}',
    "transact strike(99, 1): npc 99 not found",
    'transact strike(7, 1) = {"hp":69}',
    "unsubscribe stand_down:orc",
    "broadcast = 0",
    "timer SECRET_name for 1 s",
    "timer SECRET_name",
  ]);
});

test("commands show their request and the event that they became", () => {
  assert.deepEqual(commands().map(({ kind, summary }) => `${kind}: ${summary}`), [
    'Transact: transact logLine("a raid"), not awaited',
    "UpsertSearchAttributes: subscribe stand_down:orc",
    "StartTimer: timer muster for 1 min 30 s",
    "StartTimer: timer 2 for 1 s",
    "ScheduleActivity: procedure compute_damage(7, 7)",
    "Transact: transact strike(7, 30)",
    "Transact: transact strike(99, 1)",
    "Transact: transact strike(7, 1), required",
    "UpsertSearchAttributes: unsubscribe stand_down:orc",
    'ScheduleLocalActivity: broadcast stand_down:elf("grace")',
    "StartTimer: timer SECRET_name for 1 s",
    'CompleteWorkflow: completes the workflow with {"hp":70,"missed":"npc 99 not found","left":69,"heard":0}',
  ]);
  assert.deepEqual(
    commands().filter(({ eventId, site }) => eventId === undefined || !/tables|^$/.test(site)),
    [],
  );
});

test("the position of code: it waits for a reducer until its marker, and not for a forgotten one", () => {
  const strike =
    session.events.find(({ summary }) => summary.startsWith("transact strike(7, 30)"))!.eventId;
  const started = session.viewAt(strike - 1);
  assert.deepEqual(
    started.open.map((
      { kind, label, endedBy, firesAtMs, arguments: args },
    ) => [kind, label, endedBy, firesAtMs, args]),
    [
      ["transact", 'transact "strike"', undefined, undefined, [7, 30]],
    ],
  );
  assert.deepEqual(session.viewAt(strike).open.map(({ eventId, endedBy }) => [eventId, endedBy]), [[
    strike,
    strike,
  ]]);
  const mustered = session.events.find(({ type }) => type === "TimerStarted")!.eventId;
  assert.deepEqual(session.viewAt(mustered).open.map(({ label }) => label), ['timer "muster"']);
  assert.match(session.code!.why(mustered).sentence, /^Run waits at line \d+ for timer "muster"/);
  assert.match(
    session.code!.why(strike - 1).sentence,
    /^Run waits at line \d+ for transact "strike", since event \d+\.$/,
  );
});

test("lines show input and result of reducers, durations of timers, and subscriptions", () => {
  const said = session.code!.crossings(session.length).filter(({ kind }) =>
    ["arguments", "result"].includes(kind)
  )
    .map(({ kind, name, value }) => `${kind} ${name}: ${value.text}`);
  for (
    const wanted of [
      'arguments : ["a raid"]',
      'arguments : ["stand_down:orc"]',
      'arguments muster: ["1 min 30 s"]',
      'arguments : ["1 s"]',
      "arguments : [7,30]",
      'result transact: {"hp":70}',
      'result transact.required: {"hp":69}',
    ]
  ) assert.ok(said.includes(wanted), `${wanted}, in:\n${said.join("\n")}`);
});

test("the phase counts the passed awaits, as in SQL", () => {
  const phases = session.tasks.map(({ eventId }) => session.viewAt(eventId).phase ?? -1);
  assert.deepEqual(phases, phases.toSorted((a, b) => a - b));
  assert.equal(phases[0], 0);
  // The reducer that nothing waits for counts, too.
  assert.equal(phases.at(-1), 9);
});

test("a redacted history contains no summaries of timers, and replays", async () => {
  const { history: redacted, needed, verified } = await redact(history, { realm });
  assert.deepEqual([needed, verified], [[], true]);
  assert.doesNotMatch(new TextDecoder().decode(redacted), /SECRET|muster|grace/);
  const run = await openRun(redacted!);
  const names = run.items.filter(({ kind }) => kind === "timer").map(({ name }) => name);
  assert.equal(names.length, 3);
  for (const name of names) assert.doesNotMatch(name, /SECRET|muster/);
});
