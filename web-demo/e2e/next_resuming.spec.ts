// The next event that resumes the code: the completion of an awaited operation or a message, never
// the start of an operation.
import type { RunItem, RunModel } from "../src/store/run_model.ts";
import { nextResuming } from "../src/inspector/next_resuming.ts";
import { expect, test } from "./support/story.ts";

type Item = Pick<RunItem, "kind" | "name" | "from" | "closedBy" | "eventIds">;
const item = (kind: RunItem["kind"], name: string, ...eventIds: number[]): Item => ({
  kind,
  name,
  from: eventIds[0]!,
  closedBy: eventIds.length > 1 ? eventIds.at(-1) : undefined,
  eventIds,
});
const model = (length: number, items: readonly Item[]): RunModel =>
  ({
    lines: Array.from({ length }, (_, i) => ({ eventId: i + 1 })),
    itemOf: (id: number) => items.find(({ eventIds }) => eventIds.includes(id)),
  }) as unknown as RunModel;

const ITEMS = [
  item("run", "starts", 1),
  item("task", "", 2, 3, 4),
  item("activity", "charge", 5, 7, 8),
  item("timer", "timer 10 s", 6, 12),
  item("task", "", 9, 10, 11),
  item("signal", "confirm", 13),
];

const found = (open: readonly number[], position: number) => {
  const next = nextResuming(model(13, ITEMS), open.map((eventId) => ({ eventId })), position);
  return next && [next.item.name, next.eventId, next.ends];
};

test("the next event is the completion of the awaited activity, not a later message", () => {
  expect(found([5], 6)).toEqual(["charge", 8, true]);
});

test("of several waits, the first to end is next", () => {
  expect(found([5, 6], 6)).toEqual(["charge", 8, true]);
  expect(found([6], 8)).toEqual(["timer 10 s", 12, true]);
});

test("a message resumes code without another wait; after the last event no event is next", () => {
  expect(found([], 8)).toEqual(["confirm", 13, false]);
  expect(found([5], 13)).toBeUndefined();
});
