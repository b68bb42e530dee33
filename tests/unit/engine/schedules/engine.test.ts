// Schedules on the embedded engine in virtual time: what they start, when, and what they report.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Client,
  ScheduleAlreadyRunningError,
  type ScheduleHandle,
  ScheduleNotFoundError,
} from "../../../../ts/client/mod.ts";
import { ApplicationFailure } from "../../../../ts/converter/mod.ts";
import { TestEnvironment } from "../../../../ts/testing/mod.ts";
import {
  signal,
  sleep,
  waitForSignal,
  workflow,
  workflowInfo,
} from "../../../../ts/workflow/mod.ts";

const finish = signal("finish");
const workflows = [{
  quick: workflow("Quick", async (name: string) => `${name} after ${workflowInfo().lastResult}`),
  fails: workflow("Fails", async (): Promise<void> => {
    throw new ApplicationFailure("no paper", { nonRetryable: true });
  }),
  waits: workflow("Waits", async () => await waitForSignal(finish)),
  long: workflow("Long", async () => await sleep("150m")),
}];
const START = Date.parse("2026-01-01T00:00:00Z");
const iso = (date: Date) => date.toISOString().replace(".000Z", "Z");

async function inEnvironment(
  body: (environment: TestEnvironment, client: Client) => Promise<void>,
): Promise<void> {
  const environment = await TestEnvironment.create({ startTime: new Date(START) });
  try {
    await environment.runWorker({ workflows }, () => body(environment, environment.client));
  } finally {
    await environment.dispose();
  }
}

const hourly = (workflowType: string, args: unknown[] = []) => ({
  scheduleId: "hourly",
  spec: { intervals: [{ every: "1h" }] },
  action: { type: "startWorkflow", workflowType, workflowId: "run", args },
} as const);
const ids = async (handle: ScheduleHandle) =>
  (await handle.describe()).info.recentActions.map(({ workflow }) => workflow?.workflowId);

test("a schedule starts its workflow at each time, with the last result and its attributes", async () => {
  await inEnvironment(async (environment, client) => {
    const handle = await client.schedule.create(hourly("Quick", ["a"]));
    await environment.advance("150m");
    assert.deepEqual(await ids(handle), ["run-2026-01-01T01:00:00Z", "run-2026-01-01T02:00:00Z"]);
    const last = client.getHandle(undefined, "run-2026-01-01T02:00:00Z");
    assert.equal(await last.result(), "a after a after undefined");
    const { searchAttributes } = await last.describe();
    assert.match(JSON.stringify(searchAttributes), /hourly/);
    const { info } = await handle.describe();
    assert.equal(info.numActionsTaken, 2);
    assert.deepEqual(info.runningActions, []);
    assert.equal(iso(info.nextActionTimes[0]!), "2026-01-01T03:00:00Z");
    assert.equal(info.nextActionTimes.length, 10);
  });
});

test("SKIP counts the times at which the workflow still runs", async () => {
  await inEnvironment(async (environment, client) => {
    const handle = await client.schedule.create(hourly("Long"));
    await environment.advance("250m");
    assert.deepEqual(await ids(handle), ["run-2026-01-01T01:00:00Z", "run-2026-01-01T04:00:00Z"]);
    assert.equal((await handle.describe()).info.numActionsSkippedOverlap, 2);
  });
});

test("BUFFER_ONE and BUFFER_ALL start later, CANCEL_OTHER and TERMINATE_OTHER stop the other", async () => {
  await inEnvironment(async (environment, client) => {
    const make = (overlap: "BUFFER_ONE" | "BUFFER_ALL" | "CANCEL_OTHER" | "TERMINATE_OTHER") =>
      client.schedule.create({
        ...hourly("Waits"),
        scheduleId: overlap,
        action: { type: "startWorkflow", workflowType: "Waits", workflowId: overlap },
        policies: { overlap },
      });
    const one = await make("BUFFER_ONE");
    const all = await make("BUFFER_ALL");
    const cancel = await make("CANCEL_OTHER");
    const terminate = await make("TERMINATE_OTHER");
    await environment.advance("200m");
    assert.equal((await one.describe()).raw.info?.bufferSize, 1n);
    assert.equal((await one.describe()).info.numActionsSkippedOverlap, 1);
    assert.equal((await all.describe()).raw.info?.bufferSize, 2n);
    assert.deepEqual(await ids(one), ["BUFFER_ONE-2026-01-01T01:00:00Z"]);
    await client.getHandle(undefined, "BUFFER_ONE-2026-01-01T01:00:00Z").signal(finish);
    await client.getHandle(undefined, "BUFFER_ALL-2026-01-01T01:00:00Z").signal(finish);
    await environment.advance("1m");
    assert.deepEqual((await ids(one)).at(-1), "BUFFER_ONE-2026-01-01T02:00:00Z");
    assert.deepEqual((await ids(all)).at(-1), "BUFFER_ALL-2026-01-01T02:00:00Z");
    for (
      const [handle, name, status] of [[cancel, "CANCEL_OTHER", "CANCELED"], [
        terminate,
        "TERMINATE_OTHER",
        "TERMINATED",
      ]] as const
    ) {
      assert.equal((await ids(handle)).length, 3);
      const first = client.getHandle(undefined, `${name}-2026-01-01T01:00:00Z`);
      assert.equal((await first.describe()).status, status);
      const third = client.getHandle(undefined, `${name}-2026-01-01T03:00:00Z`);
      assert.equal((await third.describe()).status, "RUNNING");
    }
  });
});

