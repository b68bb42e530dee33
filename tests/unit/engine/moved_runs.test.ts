// Open runs that move into a store from their histories: what continues, what notes name, and what
// is rejected. tests/system/interop/moved_runs.test.ts moves runs of a real server.
// takes: 8 s
// runtime: node (reads files of the system; the engine's other tests run in each runtime)
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { EmbeddedEngine, SqliteStore } from "../../../ts/engine/mod.ts";
import { ImportError, type MovedRun, movedRun } from "../../../ts/engine/maintenance/mod.ts";
import { readHistoryFile } from "../../../ts/history_files/history_file.ts";
import { EventType } from "../../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  type HistoryEvent,
  type HistoryEventSchema,
  HistorySchema,
} from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { timestampFromDate } from "../../../ts/messages/well_known.ts";
import { withSeed } from "../../support/seed.ts";
import { alarms, look } from "./support/sound.ts";

const START = 1_700_000_000_000;
const NOW = START + 60_000;

type Attributes = MessageInitShape<typeof HistoryEventSchema>["attributes"];

const typeOf = (kind: string): EventType => {
  const name = kind.replace(/EventAttributes$/, "").replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase();
  return EventType[name as keyof typeof EventType];
};

/** An encoded history of a workflow with these events after its start, one second apart. */
function history(...more: readonly NonNullable<Attributes>[]): Uint8Array {
  const started: Attributes = {
    case: "workflowExecutionStartedEventAttributes",
    value: {
      workflowId: "w",
      originalExecutionRunId: "r",
      firstExecutionRunId: "r",
      workflowType: { name: "W" },
      taskQueue: { name: "q" },
    },
  };
  const events = [started, ...more].map((attributes, i) => ({
    eventId: BigInt(i + 1),
    eventType: typeOf(attributes.case!),
    eventTime: timestampFromDate(new Date(START + i * 1000)),
    attributes,
  }));
  return toBinary(HistorySchema, create(HistorySchema, { events }));
}

const scheduled: Attributes = {
  case: "workflowTaskScheduledEventAttributes",
  value: { taskQueue: { name: "q" }, attempt: 1 },
};
const begun: Attributes = {
  case: "workflowTaskStartedEventAttributes",
  value: { scheduledEventId: 2n },
};
const completed: Attributes = {
  case: "workflowTaskCompletedEventAttributes",
  value: { scheduledEventId: 2n, startedEventId: 3n },
};
const firstTask = [scheduled, begun, completed] as const;

const eventsOf = ({ write }: MovedRun): HistoryEvent[] =>
  write.append.flatMap(({ events }) => fromBinary(HistorySchema, events).events);
const typesOf = (moved: MovedRun): (string | undefined)[] =>
  eventsOf(moved).map(({ attributes }) => attributes.case?.replace("EventAttributes", ""));

test("a task that waits for a worker, or that no event announces, is there for the next worker", () => {
  const start = "workflowExecutionStarted";
  const [wants, has] = ["workflowTaskScheduled", "workflowTaskStarted"];
  // It waits already.
  const waiting = movedRun({ history: history(scheduled), nowMs: NOW });
  assert.deepEqual([typesOf(waiting), waiting.notes], [[start, wants], []]);
  // A worker elsewhere has it.
  const taken = movedRun({ history: history(scheduled, begun), nowMs: NOW });
  assert.deepEqual(typesOf(taken), [start, wants, has, "workflowTaskTimedOut", wants]);
  assert.match(
    taken.notes.join(),
    /a worker has its workflow task \(event 3\): signals .* are lost/,
  );
  assert.deepEqual(eventsOf(taken).at(-1)!.eventTime, timestampFromDate(new Date(NOW)));
  // It failed, and its repetition has no events.
  const failed = movedRun({
    history: history(scheduled, begun, {
      case: "workflowTaskFailedEventAttributes",
      value: { scheduledEventId: 2n, startedEventId: 3n },
    }),
    nowMs: NOW,
  });
  assert.deepEqual(typesOf(failed), [start, wants, has, "workflowTaskFailed", wants]);
  // Nothing waits.
  const idle = movedRun({ history: history(...firstTask), nowMs: NOW });
  assert.equal(typesOf(idle).length, 4);
});

test("activities without a result wait again, with the described attempt; the note says what is not known", async () => {
  const activity: Attributes = {
    case: "activityTaskScheduledEventAttributes",
    value: { activityId: "a-1", activityType: { name: "A" }, taskQueue: { name: "q" } },
  };
  const all = history(...firstTask, activity);
  const blind = movedRun({ history: all, nowMs: NOW });
  assert.match(blind.notes.join(), /activity a-1 starts again with attempt 1: /);
  const none = new Uint8Array(0);
  const known = movedRun({
    history: all,
    nowMs: NOW,
    activities: new Map([["a-1", { attempt: 7, dueMs: 0, heartbeatDetails: none, paused: false }]]),
  });
  assert.deepEqual(known.notes, []);
  await withMoved([known], async (client) => {
    const { pendingActivities: [activity] } = await client.getHandle("W", "w").describe();
    assert.deepEqual([activity?.activityId, activity?.attempt], ["a-1", 7]);
  });
});

