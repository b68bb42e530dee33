// Branches of runs with tables: reducers run over the given tables, or return their recorded
// results; unknown values are requested. Procedures and broadcasts end as in a real run.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createWorkerRealm, type WorkerRealm } from "../../../ts/realm/mod.ts";
import {
  type BranchOptions,
  type BranchResult,
  type Edit,
  EditError,
  runBranch,
} from "../../../ts/what_if/mod.ts";
import { eventId, formatHistoryLines } from "./support.ts";
import { liveWithTables, MIGRATIONS, REDUCERS, TABLES } from "./tables_support.ts";

const tables = { reducers: REDUCERS, migrations: MIGRATIONS };
let realm: WorkerRealm;
let duel: Uint8Array;
before(async () => {
  realm = await createWorkerRealm({ workflows: new URL(TABLES) });
  duel = await liveWithTables("Duel", [7]);
});
after(() => realm.dispose());

const branch = (
  edits: readonly Edit[],
  options: Partial<BranchOptions> = {},
): Promise<BranchResult> => runBranch(duel, { realm, edits, ...options });
/** A signal of the second that follows the first blow. */
const stronger = (): Edit => ({
  kind: "insert",
  after: eventId(duel, "markerRecorded", 2),
  afterMs: 500,
  message: { kind: "signal", name: "strength", args: [60] },
});
const answer = (n: number, hp: number): Edit => ({
  kind: "answer",
  key: `transact strike ${n}`,
  end: { kind: "completed", result: { hp } },
});

test("without a change, reducers return their recorded results from any position", async () => {
  const recorded = formatHistoryLines(duel);
  for (const from of [1, eventId(duel, "markerRecorded", 3), Infinity]) {
    const { history, outcome, questions } = await branch([], { from });
    assert.deepEqual([outcome.kind, questions], ["completed", []]);
    assert.deepEqual(formatHistoryLines(history), recorded);
  }
});

test("a reducer with changed arguments needs a manual result, and then the branch ends like a real run", async () => {
  const asks = await branch([stronger()]);
  assert.equal(asks.outcome.kind, "asks");
  assert.deepEqual(asks.questions.map(({ key, of, type, args }) => [key, of, type, args]), [
    ["transact strike 1", "transact", "strike", [7, 60]],
  ]);
  const { history, outcome } = await branch([stronger(), answer(1, 10), answer(2, 0)]);
  assert.equal(outcome.kind, "completed");
  const real = await liveWithTables("Duel", [7], [[
    1500,
    (handle) => handle.signal("strength", 60),
  ]]);
  assert.deepEqual(formatHistoryLines(history), formatHistoryLines(real));
});

test("with tables, reducers run on the state that the kept events produce", async () => {
  const { history, outcome, questions, otherTables } = await branch([stronger()], { tables });
  assert.deepEqual([outcome.kind, questions, otherTables], ["completed", [], []]);
  const real = await liveWithTables("Duel", [7], [[
    1500,
    (handle) => handle.signal("strength", 60),
  ]]);
  assert.deepEqual(formatHistoryLines(history), formatHistoryLines(real));
});

test("tables that differ from the recorded ones are reported with the events that differ", async () => {
  const migrations = [{ name: "001", sql: MIGRATIONS[0]!.sql.replace("100", "50") }];
  const { otherTables } = await branch([stronger()], {
    tables: { reducers: REDUCERS, migrations },
  });
  assert.deepEqual(otherTables, [eventId(duel, "markerRecorded", 2)]);
});

test("what if a reducer had returned another result or thrown", async () => {
  const event = eventId(duel, "markerRecorded", 2);
  const won = await branch([{
    kind: "transact",
    eventId: event,
    end: { kind: "completed", result: { hp: 0 } },
  }]);
  assert.match(formatHistoryLines(won.history).at(-1)!, /^run completed {2}"won after 1"/);
  const thrown = await branch([{
    kind: "transact",
    eventId: event,
    end: { kind: "failed", failure: { message: "no such npc" } },
  }]);
  assert.match(formatHistoryLines(thrown.history).at(-1)!, /^run failed {2}no such npc/);
  // The first one is not waited for: what it throws fails its task, as it does on an engine.
  const first = eventId(duel, "markerRecorded", 1);
  const stuck = await branch([{
    kind: "transact",
    eventId: first,
    end: { kind: "failed", failure: { message: "full" } },
  }]);
  assert.deepEqual(stuck.outcome, {
    kind: "stuck",
    message: 'reducer "logLine" fails the workflow task: full',
  });
});

test("errors are reported by name", async () => {
  const none: Edit = { kind: "transact", eventId: 2, end: { kind: "completed" } };
  await assert.rejects(
    branch([none]),
    (e) => e instanceof EditError && /event 2 is of no reducer/.test(e.message),
  );
  const some: Edit = {
    kind: "transact",
    eventId: eventId(duel, "markerRecorded", 2),
    end: { kind: "completed" },
  };
  await assert.rejects(branch([some], { tables }), /reducers of a branch with tables run/);
  await assert.rejects(
    branch([], { tables: { ...tables, reducers: {} } }),
    /ran reducer "logLine", which is not among those given/,
  );
});

test("procedures, broadcasts, subscriptions and named timers use recorded results, and need a manual one past the end of history", async () => {
  const raid = await liveWithTables("Raid", [7], [
    [91_000, (handle) => handle.completeProcedure({ name: "compute_damage" }, 30)],
  ]);
  const whole = await runBranch(raid, { realm, edits: [], from: 1 });
  assert.equal(whole.outcome.kind, "completed");
  assert.deepEqual(formatHistoryLines(whole.history), formatHistoryLines(raid));
  assert.ok(
    formatHistoryLines(raid).includes("timer started muster 90 s at 0 s"),
    formatHistoryLines(raid).join("\n"),
  );
  const other: Edit = {
    kind: "activity",
    eventId: eventId(raid, "activityTaskScheduled"),
    end: { kind: "completed", result: 99 },
  };
  const branched = await runBranch(raid, { realm, edits: [other], tables });
  assert.deepEqual([branched.outcome.kind, branched.questions], ["completed", []]);
  const real = await liveWithTables("Raid", [7], [
    [91_000, (handle) => handle.completeProcedure({ name: "compute_damage" }, 99)],
  ]);
  assert.deepEqual(formatHistoryLines(branched.history), formatHistoryLines(real));
});
