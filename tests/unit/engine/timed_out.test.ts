// What the listener for timed out attempts hears: names of limits, when the next attempt is due,
// and only of those that no worker logs.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimedOutAttempt } from "../../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { TimeoutType } from "../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  type ActivityTimeout,
  activityTimeout,
  reportTimeouts,
  warnOfTimeouts,
} from "../../../ts/engine/timed_out.ts";

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

test("timeouts are named like their options; an unknown timeout type keeps its number", () => {
  const named = [
    [TimeoutType.START_TO_CLOSE, "startToClose"],
    [TimeoutType.SCHEDULE_TO_START, "scheduleToStart"],
    [TimeoutType.SCHEDULE_TO_CLOSE, "scheduleToClose"],
    [TimeoutType.HEARTBEAT, "heartbeat"],
    [99, "99"],
  ] as const;
  for (const [timeout, name] of named) {
    assert.equal(activityTimeout(attempt({ timeout }), 1000).timeout, name);
  }
});

test("the delay of the next attempt is in milliseconds, 0 if its time has passed, or undefined", () => {
  const next = (nextAttemptMs: number) =>
    activityTimeout(attempt({ nextAttemptMs }), 10_000).nextAttemptMs;
  assert.equal(next(10_250.4), 250);
  assert.equal(next(9_000), 0);
  assert.equal(next(0), undefined);
});

test("a listener is notified of timed-out attempts of other processes, or of all attempts without local workers", () => {
  const attempts = [
    attempt({ activityId: "had" }),
    attempt({ activityId: "waited", started: false }),
  ];
  const heard = (remoteWorkers: boolean) => {
    const ids: string[] = [];
    const onActivityTimeout = ({ activityId }: { activityId: string }) => void ids.push(activityId);
    reportTimeouts(attempts, { onActivityTimeout, remoteWorkers }, 0);
    return ids;
  };
  assert.deepEqual(heard(false), ["waited"]);
  assert.deepEqual(heard(true), ["had", "waited"]);
});

test("a listener that throws is called again for the next attempt", () => {
  const heard: ActivityTimeout[] = [];
  const listener = (timeout: ActivityTimeout) => {
    heard.push(timeout);
    throw new Error("no log");
  };
  reportTimeouts([attempt(), attempt()], { onActivityTimeout: listener, remoteWorkers: true }, 0);
  assert.equal(heard.length, 2);
});

test("the log contains the attempt and the time of the next one", () => {
  const lines: unknown[] = [];
  const line = (message: string, fields?: object) => void lines.push([message, fields]);
  const warn = warnOfTimeouts({ debug: () => {}, info: () => {}, warn: line, error: () => {} });
  warn(activityTimeout(attempt({ nextAttemptMs: 1500 }), 1000));
  warn(activityTimeout(attempt(), 1000));
  const names = {
    workflowId: "order",
    runId: "r",
    workflowType: "Order",
    activityId: "1",
    activityType: "charge",
    attempt: 2,
  };
  assert.deepEqual(lines, [
    ["an activity timed out", { ...names, timeout: "heartbeat", nextAttempt: "in 500 ms" }],
    ["an activity timed out", { ...names, timeout: "heartbeat", nextAttempt: "none" }],
  ]);
});
