// runtime: node (rules of the server; other files cover the runtime)
// Schedules on a real Temporal dev server: made, described, listed, changed, paused, triggered,
// backfilled, removed; and read by the official command line.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import {
  Client,
  defineSearchAttributeKey,
  ScheduleAlreadyRunningError,
  type ScheduleHandle,
  ScheduleNotFoundError,
  silentLogger,
} from "../../../ts/client/mod.ts";
import { nativePrograms } from "../../../ts/executor/run/native_program.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { ApplicationFailure, signal, waitForSignal, workflow } from "../../../ts/workflow/mod.ts";
import { invertingCodec } from "../../support/codecs.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";
import { inlineRealm } from "./support/realm.ts";

const report = workflow(
  "Report",
  async (topic: string, copies: number) => `${copies} reports on ${topic}`,
);
const failing = workflow("Failing", async (): Promise<void> => {
  throw new ApplicationFailure("no paper", { nonRetryable: true });
});
const finish = signal("finish");
const long = workflow("Long", async () => {
  await waitForSignal(finish);
});
const customer = defineSearchAttributeKey("Customer", "KEYWORD");
const YEARLY = { calendars: [{ month: "JANUARY", dayOfMonth: 1, hour: 3 }] } as const;

let server: DevServer, service: GrpcService, client: Client, worker: Worker, working: Promise<void>;
const temporal = (...words: string[]) =>
  execFileSync(temporalCli()!, [...words, "--address", server.address], { encoding: "utf8" });
const actions = async (handle: ScheduleHandle) => (await handle.describe()).info.recentActions;

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, taskQueue: "schedules", logger: silentLogger });
  worker = await Worker.create({
    service,
    taskQueue: "schedules",
    realm: await inlineRealm(service, nativePrograms([report, failing, long]).get),
    cachedWorkflows: 0,
    logger: silentLogger,
  });
  working = worker.run();
  temporal("operator", "search-attribute", "create", "--name", "Customer", "--type", "Keyword");
});

after(async () => {
  await worker?.shutdown();
  await working;
  service?.close();
  await server?.stop();
});

test(
  "a schedule is described as it was created, by this client and by the official command line",
  { skip: noServer },
  async () => {
    const startAt = new Date("2030-01-01T00:00:00Z");
    const handle = await client.schedule.create({
      scheduleId: "whole",
      spec: {
        calendars: [{
          hour: [6, { start: 12, end: 18, step: 3 }],
          dayOfWeek: { start: "MONDAY", end: "FRIDAY" },
          comment: "work",
        }],
        intervals: [{ every: "90m", offset: "5m" }],
        cronExpressions: ["30 4 * * SUN"],
        skip: [{ hour: "*", minute: "*", month: "DECEMBER" }],
        startAt,
        jitter: "30s",
        timezone: "Europe/Berlin",
      },
      action: {
        type: "startWorkflow",
        workflowType: report,
        args: ["sales", 2],
        workflowId: "report",
        runTimeout: "1h",
        retry: { maximumAttempts: 3, initialInterval: "2s" },
        memo: { by: "me" },
        searchAttributes: [{ key: customer, value: "ada" }],
        summary: "a report",
      },
      policies: { overlap: "BUFFER_ONE", catchupWindow: "10m", pauseOnFailure: true },
      state: { paused: true, note: "not yet", remainingActions: 3 },
      memo: { owner: "eve" },
      searchAttributes: [{ key: customer, value: "bob" }],
    });
    const { spec, action, policies, state, info, memo, typedSearchAttributes } = await handle
      .describe();
    assert.equal(spec.calendars.length, 2, "the cron expression is a calendar");
    const [calendar] = spec.calendars;
    assert.deepEqual(calendar!.hour, [{ start: 6, end: 6, step: 1 }, {
      start: 12,
      end: 18,
      step: 3,
    }]);
    assert.deepEqual([calendar!.dayOfWeek, calendar!.comment], [[{
      start: "MONDAY",
      end: "FRIDAY",
      step: 1,
    }], "work"]);
    assert.deepEqual(spec.intervals, [{ every: 5_400_000, offset: 300_000 }]);
    assert.deepEqual(spec.skip[0]?.month, [{ start: "DECEMBER", end: "DECEMBER", step: 1 }]);
    assert.deepEqual([spec.startAt, spec.jitter, spec.timezone], [
      startAt,
      30_000,
      "Europe/Berlin",
    ]);
    assert.deepEqual([action.workflowType, action.workflowId, action.taskQueue], [
      "Report",
      "report",
      "schedules",
    ]);
    assert.deepEqual([action.args, action.memo, action.runTimeout, action.summary], [
      ["sales", 2],
      { by: "me" },
      3_600_000,
      "a report",
    ]);
    assert.equal(action.retry?.maximumAttempts, 3);
    assert.deepEqual(policies, {
      overlap: "BUFFER_ONE",
      catchupWindow: 600_000,
      pauseOnFailure: true,
    });
    assert.deepEqual(state, { paused: true, note: "not yet", remainingActions: 3 });
    assert.deepEqual([info.numActionsTaken, info.recentActions], [0, []]);
    assert.deepEqual(memo, { owner: "eve" });
    assert.equal(typedSearchAttributes.get(customer), "bob");

    const theirs = JSON.parse(temporal("schedule", "describe", "-s", "whole", "-o", "json"));
    assert.equal(theirs.schedule.action.startWorkflow.workflowType.name, "Report");
    assert.equal(theirs.schedule.state.notes, "not yet");
    assert.equal(theirs.schedule.spec.timezoneName, "Europe/Berlin");

    const days = await handle.matchingTimes(
      new Date("2030-01-06T00:00:00Z"),
      new Date("2030-01-06T04:00:00Z"),
    );
    const at = Date.parse("2030-01-06T03:30:00Z");
    assert.ok(
      days.some((day) => day.getTime() >= at && day.getTime() <= at + 30_000),
      `half past four in Berlin: ${days}`,
    );
    await handle.delete();
  },
);

