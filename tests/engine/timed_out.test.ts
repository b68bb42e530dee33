// What the listener for timed out attempts hears: names of limits, when the next attempt is due, and only of those that no worker logs.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimedOutAttempt } from "../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { TimeoutType } from "../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { type ActivityTimeout, activityTimeout, reportTimeouts, warnOfTimeouts } from "../../ts/engine/timed_out.ts";

const attempt = (more: Partial<TimedOutAttempt> = {}): TimedOutAttempt => ({
  workflowId: "order",
  runId: "r",
  workflowType: "Order",
  activityId: "1",
  activityType: "charge",
  attempt: 2,
  timeout: TimeoutType.HEARTBEAT,
  nextAttemptMs: 0,
  started: true,
  ...more,
});

test("limits have the names of their options; one that this version does not know keeps its number", () => {
  const named = [
    [TimeoutType.START_TO_CLOSE, "startToClose"],
    [TimeoutType.SCHEDULE_TO_START, "scheduleToStart"],
    [TimeoutType.SCHEDULE_TO_CLOSE, "scheduleToClose"],
    [TimeoutType.HEARTBEAT, "heartbeat"],
    [99, "99"],
  ] as const;
  for (const [timeout, name] of named) assert.equal(activityTimeout(attempt({ timeout }), 1000).timeout, name);
});

test("the next attempt is due in so many milliseconds, at once where its moment has passed, or never", () => {
  const next = (nextAttemptMs: number) => activityTimeout(attempt({ nextAttemptMs }), 10_000).nextAttemptMs;
  assert.equal(next(10_250.4), 250);
  assert.equal(next(9_000), 0);
  assert.equal(next(0), undefined);
});

test("a listener hears of attempts that no worker of this process had, with other workers of all", () => {
  const attempts = [attempt({ activityId: "had" }), attempt({ activityId: "waited", started: false })];
  const heard = (remoteWorkers: boolean) => {
    const ids: string[] = [];
    reportTimeouts(attempts, ({ activityId }) => void ids.push(activityId), remoteWorkers, 0);
    return ids;
  };
  assert.deepEqual(heard(false), ["waited"]);
  assert.deepEqual(heard(true), ["had", "waited"]);
});

test("a listener that throws is called for the next attempt all the same", () => {
  const heard: ActivityTimeout[] = [];
  const listener = (timeout: ActivityTimeout) => {
    heard.push(timeout);
    throw new Error("no log");
  };
  reportTimeouts([attempt(), attempt()], listener, true, 0);
  assert.equal(heard.length, 2);
});

test("the log says which attempt it was and when the next one comes", () => {
  const lines: unknown[] = [];
  const line = (message: string, fields?: object) => void lines.push([message, fields]);
  const warn = warnOfTimeouts({ debug: () => {}, info: () => {}, warn: line, error: () => {} });
  warn(activityTimeout(attempt({ nextAttemptMs: 1500 }), 1000));
  warn(activityTimeout(attempt(), 1000));
  const names = { workflowId: "order", runId: "r", workflowType: "Order", activityId: "1", activityType: "charge", attempt: 2 };
  assert.deepEqual(lines, [
    ["an activity timed out", { ...names, timeout: "heartbeat", nextAttempt: "in 500 ms" }],
    ["an activity timed out", { ...names, timeout: "heartbeat", nextAttempt: "none" }],
  ]);
});
