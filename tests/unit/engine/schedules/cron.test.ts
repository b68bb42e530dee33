// Cron schedules of workflows: their times, and the runs that follow each other in virtual time. The
// state machine's rules are tested in core-rs/tests/engine/crons.rs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Client } from "../../../../ts/client/mod.ts";
import { invalidCron, nextCronUs } from "../../../../ts/engine/schedules/cron.ts";
import { Code, ServiceError } from "../../../../ts/service/raw.ts";
import { TestEnvironment } from "../../../../ts/testing/mod.ts";
import {
  ApplicationFailure,
  signal,
  sleep,
  startChild,
  waitForSignal,
  workflow,
  workflowInfo,
} from "../../../../ts/workflow/mod.ts";
import { until } from "../../../support/until.ts";

type Step = readonly [scheduledUs: number, nowUs: number, seconds: number | "invalid" | "never"];

/**
 * Random schedules in ten time zones, and special ones: delays of three consecutive runs, computed
 * with robfig/cron 3.0.1 as Temporal's server 1.29 does.
 */
const recorded = JSON.parse(
  readFileSync("tests/unit/engine/schedules/cron_times.json", "utf8"),
) as readonly (readonly [schedule: string, ...steps: Step[]])[];

test("random cron schedules have the delays of a server", () => {
  assert.equal(recorded.length, 458);
  for (const [schedule, ...steps] of recorded) {
    for (const [scheduledUs, nowUs, expected] of steps) {
      let found: unknown;
      try {
        const next = nextCronUs(schedule, scheduledUs, nowUs);
        found = next === undefined ? "never" : Math.ceil((next - nowUs) / 1e6);
      } catch {
        found = "invalid";
      }
      assert.equal(found, expected, `${schedule} at ${nowUs}`);
    }
  }
});

test("fractions of a duration are exact, as on a server", () => {
  for (const [every, seconds] of [["4.35m", 261], ["1.1h", 3960], ["0.29m", 17], ["1500ms", 1]]) {
    assert.equal(nextCronUs(`@every ${every}`, 0, 1000), Number(seconds) * 1e6, `${every}`);
  }
});

test("long schedules and reasons are cut in the error text", () => {
  const long = "9".repeat(10_000);
  assert.throws(() => nextCronUs(`${long} * * * *`, 0, 1000), (error) => {
    assert.ok(invalidCron(long, (error as Error).message).length < 400);
    return true;
  });
});

const go = signal("go");
const workflows = [{
  report: workflow("Report", async (name: string) => {
    const { lastResult, attempt, cronSchedule } = workflowInfo();
    if (name === "flaky" && attempt === 1) throw new ApplicationFailure("no paper");
    if (name === "broken") throw new ApplicationFailure("no paper", { nonRetryable: true });
    return `${name} ${cronSchedule} after ${lastResult}`;
  }),
  long: workflow("Long", async () => await sleep("90m")),
  waits: workflow("Waits", async () => await waitForSignal(go)),
  parent: workflow("Parent", async () => {
    await startChild("Report", { id: "child", args: ["c"], cronSchedule: "0 12 * * *" });
    await waitForSignal(go);
  }),
}];
const iso = (date: Date | undefined) => date?.toISOString().replace(".000Z", "Z");

async function inEnvironment(
  startTime: string,
  body: (environment: TestEnvironment, client: Client) => Promise<void>,
): Promise<void> {
  const environment = await TestEnvironment.create({ startTime: new Date(startTime) });
  try {
    await environment.runWorker({ workflows }, () => body(environment, environment.client));
  } finally {
    await environment.dispose();
  }
}

/** The runs of a workflow, oldest first: status and time of the first task. */
async function runsOf(client: Client, id: string): Promise<string[]> {
  const runs: { at: number; text: string }[] = [];
  for await (const { status, startTime, runId } of client.list(`WorkflowId = "${id}"`)) {
    const { executionTime } = await client.getHandle(undefined, id, runId).describe();
    runs.push({ at: Number(startTime), text: `${status} ${iso(executionTime)}` });
  }
  return runs.sort((a, b) => a.at - b.at).map(({ text }) => text);
}

test("a workflow runs at the times of its schedule and gets its last result", async () => {
  await inEnvironment("2026-01-01T00:00:00Z", async (environment, client) => {
    const first = await client.start("Report", {
      id: "r",
      args: ["a"],
      cronSchedule: "0 12 * * *",
    });
    assert.deepEqual(await runsOf(client, "r"), ["RUNNING 2026-01-01T12:00:00Z"]);
    await environment.advance("37h");
    assert.deepEqual(await runsOf(client, "r"), [
      "COMPLETED 2026-01-01T12:00:00Z",
      "COMPLETED 2026-01-02T12:00:00Z",
      "RUNNING 2026-01-03T12:00:00Z",
    ]);
    const { events } = await client.getHandle(undefined, "r", first.runId!).fetchHistory();
    const closing = events.at(-1)!.attributes;
    assert.equal(closing.case, "workflowExecutionCompletedEventAttributes");
    const second = client.getHandle(undefined, "r", closing.value.newExecutionRunId);
    assert.equal(
      await second.result({ followRuns: false }),
      "a 0 12 * * * after a 0 12 * * * after undefined",
    );
    await client.getHandle(undefined, "r").terminate("enough");
    await environment.advance("48h");
    assert.equal((await runsOf(client, "r")).at(-1), "TERMINATED 2026-01-03T12:00:00Z");
  });
});