test("a failure pauses the schedule; a pause, a trigger and a limit change what it starts", async () => {
  await inEnvironment(async (environment, client) => {
    const handle = await client.schedule.create({
      ...hourly("Fails"),
      policies: { pauseOnFailure: true },
    });
    await environment.advance("190m");
    const failed = await handle.describe();
    assert.equal(failed.state.paused, true);
    assert.match(failed.state.note ?? "", /paused due to workflow failure: run-.*: .*no paper/);
    assert.equal(failed.info.numActionsTaken, 1);
    await handle.update((now) => ({
      ...now,
      action: { ...now.action, workflowType: "Quick", args: ["b"] },
      state: { paused: false, note: "again", remainingActions: 2 },
    }));
    await environment.advance("300m");
    const { info, state } = await handle.describe();
    assert.equal(info.numActionsTaken, 3);
    assert.equal(state.remainingActions, 0);
    assert.deepEqual(info.nextActionTimes, []);
    await handle.trigger();
    assert.equal((await handle.describe()).info.numActionsTaken, 4);
    await handle.pause("holidays");
    assert.equal((await handle.describe()).state.note, "holidays");
  });
});

test("a backfill takes past times at once, also in the order of BUFFER_ALL", async () => {
  await inEnvironment(async (environment, client) => {
    const handle = await client.schedule.create({
      ...hourly("Quick", ["c"]),
      state: { paused: true },
    });
    const range = { start: new Date(START - 10 * 3_600_000), end: new Date(START - 6 * 3_600_000) };
    await handle.backfill({ ...range, overlap: "ALLOW_ALL" });
    assert.equal((await handle.describe()).info.numActionsTaken, 5);
    const next = { start: new Date(START - 5 * 3_600_000), end: new Date(START - 3 * 3_600_000) };
    await handle.backfill({ ...next, overlap: "BUFFER_ALL" });
    await environment.advance("1m");
    assert.equal((await handle.describe()).info.numActionsTaken, 8);
    assert.deepEqual((await ids(handle)).slice(-3), [
      "run-2025-12-31T19:00:00Z",
      "run-2025-12-31T20:00:00Z",
      "run-2025-12-31T21:00:00Z",
    ]);
    assert.match(
      String(await client.getHandle(undefined, "run-2025-12-31T21:00:00Z").result()),
      /c after c after c after undefined/,
    );
  });
});

test("schedules are listed with queries, counted, and deleted; unknown and repeated ids are rejected", async () => {
  await inEnvironment(async (environment, client) => {
    for (const scheduleId of ["a", "b", "c"]) {
      await client.schedule.create({
        ...hourly("Quick", ["d"]),
        scheduleId,
        state: { paused: scheduleId === "b" },
        memo: { owner: scheduleId },
      });
      await environment.advance("1s");
    }
    const listed = async (query?: string) => {
      const found: string[] = [];
      for await (
        const { scheduleId } of client.schedule.list({
          pageSize: 2,
          ...(query !== undefined && { query }),
        })
      ) {
        found.push(scheduleId);
      }
      return found;
    };
    assert.deepEqual(await listed(), ["c", "b", "a"]);
    assert.deepEqual(await listed("TemporalSchedulePaused = true"), ["b"]);
    assert.deepEqual(await listed('ScheduleId IN ("a", "c")'), ["c", "a"]);
    const b = client.schedule.getHandle("b");
    assert.deepEqual((await b.describe()).memo, { owner: "b" });
    await assert.rejects(
      client.schedule.create({ ...hourly("Quick", ["d"]), scheduleId: "a" }),
      ScheduleAlreadyRunningError,
    );
    await b.delete();
    await assert.rejects(b.describe(), ScheduleNotFoundError);
    assert.deepEqual(await listed(), ["c", "a"]);
  });
});
