// runtime: node
// takes: 10 s
// `Worker.runReplayHistory` of both packages on the same histories, where the code throws: in a
// task that the history has as completed, and in one that is still open, which the official
// replayer does not judge.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as ours from "../../../ts/compat/worker/mod.ts";
import { historyBytes } from "../../../ts/compat/worker/replay.ts";
import { noOfficial, official, root } from "./support/official.ts";

const folder = mkdtempSync(join(tmpdir(), "temporalex-replays-"));
after(() => rmSync(folder, { recursive: true, force: true }));
if (noOfficial === false) {
  symlinkSync(
    join(root, "tests/system/interop/node_modules"),
    join(folder, "node_modules"),
  );
}
const workflowsPath = join(folder, "workflows.mjs");
writeFileSync(
  workflowsPath,
  `import { sleep } from "@temporalio/workflow";
export async function atOnce() { throw new TypeError("at once"); }
export async function late() { await sleep(5); throw new TypeError("late"); }
export async function fits() { await sleep(5); }
export async function diverges() { await sleep(5); await sleep(5); throw new TypeError("behind what differs"); }
`,
);

const taskQueue = { name: "q" };
const timer = {
  timerStartedEventAttributes: {
    timerId: "1",
    startToFireTimeout: "0.005s",
    workflowTaskCompletedEventId: "4",
  },
};
const fired = {
  timerFiredEventAttributes: { timerId: "1", startedEventId: "5" },
};
const scheduled = {
  workflowTaskScheduledEventAttributes: { taskQueue, attempt: 1 },
};
const started = { workflowTaskStartedEventAttributes: {} };
const completed = { workflowTaskCompletedEventAttributes: {} };
const failed = {
  workflowTaskFailedEventAttributes: {
    cause: "WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE",
  },
};
const ended = { workflowExecutionCompletedEventAttributes: {} };

/** A history as Temporal's JSON has it. */
function historyOf(type: string, ...events: object[]): { events: object[] } {
  // Histories of one run would be one run to the official replayer.
  const runId = randomUUID();
  const begin = {
    workflowExecutionStartedEventAttributes: {
      ...{ workflowType: { name: type }, taskQueue, attempt: 1 },
      ...{
        originalExecutionRunId: runId,
        firstExecutionRunId: runId,
        workflowTaskTimeout: "10s",
      },
    },
  };
  return {
    events: [begin, ...events].map((given, i) => {
      // A task's events name the ones before them.
      const event = given === started
        ? {
          workflowTaskStartedEventAttributes: { scheduledEventId: String(i) },
        }
        : given === failed
        ? {
          workflowTaskFailedEventAttributes: {
            ...failed.workflowTaskFailedEventAttributes,
            scheduledEventId: String(i - 1),
            startedEventId: String(i),
          },
        }
        : given === completed
        ? {
          workflowTaskCompletedEventAttributes: {
            scheduledEventId: String(i - 1),
            startedEventId: String(i),
          },
        }
        : given;
      const [name] = Object.keys(event);
      const eventType = "EVENT_TYPE_" +
        name!.replace("EventAttributes", "").replace(/[A-Z]/g, (c) => "_" + c)
          .toUpperCase();
      return {
        eventId: String(i + 1),
        eventTime: "2026-01-01T00:00:00Z",
        eventType,
        ...event,
      };
    }),
  };
}

const task = [scheduled, started, completed];
const HISTORIES: { readonly [name: string]: { events: object[] } } = {
  "throws in the first task, which is open": historyOf(
    "atOnce",
    scheduled,
    started,
  ),
  "throws in the first task, which failed": historyOf(
    "atOnce",
    scheduled,
    started,
    failed,
  ),
  "throws in the first task, which was completed": historyOf(
    "atOnce",
    ...task,
    timer,
    fired,
    ...task,
    ended,
  ),
  "throws in the second task, which is open": historyOf(
    "late",
    ...task,
    timer,
    fired,
    scheduled,
    started,
  ),
  "throws in the second task, which failed": historyOf(
    "late",
    ...task,
    timer,
    fired,
    scheduled,
    started,
    failed,
  ),
  "throws in the second task, which is not started": historyOf(
    "late",
    ...task,
    timer,
    fired,
    scheduled,
  ),
  "throws in the second task, which was completed": historyOf(
    "late",
    ...task,
    timer,
    fired,
    ...task,
    ended,
  ),
  "is of an unknown type, its task open": historyOf(
    "absent",
    scheduled,
    started,
  ),
  "is of an unknown type, and ended": historyOf(
    "absent",
    ...task,
    timer,
    fired,
    ...task,
    ended,
  ),
  "fits": historyOf("fits", ...task, timer, fired, ...task, ended),
  "fits, its task open": historyOf(
    "fits",
    ...task,
    timer,
    fired,
    scheduled,
    started,
  ),
  "diverges before it throws": historyOf(
    "diverges",
    ...task,
    timer,
    fired,
    ...task,
    ended,
  ),
};

interface Replayer {
  readonly DefaultLogger: typeof ours.DefaultLogger;
  readonly Runtime: typeof ours.Runtime;
  readonly Worker: Pick<typeof ours.Worker, "runReplayHistory">;
  readonly bundleWorkflowCode: typeof ours.bundleWorkflowCode;
}

/** The verdict on each history; what was logged on the way. */
async function verdicts(
  { bundleWorkflowCode, DefaultLogger, Runtime, Worker }: Replayer,
  telemetry: object,
) {
  const { History } = official("@temporalio/proto").temporal.api.history.v1;
  const lines: string[] = [];
  Runtime.install({
    logger: new DefaultLogger("WARN", ({ message }) => lines.push(message)),
    ...telemetry,
  });
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath,
    logger: new DefaultLogger("ERROR", () => {}),
  });
  const found: { [name: string]: string } = {};
  for (const [name, history] of Object.entries(HISTORIES)) {
    // A separate replayer for each history: the official one mixes up later histories after one
    // that it cannot replay.
    const replayed = Worker.runReplayHistory(
      { workflowBundle },
      History.decode(await historyBytes(history)),
      name,
    );
    found[name] = await replayed.then(() => "ok", (error: Error) => error.name);
  }
  return { found, lines };
}

test("code that throws gets the same verdict as from the official replayer", {
  skip: noOfficial,
}, async () => {
  const silent = {
    telemetryOptions: { logging: { filter: "OFF", forward: {} } },
  };
  const there = await verdicts(official("@temporalio/worker"), silent);
  const here = await verdicts(ours, {});
  assert.deepEqual(here.found, there.found);
  assert.equal(there.found["throws in the second task, which is open"], "ok");
  assert.equal(
    there.found["throws in the second task, which was completed"],
    "ReplayError",
  );
  // An error that is not a verdict is reported.
  const told = here.lines.filter((line) =>
    /the open task of .* fails: late \(.*workflows\.mjs:3:/.test(line)
  );
  assert.equal(told.length, 3, here.lines.join("\n"));
});