test("retries come before the schedule, and a failed run is followed by the next", async () => {
  await inEnvironment("2026-01-01T00:00:00Z", async (environment, client) => {
    const options = {
      cronSchedule: "@daily",
      retry: { initialInterval: "1m", maximumAttempts: 2 },
    };
    await client.start("Report", { ...options, id: "f", args: ["flaky"] });
    await client.start("Report", { ...options, id: "b", args: ["broken"] });
    await environment.advance("25h");
    assert.deepEqual(await runsOf(client, "f"), [
      "FAILED 2026-01-02T00:00:00Z",
      "COMPLETED 2026-01-02T00:01:00Z",
      "RUNNING 2026-01-03T00:00:00Z",
    ]);
    assert.deepEqual(await runsOf(client, "b"), [
      "FAILED 2026-01-02T00:00:00Z",
      "RUNNING 2026-01-03T00:00:00Z",
    ]);
    const { events } = await client.getHandle(undefined, "b").fetchHistory();
    const started = events[0]!.attributes;
    assert.equal(started.case, "workflowExecutionStartedEventAttributes");
    assert.equal(started.value.continuedFailure?.message, "no paper");
  });
});

test("a long run skips times, and a run timeout is followed by the next time", async () => {
  await inEnvironment("2026-01-01T00:30:00Z", async (environment, client) => {
    await client.start("Long", { id: "l", cronSchedule: "@hourly" });
    await client.start("Waits", { id: "w", cronSchedule: "@hourly", runTimeout: "10m" });
    await environment.advance("3h");
    assert.deepEqual(await runsOf(client, "l"), [
      "COMPLETED 2026-01-01T01:00:00Z",
      "RUNNING 2026-01-01T03:00:00Z",
    ]);
    assert.deepEqual(await runsOf(client, "w"), [
      "TIMED_OUT 2026-01-01T01:00:00Z",
      "TIMED_OUT 2026-01-01T02:00:00Z",
      "TIMED_OUT 2026-01-01T03:00:00Z",
      "RUNNING 2026-01-01T04:00:00Z",
    ]);
  });
});

test("times follow the clock of their time zone", async () => {
  await inEnvironment("2026-03-28T00:00:00Z", async (environment, client) => {
    await client.start("Report", {
      id: "z",
      args: ["a"],
      cronSchedule: "CRON_TZ=Europe/Berlin 30 8 * * *",
    });
    await environment.advance("30h");
    assert.deepEqual(await runsOf(client, "z"), [
      "COMPLETED 2026-03-28T07:30:00Z",
      "RUNNING 2026-03-29T06:30:00Z",
    ]);
  });
});

test("a signal waits for the delay", async () => {
  await inEnvironment("2026-01-01T00:30:00Z", async (environment, client) => {
    const handle = await client.signalWithStart("Waits", {
      ...{ id: "s", signal: go, signalArgs: [], cronSchedule: "@hourly" },
    });
    await environment.advance("20m");
    assert.equal((await handle.fetchHistory()).events.length, 2);
    await environment.advance("20m");
    assert.deepEqual(await runsOf(client, "s"), [
      "COMPLETED 2026-01-01T01:00:00Z",
      "RUNNING 2026-01-01T02:00:00Z",
    ]);
  });
});

test("a child runs at the times of its schedule until its parent closes", async () => {
  await inEnvironment("2026-01-01T00:00:00Z", async (environment, client) => {
    const parent = await client.start("Parent", { id: "p" });
    await environment.advance("13h");
    assert.deepEqual(await runsOf(client, "child"), [
      "COMPLETED 2026-01-01T12:00:00Z",
      "RUNNING 2026-01-02T12:00:00Z",
    ]);
    await parent.signal(go);
    await parent.result();
    await until(
      "the child is terminated",
      async () => (await runsOf(client, "child")).at(-1) === "TERMINATED 2026-01-02T12:00:00Z",
    );
  });
});

test("an invalid cron schedule is rejected with the reason", async () => {
  await inEnvironment("2026-01-01T00:00:00Z", async (_, client) => {
    const rejected = (options: { cronSchedule: string; startDelay?: string }, text: string) =>
      assert.rejects(client.start("Waits", { id: "bad", ...options }), (error) => {
        const cause = error instanceof ServiceError ? error : (error as Error).cause;
        assert.ok(cause instanceof ServiceError);
        assert.deepEqual([cause.code, cause.message], [Code.INVALID_ARGUMENT, text]);
        return true;
      });
    await rejected(
      { cronSchedule: "60 * * * *" },
      'invalid CronSchedule "60 * * * *": minute 60 is not in the range 0-59',
    );
    await rejected(
      { cronSchedule: "0 0 30 2 *" },
      'invalid CronSchedule "0 0 30 2 *": no time matches within five years',
    );
    await rejected(
      { cronSchedule: "CRON_TZ=Mars/Base 0 0 * * *" },
      'invalid CronSchedule "CRON_TZ=Mars/Base 0 0 * * *": unknown time zone Mars/Base',
    );
    await rejected(
      { cronSchedule: "@daily", startDelay: "1m" },
      "CronSchedule and WorkflowStartDelay may not be used together.",
    );
    await assert.rejects(client.getHandle(undefined, "bad").describe(), /not found/);
  });
});

test("a transaction can start a workflow with a cron schedule", async () => {
  await inEnvironment("2026-01-01T00:00:00Z", async (environment, client) => {
    await environment.transaction(({ workflows: messages }) => {
      messages.start("Report", { id: "t", args: ["a"], cronSchedule: "@hourly" });
      assert.throws(
        () => messages.start("Report", { id: "u", args: ["a"], cronSchedule: "soon" }),
        /invalid CronSchedule "soon": expected 5 fields/,
      );
    });
    assert.deepEqual(await runsOf(client, "t"), ["RUNNING 2026-01-01T01:00:00Z"]);
  });
});
