// The timeline of an open run ends at the time at which the run was read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openRun } from "../../../ts/debug/mod.ts";
import { drawingFile } from "../../../ts/report/drawing_file.ts";
import { measure, placeLanes } from "../../../ts/run_view/timeline/geometry.ts";

const START_MS = Date.UTC(2026, 0, 5, 12);
const at = (s: number) => new Date(START_MS + s * 1000).toISOString();

/** An activity that was scheduled at 10 s and is pending. */
const history = (end: readonly object[] = []): Uint8Array =>
  new TextEncoder().encode(JSON.stringify({
    events: [
      {
        eventId: "1",
        eventTime: at(0),
        eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED",
        workflowExecutionStartedEventAttributes: {
          workflowType: { name: "Order" },
          taskQueue: { name: "orders" },
        },
      },
      {
        eventId: "2",
        eventTime: at(1),
        eventType: "EVENT_TYPE_WORKFLOW_TASK_SCHEDULED",
        workflowTaskScheduledEventAttributes: { taskQueue: { name: "orders" } },
      },
      {
        eventId: "3",
        eventTime: at(2),
        eventType: "EVENT_TYPE_WORKFLOW_TASK_STARTED",
        workflowTaskStartedEventAttributes: { scheduledEventId: "2" },
      },
      {
        eventId: "4",
        eventTime: at(10),
        eventType: "EVENT_TYPE_WORKFLOW_TASK_COMPLETED",
        workflowTaskCompletedEventAttributes: { scheduledEventId: "2", startedEventId: "3" },
      },
      {
        eventId: "5",
        eventTime: at(10),
        eventType: "EVENT_TYPE_ACTIVITY_TASK_SCHEDULED",
        activityTaskScheduledEventAttributes: {
          activityId: "1",
          activityType: { name: "charge" },
          taskQueue: { name: "orders" },
          workflowTaskCompletedEventId: "4",
        },
      },
      ...end,
    ],
  }));

const TERMINATED = {
  eventId: "6",
  eventTime: at(12),
  eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED",
  workflowExecutionTerminatedEventAttributes: {},
};

const LOOK = { isDark: false, cuts: true };

test("the bar of a pending activity reaches from its event to the time of reading, and the wait begins at the last event", async () => {
  const measured = measure(await openRun(history()), true);
  const nowMs = START_MS + 40_000;
  const { scale, lanes, waitsFromX } = placeLanes(measured, 900, true, 0, 60, nowMs);
  const bars = lanes.flatMap(({ shapes }) => shapes).filter(({ is }) => is === "bar") as {
    readonly x: number;
    readonly w: number;
  }[];
  assert.equal(bars.length, 1);
  const [{ x, w }] = bars as [{ x: number; w: number }];
  assert.equal(waitsFromX, scale.x(START_MS + 10_000));
  assert.equal(x, waitsFromX);
  assert.ok(Math.abs(x + w - scale.x(nowMs)) < 1e-6);
  assert.ok(w > 50, "the wait is visible");
});

test("a time before the last event adds nothing", async () => {
  const measured = measure(await openRun(history()), true);
  const before = placeLanes(measured, 900, true, 0);
  const { waitsFromX, scale } = placeLanes(measured, 900, true, 0, undefined, START_MS);
  assert.equal(waitsFromX, undefined);
  assert.equal(scale.x(START_MS + 10_000), before.scale.x(START_MS + 10_000));
});

test("the drawing of an open run is marked with now; that of a closed run or a file of unknown age is not", async () => {
  const nowMs = START_MS + 40_000;
  assert.match(drawingFile(await openRun(history()), { ...LOOK, nowMs }), />now<\/text>/);
  assert.doesNotMatch(drawingFile(await openRun(history()), LOOK), />now<\/text>/);
  assert.doesNotMatch(
    drawingFile(await openRun(history([TERMINATED])), { ...LOOK, nowMs }),
    />now<\/text>/,
  );
});