/** A store of these runs, with an engine. It is sound before and after. */
async function withMoved(
  moved: readonly MovedRun[],
  body: (client: Client) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-moved-"));
  const path = join(folder, "moved.sqlite");
  try {
    const store = SqliteStore.open(path);
    store.adopt(moved.map(({ write }) => write));
    store.close();
    assert.deepEqual(alarms(path, await look(path)), []);
    const engine = await EmbeddedEngine.open({ path });
    try {
      await body(new Client({ service: engine, logger: silentLogger }));
    } finally {
      await engine.close();
    }
    assert.deepEqual(alarms(path, await look(path)), []);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

for (
  const [what, events, message] of [
    ["a signal", [{
      case: "signalExternalWorkflowExecutionInitiatedEventAttributes",
      value: { workflowExecution: { workflowId: "x" } },
    }], /event 5 .* is a signal to another workflow without a result/],
    ["a cancellation", [{
      case: "requestCancelExternalWorkflowExecutionInitiatedEventAttributes",
      value: { workflowExecution: { workflowId: "x" } },
    }], /event 5 .* is a cancellation of another workflow without a result/],
    ["a child that has not started", [{
      case: "startChildWorkflowExecutionInitiatedEventAttributes",
      value: { workflowId: "x", workflowType: { name: "X" } },
    }], /event 5 .* is the start of a child without a result/],
    ["a Nexus operation", [{
      case: "nexusOperationScheduledEventAttributes",
      value: { endpoint: "e", service: "s", operation: "o" },
    }], /event 5 .* is a Nexus operation without a result/],
    ["an undecided update", [{
      case: "workflowExecutionUpdateAdmittedEventAttributes",
      value: { request: { meta: { updateId: "u" } } },
    }], /event 5 .* is an update without a decision/],
    ["a pause", [{
      case: "workflowExecutionPausedEventAttributes",
      value: { identity: "me" },
    }], /event 5 .* paused the run; unpause it first/],
  ] as const satisfies readonly (readonly [string, readonly NonNullable<Attributes>[], RegExp])[]
) {
  test(`a run that waits for what only the other service has is rejected: ${what}`, () => {
    assert.throws(
      () => movedRun({ history: history(...firstTask, ...events), nowMs: NOW }),
      (e: Error) =>
        e instanceof ImportError && message.test(e.message) &&
        e.message.includes('run r of workflow "w" cannot be continued here'),
    );
  });
}

const fixtures = "../shared/fixtures/histories";
const skip = existsSync(`${fixtures}/index.json`)
  ? false
  : "the folder of published histories is not next to this checkout";
const CUTS = 6;

test(
  "published histories that are cut anywhere make sound stores, whose engine knows what each run waits for",
  {
    skip,
  },
  () =>
    withSeed(async (seed) => {
      let choices = seed;
      const { entries } = JSON.parse(readFileSync(`${fixtures}/index.json`, "utf8")) as {
        entries: { file: string }[];
      };
      const moved: MovedRun[] = [];
      let rejected = 0;
      for (const { file } of entries) {
        const { bytes } = await readHistoryFile(
          new Uint8Array(readFileSync(`${fixtures}/${file}`)),
        );
        const { events } = fromBinary(HistorySchema, bytes);
        for (let i = 0; events.length > 1 && i < CUTS; i++) {
          // Never the last one, which closes most of them.
          choices = (choices * 48_271) % 2_147_483_647;
          const cut = events.slice(0, 1 + choices % (events.length - 1));
          const whole = toBinary(HistorySchema, create(HistorySchema, { events: cut }));
          const ids = { workflowId: `w-${moved.length}`, runId: `r-${moved.length}` };
          try {
            moved.push(movedRun({ history: renamed(whole, ids.workflowId), ...ids, nowMs: NOW }));
          } catch (e) {
            if (!(e instanceof ImportError)) throw e;
            assert.match(e.message, /cannot be continued here: event \d+ /, file);
            rejected++;
          }
        }
      }
      assert.ok(moved.length > 4 * rejected, `${moved.length} moved, ${rejected} rejected`);
      await withMoved(moved, async (client) => {
        for (const run of moved) {
          const { workflowId, runId } = run.write.row!;
          const handle = client.getHandle("W", workflowId, runId);
          const known = await handle.describe();
          // Timers that are over have fired, and old activities have timed out.
          const { events } = await handle.fetchHistory();
          const open = pendingOf(events);
          assert.deepEqual(
            [known.pendingActivities.length, known.pendingChildren.length],
            [open.activities, open.children],
            workflowId,
          );
        }
      });
    }),
);

/** The history with another workflow id at its start. */
function renamed(bytes: Uint8Array, workflowId: string): Uint8Array {
  const { events } = fromBinary(HistorySchema, bytes);
  const { attributes } = events[0]!;
  if (attributes.case === "workflowExecutionStartedEventAttributes") {
    attributes.value.workflowId = workflowId;
    // They would be over by now.
    attributes.value.workflowRunTimeout = undefined;
    attributes.value.workflowExecutionTimeout = undefined;
    attributes.value.workflowExecutionExpirationTime = undefined;
  }
  return toBinary(HistorySchema, create(HistorySchema, { events }));
}

/** Counted from the events' names alone. */
function pendingOf(events: readonly HistoryEvent[]): { activities: number; children: number } {
  const count = (pattern: RegExp) =>
    events.filter(({ attributes }) => pattern.test(attributes.case ?? "")).length;
  return {
    activities: count(/^activityTaskScheduledE/) -
      count(/^activityTask(Completed|Failed|TimedOut|Canceled)E/),
    children: count(/^childWorkflowExecutionStartedE/) -
      count(/^childWorkflowExecution(Completed|Failed|TimedOut|Canceled|Terminated)E/),
  };
}
