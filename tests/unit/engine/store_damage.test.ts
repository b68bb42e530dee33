// What is damage in a store (P7): each kind fails the check, which says where, and looks at the
// other runs all the same.
// promise: P7
import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  closedRun,
  copiedRun,
  ImportError,
  StoreReader,
} from "../../../ts/engine/maintenance/mod.ts";
import type { SqlDatabase } from "../../../ts/engine/sqlite/driver.ts";
import { EventType } from "../../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  type HistoryEvent,
  HistorySchema,
  WorkflowExecutionTerminatedEventAttributesSchema,
  WorkflowTaskScheduledEventAttributesSchema,
} from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { check, filled, sql } from "./support/filled_store.ts";

const runOf = (id: string) => `(SELECT run_key FROM runs WHERE workflow_id = '${id}')`;

/** Changes the events in the stored history of a workflow's run. */
function edit(
  database: SqlDatabase,
  workflowId: string,
  change: (event: HistoryEvent) => void,
): void {
  for (
    const row of database.prepare(
      `SELECT history_key, events FROM history WHERE run_key = ${runOf(workflowId)}`,
    ).all([])
  ) {
    const { events } = fromBinary(HistorySchema, row["events"] as Uint8Array);
    events.forEach(change);
    database.prepare("UPDATE history SET events = ? WHERE history_key = ?").run([
      toBinary(HistorySchema, create(HistorySchema, { events })),
      row["history_key"]!,
    ]);
  }
}

const event = (id: number, change: (event: HistoryEvent) => void) => (database: SqlDatabase) =>
  edit(database, "c1", (event) => event.eventId === BigInt(id) && change(event));

/**
 * The history of c1: 1 started, 2-4 task, 5 TIMER_STARTED, 6 TIMER_FIRED, 7-9 task, 10 completed.
 */
interface Damage {
  readonly what: string;
  readonly how: string | ((database: SqlDatabase) => void);
  /** Whose: "" for the file as a whole. */
  readonly where: string;
  readonly says: RegExp;
  /** What `check` reports for the file as a whole in addition. */
  readonly also?: RegExp;
}

