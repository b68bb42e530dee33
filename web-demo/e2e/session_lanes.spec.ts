// The lanes that a replay adds to the timeline: operations of diverged code, fibers, published
// states.
import type { DebugSession, FiberLane, StateChange } from "temporalex/debug";
import type { RunModel } from "../src/store/run_model.ts";
import { sessionLanes } from "../src/timeline/session_lanes.ts";
import { expect, test } from "./support/story.ts";

const CLOCK = Array.from({ length: 20 }, (_, i) => i * 100);
const model = {
  itemOf: (eventId: number) => ({ kind: "update", name: "restock", from: eventId }),
  detailOf: ({ from }: { from: number }) => `item ${from}`,
} as unknown as RunModel;

const fiber = (
  id: number,
  from: number,
  to: number | undefined,
  more: Partial<FiberLane> = {},
): FiberLane => ({
  ...{
    id,
    kind: "async",
    name: "handler of restock",
    label: "",
    parent: undefined,
    from,
    to,
    cause: from - 1,
  },
  ...more,
});
const published = (taskEventId: number, after: unknown): StateChange => ({
  ...{ taskEventId, place: undefined, fiber: 0, before: undefined, after },
});
const session = (
  fibers: readonly FiberLane[],
  changes: readonly StateChange[] = [],
  more: object = {},
): DebugSession =>
  ({
    code: { fibers, changes: () => changes },
    tasks: [],
    length: 20,
    problem: undefined,
    ...more,
  }) as unknown as DebugSession;

const lanes = (of: DebugSession | undefined) =>
  sessionLanes(model, of, CLOCK).map((
    { label, bars },
  ) => [label, bars.map(({ fromMs, toMs, text }) => [fromMs, toMs, text])]);

test("fibers that outlive their task have lanes named after their message; successive fibers of one name share a lane", () => {
  const run = fiber(0, 3, undefined, { kind: "run", name: "run", cause: undefined });
  // The second fiber begins while the first runs, the third after its end; the fourth ends in the
  // task that started it.
  const of = session([
    run,
    fiber(1, 4, 8),
    fiber(2, 6, undefined),
    fiber(3, 9, 11),
    fiber(4, 12, 12),
  ]);
  expect(lanes(of)).toEqual([
    ["restock", [[300, 700, "item 3"], [800, 1000, "item 8"]]],
    ["restock", [[500, 1900, "item 5"]]],
  ]);
  expect(lanes(undefined)).toEqual([]);
});

test("if there are more concurrent fibers than lanes, the last lane holds the rest and is labeled so", () => {
  const names = Array.from(
    { length: 12 },
    (_, i) => fiber(i, 3, undefined, { name: `branch ${i + 1}`, cause: undefined }),
  );
  const found = lanes(session(names));
  expect(found.map(([label]) => label)).toEqual([
    ...names.slice(0, 7).map(({ name }) => name),
    "more fibers",
  ]);
  expect(found.at(-1)![1]).toHaveLength(5);
});

test("a published state lasts until the next one; of several states in one task the last counts", () => {
  const of = session([], [
    published(3, { phase: "open" }),
    published(7, { phase: "paid" }),
    published(7, { phase: "sent" }),
  ]);
  expect(lanes(of)).toEqual([["state", [[200, 600, "open"], [600, 1900, "sent"]]]]);
  expect(lanes(session([], [published(3, 1)], { tasks: Array(2001).fill({}) }))).toEqual([]);
});

test("at a divergence a lane shows what the code did instead", () => {
  const problem = (isDivergence: boolean, divergence?: object) => ({
    position: 5,
    isDivergence,
    actual: "StartTimer",
    divergence,
  });
  const text = (of: object) => lanes(session([], [], { problem: of }));
  const first = { code: { text: "a timer of 10 s" }, history: undefined };
  expect(text(problem(true, { first }))).toEqual([["your code", [[400, 400, "a timer of 10 s"]]]]);
  expect(text(problem(true, { first: { code: undefined } }))).toEqual([["your code", [[
    400,
    400,
    "nothing",
  ]]]]);
  expect(text(problem(true))).toEqual([["your code", [[400, 400, "StartTimer"]]]]);
  expect(text(problem(false))).toEqual([]);
});

test("samples show the handlers and states of Inventory, and the timer of a cart that diverges from its history", async ({ app }) => {
  const { page } = app;
  const heads = page.locator(".tl-heads");
  await app.sample("inventory", 33);
  await expect(heads).toContainText("state");
  await expect(page.locator("[data-lane=fiber]").first()).toBeVisible();
  await app.sample("shopping_cart_diverged");
  await expect(heads).toContainText("your code");
  await expect(page.locator("[data-lane=code] .tl-box")).toHaveCount(1);
  await app.sample("shopping_cart");
  await expect(heads).not.toContainText("your code");
});
