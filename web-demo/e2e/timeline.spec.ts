// The timeline: positions of items, cuts, mouse and keys.
import { readFileSync } from "node:fs";
import type { RunItem, RunModel } from "../src/store/run_model.ts";
import { eventAt, measure, placeLanes } from "../../ts/run_view/timeline/geometry.ts";
import { lanesOf } from "../../ts/run_view/timeline/lanes.ts";
import { layoutOf } from "../../ts/run_view/timeline/layout.ts";
import { makeScale, ticksOf } from "../../ts/run_view/timeline/scale.ts";
import { expect, test } from "./support/story.ts";

const equal = (actual: unknown, wanted: unknown): void => expect(actual).toEqual(wanted);
const near = (actual: number, wanted: number): void =>
  expect(Math.abs(actual - wanted)).toBeLessThan(0.5);

/** Ten seconds of work, an idle hour, ten seconds of work. */
const TIMES = [
  ...Array.from({ length: 21 }, (_, i) => i * 500),
  ...Array.from({ length: 21 }, (_, i) => 3_610_000 + i * 500),
];

test("a cut is wider for a longer gap, and all cuts take at most half of the width", () => {
  const withGap = (gapMs: number) => [0, 500, 1000, 1000 + gapMs, 1500 + gapMs, 2000 + gapMs];
  const widths = [10_000, 600_000, 86_400_000].map((ms) => {
    const { x0, x1 } = makeScale(withGap(ms), [], 1000, true).pieces.find(({ isCut }) => isCut)!;
    return x1 - x0;
  });
  expect(widths[1]).toBeGreaterThan(widths[0]! + 20);
  expect(widths[2]).toBeGreaterThan(widths[1]! + 20);
  expect(widths[2]).toBeLessThanOrEqual(300);
  const days = Array.from({ length: 40 }, (_, i) => [i * 86_400_000, i * 86_400_000 + 10]).flat();
  const { pieces } = makeScale(days, [], 1000, true);
  const cut = pieces.filter(({ isCut }) => isCut).reduce((sum, { x0, x1 }) => sum + x1 - x0, 0);
  expect(cut).toBeLessThanOrEqual(501);
});

test("events have a minimum distance, and a run without a large gap is drawn in real time", () => {
  const times = [0, 1, 2, 10_000, 20_000, 30_000, 40_000, 40_002];
  const scale = makeScale(times, [], 1000, true);
  equal(scale.pieces.some(({ isCut }) => isCut), false);
  times.slice(1).forEach((ms, i) =>
    expect(scale.x(ms) - scale.x(times[i]!)).toBeGreaterThanOrEqual(11.9)
  );
  near(scale.x(40_002), 1000);
  // Real time has neither cuts nor minimum distances.
  const real = makeScale(times, [], 1000, false);
  near(real.x(20_001), 500);
  const even = makeScale([0, 1000, 2000, 3000, 4000, 5000, 6000], [], 1000, true);
  equal(even.pieces.length, 1);
});

test("messages whose names overlap are stacked, and messages at one time are a group with a count", () => {
  const scale = makeScale([0, 1000], [], 1000, false);
  const lane = (items: readonly RunItem[]) =>
    ({ key: "m", kind: "signal", label: "m", items, isPoints: true, isOneName: false }) as const;
  const named = (index: number, ms: number, name: string) => item(index, ms, ms, { name });
  const stacked = layoutOf(
    lane([named(0, 100, "add_item"), named(1, 130, "remove_item"), named(2, 500, "checkout")]),
    scale,
    1000,
  );
  equal(stacked.shapes.map(({ is, row }) => [is, row]), [["point", 0], ["point", 1], ["point", 0]]);
  const labelOf = (...names: readonly string[]) => {
    const [shape] = layoutOf(lane(names.map((name, i) => named(i, 100, name))), scale, 1000).shapes;
    return shape!.is === "strip" ? shape!.label : undefined;
  };
  equal(labelOf("resume", "submitAnswer"), "resume, submitAnswer");
  equal(labelOf("add", "add", "add"), "3 × add");
  equal(labelOf("add", "remove", "checkout"), "3 messages");
});

