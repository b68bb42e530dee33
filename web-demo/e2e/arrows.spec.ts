// Arrows of the timeline: from an event to the fiber that it resumed.
import type { Cause, DebugSession } from "temporalex/debug";
import { arrowsOf, causesByTask, type Placed } from "../src/timeline/arrows.ts";
import { expect, test } from "./support/story.ts";

const cause = (eventId: number, fiber: number | undefined, taskEventId: number): Cause => ({
  ...{ eventId, fiber, taskEventId, place: undefined },
});
const session = (causes: readonly Cause[], tasks = 3): DebugSession => {
  const fibers = [{ kind: "run", name: "run" }, { kind: "async", name: "handler of restock" }, {
    kind: "handler",
    name: "short",
  }];
  return { code: { causes, fibers }, tasks: Array(tasks).fill({}) } as unknown as DebugSession;
};
const charge = { name: "charge" };
const placed = {
  model: { itemOf: (eventId: number) => eventId === 5 ? charge : undefined },
  session: session([]),
  scale: { x: (ms: number) => ms / 10 },
  clock: Array.from({ length: 10 }, (_, i) => i * 100),
  added: [{ is: "state", bars: [{ fiber: 1 }] }, { is: "fiber", bars: [{ fiber: 1 }] }],
  lanes: [{ top: 72, height: 24, lane: { items: [{}] } }, {
    top: 96,
    height: 24,
    lane: { items: [charge] },
  }],
} as unknown as Placed;

test("causes are found by the task in which their fiber resumed; very long runs have no causes", () => {
  const all = [cause(5, 0, 7), cause(6, 1, 7), cause(8, 0, 9)];
  expect([...causesByTask(session(all))].map(([task, of]) => [task, of.length])).toEqual([[7, 2], [
    9,
    1,
  ]]);
  expect(causesByTask(session(all, 2001)).size).toBe(0);
});

test("an arrow connects the lane of the cause with the lane of the fiber", () => {
  const to = (fiber: number | undefined) => arrowsOf([cause(5, fiber, 7)], placed);
  expect(to(0)).toEqual([{
    key: "5 0",
    fromX: 40,
    fromY: 108,
    toX: 60,
    toY: 20,
    text: "charge wakes run",
  }]);
  // The fiber's lane is the second lane that the replay adds; the lane of published states is
  // another one.
  expect(to(1).map(({ toY, text }) => [toY, text])).toEqual([[
    68,
    "charge wakes handler of restock",
  ]]);
});

test("an item without a lane has no arrow, and the number of arrows is bounded", () => {
  expect(arrowsOf([cause(5, 2, 7), cause(5, undefined, 7), cause(6, 0, 7)], placed)).toEqual([]);
  expect(arrowsOf(Array(50).fill(cause(5, 0, 7)), placed)).toHaveLength(12);
});

test("a step to the task after an activity shows the fiber that the activity resumed, in both directions", async ({ app }) => {
  const { page } = app;
  const arrow = page.locator(".tl-arrows title");
  await app.sample("shopping_cart", 41);
  await expect(arrow).toHaveText(["sendReceipt wakes run"]);
  await app.sample("shopping_cart", 4);
  await expect(arrow).toHaveCount(0);
  await app.sample("shopping_cart", 28);
  await expect(arrow).toHaveText(["charge wakes run"]);
});