const DAMAGE: readonly Damage[] = [
  {
    what: "the first batch of a history is gone",
    how: `DELETE FROM history WHERE first_event_id = 1 AND run_key = ${runOf("c1")}`,
    where: "c1",
    says: /history cannot be read.*gap before event/,
    also: /batches of history that do not follow|number of events differs/,
  },
  {
    what: "the newest batch of a history is gone",
    how:
      `DELETE FROM history WHERE history_key = (SELECT history_key FROM runs WHERE workflow_id = 'f1')`,
    where: "f1",
    says: /history cannot be read/,
    also: /newest batch of history is missing|number of events differs/,
  },
  {
    what: "a batch is not a history",
    how: `UPDATE history SET events = x'ffff' WHERE first_event_id = 1 AND run_key = ${
      runOf("f1")
    }`,
    where: "f1",
    says: /history cannot be decoded after event 0/,
  },
  {
    what: "a batch belongs to another run",
    how: `UPDATE history SET run_key = ${runOf("o2")} WHERE run_key = ${runOf("o1")}`,
    where: "o1",
    says: /history cannot be read/,
    also: /newest batch of history is missing|number of events differs/,
  },
  {
    what: "a batch belongs to no run",
    how:
      "INSERT INTO history (history_key, prev, run_key, first_event_id, last_event_id, events) VALUES (99999, 0, 999999, 1, 1, x'')",
    where: "",
    says: /batches of history without a run: 99999/,
  },
  {
    what: "a number of an event is wrong",
    how: event(5, (e) => e.eventId = 7n),
    where: "c1",
    says: /event 5 \(TIMER_STARTED\) has id 7: the history has missing or repeated events/,
  },
  {
    what: "an event has lost its attributes",
    how: event(6, (e) => e.attributes = { case: undefined }),
    where: "c1",
    says: /event 6 \(TIMER_FIRED\) has no attributes/,
  },
  {
    what: "an event has the attributes of another type",
    how: event(6, (e) => e.eventType = EventType.TIMER_CANCELED),
    where: "c1",
    says:
      /event 6 \(TIMER_CANCELED\) has the attributes of another type \(timerFiredEventAttributes\)/,
  },
  {
    what: "an event has lost its time",
    how: event(6, (e) => delete e.eventTime),
    where: "c1",
    says: /event 6 \(TIMER_FIRED\) has no time/,
  },
  {
    what: "an event refers to a later event",
    how: event(6, (e) => (e.attributes.value as { startedEventId: bigint }).startedEventId = 9n),
    where: "c1",
    says: /event 6 \(TIMER_FIRED\) has the startedEventId 9, but no earlier event has that id/,
  },
  {
    what: "an event refers to another event",
    how: event(6, (e) => (e.attributes.value as { startedEventId: bigint }).startedEventId = 4n),
    where: "c1",
    says:
      /event 6 \(TIMER_FIRED\) has the startedEventId 4, but that event is a WORKFLOW_TASK_COMPLETED/,
  },
  {
    what: "a history begins with something else",
    how: event(1, (e) => {
      e.eventType = EventType.WORKFLOW_TASK_SCHEDULED;
      e.attributes = {
        case: "workflowTaskScheduledEventAttributes",
        value: create(WorkflowTaskScheduledEventAttributesSchema),
      };
    }),
    where: "c1",
    says: /begins with WORKFLOW_TASK_SCHEDULED instead of WORKFLOW_EXECUTION_STARTED/,
  },
  {
    what: "a run ends in the middle of its history",
    how: event(6, (e) => {
      e.eventType = EventType.WORKFLOW_EXECUTION_TERMINATED;
      e.attributes = {
        case: "workflowExecutionTerminatedEventAttributes",
        value: create(WorkflowExecutionTerminatedEventAttributesSchema),
      };
    }),
    where: "c1",
    says: /event 6 \(WORKFLOW_EXECUTION_TERMINATED\) closes the run, and \d+ events follow/,
  },
  {
    what: "the state of a run is rubbish",
    how: "UPDATE runs SET head = x'0102030405' WHERE workflow_id = 'o1'",
    where: "o1",
    says: /state cannot be decoded/,
  },
  {
    what: "the state is of another run",
    how:
      "UPDATE runs SET head = (SELECT head FROM runs WHERE workflow_id = 'o2') WHERE workflow_id = 'o1'",
    where: "o1",
    says: /state cannot be decoded/,
  },
  {
    what: "the state is of an earlier moment",
    // Field 8, the number of the next event, appears twice: the last value counts.
    how: "UPDATE runs SET head = CAST(head || x'4003' AS BLOB) WHERE workflow_id = 'o1'",
    where: "o1",
    says: /state continues at event 3, but its row has 4 events/,
  },
  {
    what: "a state item is rubbish",
    how: "INSERT INTO items SELECT run_key, 3, 'x', x'ff' FROM runs WHERE workflow_id = 'o2'",
    where: "o2",
    says: /state cannot be decoded/,
  },
  {
    what: "a state item belongs to no run",
    how: "INSERT INTO items VALUES (999999, 1, 'x', x'')",
    where: "",
    says: /state items without a run: x/,
  },
  {
    what: "the kept number of runs of a type is wrong",
    how: "UPDATE temporalex_run_counts SET n = n + 1 WHERE workflow_type = 'Completes'",
    where: "",
    says: /types whose number of runs differs from the stored number: Completes/,
  },
  {
    what: "the row has another status",
    how: "UPDATE runs SET status = 3 WHERE workflow_id = 'c1'",
    where: "c1",
    says: /ends with WORKFLOW_EXECUTION_COMPLETED, and its row has the status FAILED/,
  },
  {
    what: "the row is open, and the history is not",
    how: "UPDATE runs SET status = 1, close_time_ms = NULL WHERE workflow_id = 'c1'",
    where: "c1",
    says: /ends with WORKFLOW_EXECUTION_COMPLETED, but its row has it as open/,
  },
  {
    what: "the row is closed without a time",
    how: "UPDATE runs SET close_time_ms = NULL WHERE workflow_id = 'c1'",
    where: "c1",
    says: /it is closed, but has no close time/,
  },
  {
    what: "the row would wake a closed run",
    how: "UPDATE runs SET wake_at_ms = 1 WHERE workflow_id = 'c1'",
    where: "c1",
    says: /closed, but its row has pending work for the engine/,
  },
  {
    what: "the row has another workflow type",
    how: "UPDATE runs SET workflow_type = 'Other' WHERE workflow_id = 'c1'",
    where: "c1",
    says: /history has the workflow type "Completes", and its row "Other"/,
    also: /types whose number of runs differs from the stored number: Completes, Other/,
  },
  {
    what: "the row has another start time",
    how: "UPDATE runs SET start_time_ms = start_time_ms - 5000 WHERE workflow_id = 'c1'",
    where: "c1",
    says: /have different start times/,
  },
  {
    what: "the row counts other events",
    how: "UPDATE runs SET history_length = history_length - 1 WHERE workflow_id = 'o1'",
    where: "o1",
    says: /it has 4 events, but its row has 3|state continues at event 5, but its row has 3 events/,
    also: /newest batch of history is missing|number of events differs/,
  },
  {
    what: "the memo is rubbish",
    how: "UPDATE runs SET memo = x'0aff' WHERE workflow_id = 'c1'",
    where: "c1",
    says: /memo cannot be decoded/,
  },
  {
    what: "the search attributes are rubbish",
    how: "UPDATE runs SET search_attributes = x'0aff' WHERE workflow_id = 'c1'",
    where: "c1",
    says: /search attributes cannot be decoded/,
  },
];