test("idle time is cut out of the axis; the rest is to scale", () => {
  const scale = makeScale(TIMES, [], 1000, true);
  equal(scale.pieces.map(({ isCut }) => isCut), [false, true, false]);
  near(scale.x(1000) - scale.x(0), scale.x(3_620_000) - scale.x(3_619_000));
  near(scale.x(3_620_000), 1000);
  for (const ms of [0, 500, 1999, 3_612_500]) near(scale.x(scale.ms(scale.x(ms))), scale.x(ms));
  const real = makeScale(TIMES, [], 1000, false);
  equal(real.pieces.length, 1);
  near(real.x(1_810_000), 500);
});

test("time with work in progress is not cut, although idle time of that length is", () => {
  const times = [...TIMES.slice(0, 21), 26_000];
  equal(makeScale(times, [], 1000, true).pieces.some(({ isCut }) => isCut), true);
  equal(makeScale(times, [[10_000, 26_000]], 1000, true).pieces.some(({ isCut }) => isCut), false);
});

test("a run with one timestamp and a run without timestamps have a scale", () => {
  for (const times of [[], [5]]) {
    const scale = makeScale(times, [], 300, true);
    equal(Number.isFinite(scale.x(5)) && Number.isFinite(scale.ms(100)), true);
  }
});

test("axis marks keep a minimum distance, and a cut shows its length", () => {
  const scale = makeScale(TIMES, [], 1000, true);
  const ticks = ticksOf(scale, 0, 1000, 78);
  equal(ticks.filter(({ isCut }) => isCut).map(({ ms }) => ms), [3_600_000]);
  ticks.forEach(({ x }, i) => i > 0 && expect(x - ticks[i - 1]!.x).toBeGreaterThan(40));
});

const item = (
  index: number,
  startMs: number,
  endMs: number | undefined,
  more: Partial<RunItem> = {},
): RunItem => ({
  index,
  kind: "activity",
  name: "charge",
  key: "",
  eventIds: [index + 1],
  from: index + 1,
  to: index + 1,
  startMs,
  endMs,
  status: "completed",
  closedBy: index + 1,
  attempt: 1,
  ...more,
});

test("overlapping bars get separate rows, and tiny bars merge into one strip", () => {
  const scale = makeScale([0, 1000], [], 1000, false);
  const lane = (items: readonly RunItem[]) =>
    ({ key: "a", kind: "activity", label: "a", items, isPoints: false, isOneName: false }) as const;
  const two = layoutOf(lane([item(0, 0, 500), item(1, 100, 600), item(2, 700, 900)]), scale, 1000);
  equal(two.rows, 2);
  equal(two.shapes.map((shape) => [shape.is, shape.row]), [["bar", 0], ["bar", 1], ["bar", 0]]);
  const many = layoutOf(
    lane(Array.from({ length: 500 }, (_, i) => item(i, 100 + i, 101 + i))),
    scale,
    1000,
  );
  equal(many.shapes.length < 20, true);
  equal(
    many.shapes.reduce((sum, shape) => sum + (shape.is === "strip" ? shape.items.length : 1), 0),
    500,
  );
  // An open item extends to the end.
  const open = layoutOf(lane([item(0, 400, undefined)]), scale, 1000).shapes[0]!;
  near(open.is === "bar" ? open.x + open.w : 0, 1000);
});

const modelOf = (items: readonly RunItem[]): RunModel =>
  ({
    items,
    lines: items.map(({ startMs }, i) => ({ eventId: i + 1, timeMs: startMs })),
    facts: { startMs: 0, endMs: 1000 },
    attemptsOf: () => [],
  }) as unknown as RunModel;

test("few names get separate lanes; many names share the lane of their kind", () => {
  const few = modelOf([item(0, 0, 1), item(1, 2, 3, { name: "refund" }), item(2, 3, 4)]);
  equal(lanesOf(few, true).map(({ label, items }) => [label, items.length]), [["charge", 2], [
    "refund",
    1,
  ]]);
  equal(lanesOf(few, false).map(({ label }) => label), ["activities"]);
  const many = modelOf(Array.from({ length: 30 }, (_, i) => item(i, i, i + 1, { name: `a${i}` })));
  equal(lanesOf(many, true).map(({ label }) => label), ["activities"]);
});

test("a time maps to the last event at or before it", () => {
  const { clock } = measure(
    modelOf([item(0, 0, 1), item(1, 10, 20), item(2, 10, 30), item(3, 5, 40)]),
    true,
  );
  // Clocks of servers may run backward; the order of events does not change.
  equal([...clock], [0, 10, 10, 10]);
  equal([-5, 0, 9, 10, 99].map((ms) => eventAt(clock, ms)), [1, 1, 1, 4, 4]);
});

