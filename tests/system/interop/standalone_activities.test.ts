// runtime: node (compares servers and programs; other files cover the runtime)
// Standalone activities of `temporalex dev`: the official client and worker, and the compatible ones.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as ourActivity from "../../../ts/compat/activity/mod.ts";
import * as ourClient from "../../../ts/compat/client/mod.ts";
import * as ourCommon from "../../../ts/compat/common/mod.ts";
import * as ourWorker from "../../../ts/compat/worker/mod.ts";
import { noOfficial, official, quietWorkerPackage } from "./support/official.ts";
import { OurServer } from "./support/our_server.ts";
import { standaloneScenarios } from "./support/standalone_scenarios.ts";

let server: OurServer;
before(async () => {
  if (noOfficial === false) server = await OurServer.start();
});
after(() => server?.stop());

const FAILED = "ActivityExecutionFailedError: Activity execution failed";
const TAKEN = "ActivityExecutionAlreadyStartedError: Activity execution already started";

const expected = (queue: string) => ({
  result: "hello",
  described: {
    status: "COMPLETED",
    attempt: 1,
    activityType: "echo",
    maximumAttempts: 7,
    priority: { priorityKey: 2, fairnessKey: "", fairnessWeight: 0 },
    isSameRun: true,
    input: ["hello"],
    output: "hello",
    hasOutcomeFailure: false,
    scheduleToCloseTimeoutMs: 60_000,
    isClosed: true,
  },
  failed: [FAILED, "ApplicationFailure: failure"],
  details: ["detail"],
  flaky: 3,
  info: [false, null, null, null, "default", 36],
  taken: [TAKEN],
  isTakenRun: true,
  isUsedRun: true,
  cancellation: [FAILED, "CancelledFailure: Activity canceled"],
  canceled: { status: "CANCELED", canceledReason: "test cancellation" },
  termination: [FAILED, "TerminatedFailure: test termination"],
  terminated: "TERMINATED",
  late: [FAILED, "TimeoutFailure: activity ScheduleToStart timeout"],
  timeoutType: "SCHEDULE_TO_START",
  closed: [TAKEN],
  later: "from elsewhere",
  beat: "beat",
  missing: [
    `ActivityNotFoundError: activity not found for ID: ${queue}-missing`,
  ],
  missingResult: [
    `ActivityNotFoundError: activity not found for ID: ${queue}-missing`,
  ],
  closedCancel: [
    "ServiceError: Failed to request activity cancellation",
    `Error: 9 FAILED_PRECONDITION: activity ${queue}-later is closed`,
  ],
  noQueue: ["TypeError: taskQueue is required"],
  noTimeout: [
    "TypeError: Either scheduleToCloseTimeout or startToCloseTimeout is required",
  ],
  listed: [
    "list-a echo COMPLETED",
    "list-a echo COMPLETED",
    "list-b echo COMPLETED",
  ],
  counted: 3,
  grouped: [{ count: 3, groupValues: [["Completed"]] }],
  badQuery: ["ServiceError: Failed to count activities"],
  paused: { status: "PAUSED", runState: "PAUSED" },
  changed: [null, 9000],
  operated: "late",
  isRestored: true,
});

const plain = (document: unknown) => JSON.parse(JSON.stringify(document)) as unknown;

test("the official client and worker run standalone activities", {
  skip: noOfficial,
}, async () => {
  const packages = {
    client: official("@temporalio/client"),
    worker: quietWorkerPackage(),
    activity: official("@temporalio/activity"),
    common: official("@temporalio/common"),
  };
  const found = await standaloneScenarios(packages, server.address, "official");
  assert.deepEqual(plain(found), expected("official"));
});

test(
  "the compatible client and worker do the same",
  { skip: noOfficial },
  async () => {
    const packages = {
      client: ourClient,
      worker: ourWorker,
      activity: ourActivity,
      common: ourCommon,
    };
    const found = await standaloneScenarios(packages, server.address, "ours");
    assert.deepEqual(plain(found), expected("ours"));
  },
);