for (const { what, how, where, says, also } of DAMAGE) {
  test(`damage is found and reported by run: ${what}`, () =>
    filled(async ({ path }) => {
      sql(path, (database) => typeof how === "string" ? database.exec(how) : how(database));
      const { problems, runs, notes } = await check(path);
      const text = JSON.stringify({ problems, notes }, null, 1);
      assert.equal(runs, 7, "the others are checked all the same");
      assert.ok(problems.some((p) => p.workflowId === where && says.test(p.message)), text);
      for (const problem of problems.filter(({ workflowId }) => workflowId !== where)) {
        assert.equal(problem.workflowId, "", text);
        assert.match(problem.message, also ?? /^$/, text);
      }
    }));
}

/** What a check says of a file that may not even open. */
async function readDamageReport(path: string): Promise<string> {
  try {
    return (await check(path)).problems.map(({ message }) => message).join("\n");
  } catch (e) {
    return (e as Error).message;
  }
}

test("overwritten pages are found anywhere, and a truncated file is reported", () =>
  filled(async ({ path }) => {
    const { length } = readFileSync(path);
    for (let page = 4096; page < length; page += 4096) {
      const file = openSync(path, "r+");
      const before = readFileSync(path).subarray(page, page + 4096);
      // Pages that are not in use may hold anything.
      const used = before.some((byte) => byte !== 0);
      writeSync(file, new Uint8Array(4096).fill(0xa5), 0, 4096, page);
      closeSync(file);
      if (used) assert.notEqual(await readDamageReport(path), "", `page ${page / 4096 + 1}`);
      const back = openSync(path, "r+");
      writeSync(back, before, 0, 4096, page);
      closeSync(back);
    }
    assert.equal(await readDamageReport(path), "");
    truncateSync(path, length - 4096);
    assert.match(
      await readDamageReport(path),
      new RegExp(`${path} is truncated: it has ${length - 4096} of ${length} bytes`),
    );
  }));

test("data that another server may write is not damage, and can be imported with or without a note", () =>
  filled(async ({ path }) => {
    const notesOf = async (change: (event: HistoryEvent) => void) => {
      sql(path, (database) => edit(database, "c1", change));
      const { problems, notes } = await check(path);
      assert.deepEqual(problems, []);
      const reader = StoreReader.open(path);
      try {
        for (const run of reader.runs()) {
          if (run.row.workflowId !== "c1") continue;
          const parts = run.history();
          assert.equal(
            closedRun({ history: Uint8Array.from(parts.flatMap((part) => [...part])) }).row!
              .historyLength,
            10,
          );
          assert.equal(
            copiedRun(run.row, run.record.head, run.record.items, parts).append.length,
            parts.length,
          );
        }
      } finally {
        reader.close();
      }
      return notes.map(({ workflowId, message }) => `${workflowId}: ${message}`);
    };
    // Hosts whose clocks differ, attempts that began long ago, events that a reset or a failover
    // copied.
    assert.deepEqual(
      await notesOf((e) => {
        if (e.eventId > 1n) e.eventTime!.seconds += (e.eventId % 3n - 1n) * 86_400n;
      }),
      [],
    );
    const older = await notesOf((e) => {
      if (e.eventId === 6n) {
        (e.attributes.value as { startedEventId: bigint }).startedEventId = -23n;
      }
      if (e.eventId === 5n) {
        (e.attributes.value as { workflowTaskCompletedEventId: bigint })
          .workflowTaskCompletedEventId = 8n;
      }
    });
    assert.deepEqual(older, [
      "c1: event 5 (TIMER_STARTED) has the workflowTaskCompletedEventId 8, but no earlier event has that id",
    ]);
    const [novel, added] = await notesOf((e) => {
      if (e.eventId === 6n) {
        e.eventType = 4711 as EventType;
        e.attributes = { case: undefined };
        e.$unknown = [{ no: 4711, wireType: 2, data: new Uint8Array([1, 0]) }];
      }
      if (e.eventId === 8n) {
        e.attributes = { case: undefined };
        e.$unknown = [{ no: 4712, wireType: 2, data: new Uint8Array([1, 0]) }];
      }
    });
    assert.match(
      novel!,
      /event 6 \(type 4711\) has a type that this version of temporalex does not support; it is kept unchanged/,
    );
    assert.match(
      added!,
      /event 8 \(WORKFLOW_TASK_STARTED\) has attributes that this version of temporalex does not support/,
    );
  }));

test("damaged runs of another store are rejected by name", () =>
  filled(({ path }) => {
    const reader = StoreReader.open(path);
    try {
      for (const run of reader.runs()) {
        if (run.row.workflowId !== "c1") continue;
        const parts = run.history();
        const copied = (history: Uint8Array[]) => () =>
          copiedRun(run.row, run.record.head, run.record.items, history);
        assert.throws(copied(parts.slice(1)), (e) =>
          e instanceof ImportError && /run .* of workflow "c1" is damaged/.test(e.message));
        assert.throws(
          copied([new Uint8Array([255])]),
          /workflow "c1" is damaged: its history cannot be decoded/,
        );
      }
    } finally {
      reader.close();
    }
    return Promise.resolve();
  }));