test("fifty thousand items become a few hundred shapes", () => {
  const model = modelOf(Array.from({ length: 50_000 }, (_, i) => item(i, i * 20, i * 20 + 15)));
  const { lanes } = placeLanes(measure(model, true), 1200, true, 24);
  equal(lanes.length, 1);
  equal(lanes[0]!.shapes.length < 1300, true);
});

test("the playhead is a slider that keys and a drag move", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  const flag = page.getByRole("slider", { name: /^Position in ShoppingCart/ });
  await flag.focus();
  await page.keyboard.press("ArrowRight");
  await app.isAt(2);
  await page.keyboard.press("End");
  await app.isAt(41);
  await expect(flag).toHaveAttribute("aria-valuenow", "41");
  await page.keyboard.press("Home");
  await app.isAt(1);
  const box = (await page.locator(".tl-axis").boundingBox())!;
  await page.mouse.move(box.x + 300, box.y + 12);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 4, box.y + 12, { steps: 8 });
  await app.isAt(41);
  await page.mouse.up();
  await page.mouse.move(box.x + 300, box.y + 12);
  await app.isAt(41);
});

test("a click on an item selects it", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart");
  await page.locator(".tl-item", { hasText: "checkout" }).first().locator(".tl-hit").click({
    force: true,
  });
  await expect(page.locator("[role=row][aria-selected=true]")).toContainText("checkout");
});

test("zoom widens the timeline and Fit resets it; t switches to real time; a new width redraws it", async ({ app }) => {
  const { page } = app;
  // The sample with an hour between two of its messages.
  const { events } = JSON.parse(readFileSync("web-demo/samples/shopping_cart.json", "utf8"));
  const later = events.map((event: { eventTime: string }, i: number) => ({
    ...event,
    eventTime: new Date(Date.parse(event.eventTime) + (i < 12 ? 0 : 3_600_000)).toISOString(),
  }));
  await app.start();
  await app.drop([{ name: "hour.json", content: JSON.stringify({ events: later }) }]);
  await app.replayed();
  const width = () => page.locator(".tl-inner").evaluate((element) => element.scrollWidth);
  const fit = await width();
  await page.getByRole("button", { name: "Zoom in" }).click();
  await expect.poll(width).toBeGreaterThan(fit * 1.3);
  await page.getByRole("button", { name: "Fit" }).click();
  await expect.poll(width).toBe(fit);
  await page.locator("#main").focus();
  await expect(page.locator(".tl-gap")).not.toHaveCount(0);
  await page.keyboard.press("t");
  await expect(page.locator(".tl-gap")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Real time" })).toHaveAttribute(
    "aria-pressed",
    "true",
  );
  await page.setViewportSize({ width: 320, height: 720 });
  await expect.poll(width).toBeLessThanOrEqual(320);
  await expect(page.locator(".tl-head .cut").first()).not.toBeVisible();
});

test("with fifty thousand events few shapes are drawn, and the playhead reaches the end", async ({ app }) => {
  const { page } = app;
  const { events } = JSON.parse(readFileSync("web-demo/samples/counter.json", "utf8"));
  const signal = events.find(({ eventType }: { eventType: string }) => /SIGNALED/.test(eventType));
  const many = [
    ...events.slice(0, 4),
    ...Array.from({ length: 51_196 }, (_, i) => ({
      ...signal,
      eventTime: new Date(Date.parse(signal.eventTime) + i * 100).toISOString(),
    })),
  ].map((event, i) => ({ ...event, eventId: String(i + 1) }));
  await app.start();
  await app.drop([{
    name: "long.json",
    content: JSON.stringify({ events: many }).replaceAll('"Counter"', '"Long"'),
  }]);
  await expect(page.locator("#position")).toHaveText("Event 51,200 of 51,200");
  await page.locator("#go-start").click();
  await expect(page.locator("#position")).toHaveText("Event 1 of 51,200");
  await expect.poll(() => page.locator(".tl-svg *").count()).toBeLessThan(3000);
  await page.locator("#go-end").click();
  await expect(page.locator("#playhead")).toHaveText("event 51,200");
});
