// Two histories side by side: what is aligned, what folds away, where both stand.
import { fromJson } from "@bufbuild/protobuf";
import { HistorySchema } from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { compareRuns } from "../../ts/what_if/compare.ts";
import { eventsAt, firstDifference, foldedSteps } from "../../ts/what_if/folded.ts";
import { deepEqual, equal, ok } from "./assert.ts";
import type { Case } from "./case.ts";

/**
 * A run that got signals, one each second, with bookkeeping between them that no step is made of.
 */
function eventsOf(values: readonly unknown[], bookkeeping = 0) {
  const events: object[] = [{
    eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED",
    workflowExecutionStartedEventAttributes: { workflowType: { name: "Sum" } },
  }];
  for (const value of values) {
    for (let i = 0; i < bookkeeping; i++) {
      events.push({ eventType: "EVENT_TYPE_WORKFLOW_TASK_SCHEDULED" });
    }
    const input = {
      payloads: [{ metadata: { encoding: btoa("json/plain") }, data: btoa(JSON.stringify(value)) }],
    };
    events.push({
      eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED",
      workflowExecutionSignaledEventAttributes: { signalName: "add", input },
    });
  }
  return fromJson(HistorySchema, {
    events: events.map((event, i) => ({
      ...event,
      eventId: String(i + 1),
      eventTime: new Date(Date.UTC(2030, 0, 1) + i * 1000).toISOString(),
    })),
  }).events;
}

const list = (length: number) => Array.from({ length }, (_, i) => i);
const formatRows = (rows: ReturnType<typeof foldedSteps>) =>
  rows.map((row) =>
    row.kind === "fold" ? `${row.from}-${row.to}` : `${row.index}${row.step.same ? "" : "!"}`
  ).join(" ");

/** The values at which two runs part. */
const parting = (a: readonly unknown[], b: readonly unknown[]) => {
  const found = firstDifference(compareRuns(eventsOf(a), eventsOf(b)))!;
  return [found.a?.text, found.b?.text];
};

export const cases: Case[] = [
  {
    name:
      "compared runs: equal steps are folded except two around each difference, and folds can be expanded",
    run() {
      const b = ([...list(20)] as unknown[]).toSpliced(9, 1, "nine").toSpliced(15, 1);
      const comparison = compareRuns(eventsOf(list(20)), eventsOf(b));
      // The start, and the signals 0 to 19: the tenth has another value, the sixteenth is not in B.
      equal(comparison.first, 10);
      deepEqual(comparison.differences, [10, 16]);
      equal(formatRows(foldedSteps(comparison)), "0 1-8 8 9 10! 11 12 13 14 15 16! 17 18 19 20");
      equal(formatRows(foldedSteps(comparison, { around: 0 })), "0 1-10 10! 11-16 16! 17-20 20");
      equal(
        formatRows(foldedSteps(comparison, { around: 0, unfolded: new Set([11]) })),
        "0 1-10 10! 11 12 13 14 15 16! 17-20 20",
      );
    },
  },
  {
    name: "compared runs: each step is in one row, whatever differs",
    run() {
      for (let length = 0; length < 14; length++) {
        for (let changed = -1; changed < length; changed++) {
          for (const around of [0, 1, 2, 5]) {
            const b = list(length).map((i) => i === changed ? "other" : i);
            const comparison = compareRuns(eventsOf(list(length)), eventsOf(b));
            const seen: number[] = [];
            for (const row of foldedSteps(comparison, { around })) {
              if (row.kind === "step") seen.push(row.index);
              else {
                for (let i = row.from; i < row.to; i++) {
                  ok(comparison.steps[i]!.same, "a difference is folded");
                  seen.push(i);
                }
              }
            }
            deepEqual(seen, list(length + 1));
          }
        }
      }
    },
  },
  {
    name: "compared runs: the position of both runs at a step, each by its events",
    run() {
      // Two events of bookkeeping before each signal of B: the third signal is event 4 of A and
      // event 10 of B.
      const comparison = compareRuns(eventsOf([1, 2, 3]), eventsOf([1, 3], 2));
      deepEqual(comparison.steps.map((_, index) => eventsAt(comparison, index)), [[1, 1], [2, 4], [
        3,
        4,
      ], [4, 7]]);
      equal(comparison.first, 2);
      equal(comparison.steps[2]!.b, undefined);
      equal(comparison.steps[3]!.laterMs, 3000);
      deepEqual(parting([1, 2, 3], [1, 3]), ["2", undefined]);
      deepEqual(parting([1, 3], [1, 2, 3]), [undefined, "2"]);
      deepEqual(parting([1, 2, 3, 4], [1, 5, 6, 4]), ["2", "5"]);
      deepEqual(parting([1, 2], [1]), ["2", undefined]);
      equal(firstDifference(compareRuns(eventsOf([1, 2]), eventsOf([1, 2], 1))), undefined);
    },
  },
];