test("triggered and backfilled actions run their workflows with their arguments", {
  skip: noServer,
}, async () => {
  const handle = await client.schedule.create({
    scheduleId: "acting",
    spec: { intervals: [{ every: "1h" }] },
    action: { type: "startWorkflow", workflowType: report, args: ["costs", 1] },
    state: { paused: true, triggerImmediately: true },
  });
  await until("it has acted", async () => (await actions(handle)).length === 1);
  const [first] = await actions(handle);
  assert.match(first!.workflow!.workflowId, /^acting-workflow-/);
  assert.equal(
    await client.getHandle(report, first!.workflow!.workflowId).result(),
    "1 reports on costs",
  );
  await handle.trigger();
  await until(
    "it has acted again",
    async () => (await handle.describe()).info.numActionsTaken === 2,
  );
  const start = new Date("2026-01-01T00:30:00Z");
  await handle.backfill({ start, end: new Date("2026-01-01T03:30:00Z"), overlap: "ALLOW_ALL" });
  await until(
    "it has made up for three",
    async () => (await handle.describe()).info.numActionsTaken === 5,
  );
  const made = (await actions(handle)).map(({ scheduledAt }) => scheduledAt?.toISOString());
  assert.ok(made.includes("2026-01-01T02:00:00.000Z"), String(made));
  const description = await handle.describe();
  assert.equal(description.state.paused, true, "all of it while it is paused");
  await handle.delete();
});

test("a schedule acts at its times, up to its last action", { skip: noServer }, async () => {
  const handle = await client.schedule.create({
    scheduleId: "ticking",
    spec: { intervals: [{ every: "1s" }] },
    action: { type: "startWorkflow", workflowType: report, args: ["time", 1] },
    policies: { overlap: "ALLOW_ALL" },
    state: { remainingActions: 2 },
  });
  await until(
    "it has acted twice",
    async () => (await handle.describe()).info.numActionsTaken === 2,
  );
  const { state, info } = await handle.describe();
  assert.equal(state.remainingActions, 0);
  for (const { scheduledAt, takenAt } of info.recentActions) assert.ok(takenAt! >= scheduledAt!);
  await handle.delete();
});

test(
  "pause, unpause and their notes; pause on failure; overlap SKIP",
  { skip: noServer },
  async () => {
    const handle = await client.schedule.create({
      scheduleId: "pausing",
      spec: YEARLY,
      action: { type: "startWorkflow", workflowType: failing },
      policies: { pauseOnFailure: true },
    });
    await handle.pause("holidays");
    await until("it is paused", async () => (await handle.describe()).state.note === "holidays");
    assert.equal((await handle.describe()).state.paused, true);
    await handle.unpause("back");
    await until("the schedule is unpaused", async () => !(await handle.describe()).state.paused);
    assert.equal((await handle.describe()).state.note, "back");
    await handle.trigger("SKIP");
    await until("the failure has paused it", async () => (await handle.describe()).state.paused);
    assert.match((await handle.describe()).state.note ?? "", /fail/i);
    await handle.delete();

    const busy = await client.schedule.create({
      scheduleId: "busy",
      spec: YEARLY,
      action: { type: "startWorkflow", workflowType: long },
      state: { triggerImmediately: true },
    });
    await until("it runs", async () => (await busy.describe()).info.runningActions.length === 1);
    await busy.trigger("SKIP");
    await until(
      "one was left out",
      async () => (await busy.describe()).info.numActionsSkippedOverlap === 1,
    );
    const [running] = (await busy.describe()).info.runningActions;
    await client.getHandle(long, running!.workflowId).signal(finish);
    await busy.delete();
  },
);

test("an update changes the fields that it names and keeps the others, also encrypted values", {
  skip: noServer,
}, async () => {
  const codec = invertingCodec();
  const encrypted = new Client({ service, taskQueue: "schedules", codec, logger: silentLogger });
  await encrypted.schedule.create({
    scheduleId: "changing",
    spec: YEARLY,
    action: {
      type: "startWorkflow",
      workflowType: report,
      args: ["SECRET", 2],
      memo: { about: "SECRET" },
    },
    state: { paused: true },
    memo: { note: "SECRET" },
    searchAttributes: [{ key: customer, value: "bob" }],
  });
  const shown = temporal("schedule", "describe", "-s", "changing", "-o", "json");
  for (const phase of ["SECRET", "U0VDUkVU", "TRUNSRV", "NFQ1JF"]) {
    assert.ok(!shown.includes(phase), phase);
  }
  const blind = client.schedule.getHandle("changing");
  assert.notEqual(
    (await blind.describe()).action.args[0],
    "SECRET",
    "without the codec nothing is readable",
  );
  await blind.update((now) => ({ ...now, spec: { ...now.spec, timezone: "Asia/Tokyo" } }));
  const seeing = encrypted.schedule.getHandle("changing");
  await until(
    "it is updated",
    async () => (await seeing.describe()).spec.timezone === "Asia/Tokyo",
  );
  const { action, memo, state, spec, typedSearchAttributes } = await seeing.describe();
  assert.deepEqual([action.args, action.memo, memo], [["SECRET", 2], { about: "SECRET" }, {
    note: "SECRET",
  }]);
  assert.equal(state.paused, true);
  assert.deepEqual(spec.calendars[0]?.month, [{ start: "JANUARY", end: "JANUARY", step: 1 }]);
  assert.equal(typedSearchAttributes.get(customer), "bob");
  await seeing.update<typeof report>((now) => ({
    ...now,
    action: { ...now.action, workflowType: report, args: ["SECRET two", 3] },
    searchAttributes: [{ key: customer, value: "eve" }],
  }));
  await until("it is updated again", async () => (await seeing.describe()).action.args[1] === 3);
  await until(
    "attributes too",
    async () => (await seeing.describe()).typedSearchAttributes.get(customer) === "eve",
  );
  assert.deepEqual((await seeing.describe()).action.memo, { about: "SECRET" });
  await seeing.delete();
});

test("lists of schedules are paged and filtered; missing schedules throw specific errors", {
  skip: noServer,
}, async () => {
  const ids = Array.from({ length: 7 }, (_, i) => `listed-${i}`);
  for (const scheduleId of ids) {
    await client.schedule.create({
      scheduleId,
      spec: YEARLY,
      action: { type: "startWorkflow", workflowType: report, args: ["lists", 1] },
      state: { paused: scheduleId === "listed-3", note: "a note" },
      memo: { id: scheduleId },
      searchAttributes: [{ key: customer, value: "lists" }],
    });
  }
  const query = `${customer.name} = "lists"`;
  const all = async (query: string) => {
    const found = [];
    for await (const summary of client.schedule.list({ query, pageSize: 3 })) found.push(summary);
    return found;
  };
  const paused = `${query} AND TemporalSchedulePaused = true`;
  await until("all are listed, with what is to come", async () => {
    const found = await all(query);
    return found.length === 7 && found.some(({ info }) => info.nextActionTimes.length > 0) &&
      (await all(paused)).length > 0;
  });
  const summaries = await all(query);
  assert.deepEqual(summaries.map(({ scheduleId }) => scheduleId).sort(), ids);
  const third = summaries.find(({ scheduleId }) => scheduleId === "listed-3")!;
  assert.deepEqual([third.workflowType, third.state, third.memo], ["Report", {
    paused: true,
    note: "a note",
  }, {
    id: "listed-3",
  }]);
  assert.equal(third.typedSearchAttributes.get(customer), "lists");
  assert.equal(third.spec.calendars.length, 1);
  assert.deepEqual((await all(paused)).map(({ scheduleId }) => scheduleId), ["listed-3"]);
  const again = client.schedule.create({
    scheduleId: "listed-0",
    spec: YEARLY,
    action: { type: "startWorkflow", workflowType: "Report" },
  });
  await assert.rejects(again, (error) => error instanceof ScheduleAlreadyRunningError);
  await assert.rejects(
    client.schedule.getHandle("absent").describe(),
    (error) => error instanceof ScheduleNotFoundError,
  );
  await assert.rejects(
    client.schedule.getHandle("absent").trigger(),
    (error) => error instanceof ScheduleNotFoundError,
  );
  const bad = client.schedule.create({
    scheduleId: "bad",
    spec: { cronExpressions: ["every now and then"] },
    action: { type: "startWorkflow", workflowType: "Report" },
  });
  await assert.rejects(bad, (error: Error) => /cron/i.test(error.message));
  for (const id of ids) await client.schedule.getHandle(id).delete();
});
