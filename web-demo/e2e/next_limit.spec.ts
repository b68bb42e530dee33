// The time at which a server will suggest to continue as new: from the rate of the newest events,
// if the history is long enough.
import type { RunModel } from "../src/store/run_model.ts";
import { nextLimit } from "../src/inspector/next_limit.ts";
import { expect, test } from "./support/story.ts";

const model = (times: readonly number[], bytes: number, status = "Running"): RunModel =>
  ({
    facts: { status },
    lines: times.map((timeMs) => ({ timeMs })),
    limits: [
      { name: "events", value: times.length, most: 51_200, warns: 4096, eventId: 0 },
      { name: "size", value: bytes, most: 50 << 20, warns: 4 << 20, eventId: 0 },
      { name: "payload", value: 1, most: 2 << 20, warns: 1, eventId: 3 },
    ],
  }) as unknown as RunModel;
const each = (n: number, ms: number, from = 0) =>
  Array.from({ length: n }, (_, i) => from + i * ms);

test("the limit of events or of bytes counts, whichever is reached first", () => {
  expect(nextLimit(model(each(96, 1000), 96 * 100))).toEqual({
    name: "events",
    warns: 4096,
    inMs: 4_000_000,
  });
  // 64 KiB for each event: 64 of them are 4 MiB.
  expect(nextLimit(model(each(32, 1000), 32 << 16))).toEqual({
    name: "size",
    warns: 4 << 20,
    inMs: 32_000,
  });
});

test("the rate is computed from the newest events, not from idle weeks before them", () => {
  const times = [...each(100, 86_400_000), ...each(500, 10, 1e12)];
  expect(nextLimit(model(times, 1000))!.inMs).toBe((4096 - 600) * 10);
});

test("past the threshold the suggestion is due now; closed, short and untimed histories have no projection", () => {
  expect(nextLimit(model(each(5000, 1000), 1000))).toEqual({
    name: "events",
    warns: 4096,
    inMs: 0,
  });
  expect(nextLimit(model(each(96, 1000), 9600, "Completed"))).toBeUndefined();
  expect(nextLimit(model(each(19, 1000), 1900))).toBeUndefined();
  expect(nextLimit(model(each(96, 0), 9600))).toBeUndefined();
});

test("an open run shows the projection next to its code", async ({ app }) => {
  await app.sample("inventory", 25);
  await expect(app.page.locator("#limits")).toContainText(/\d+ of 51,200/);
});

test("a burst of events is not projected, also if the run waits after it", () => {
  // The events took 2.9 s; the limit is four and a half minutes ahead.
  expect(nextLimit(model(each(30, 0.1), 3000))).toBeUndefined();
  expect(nextLimit(model([...each(40, 10), 3_600_000], 4100))).toBeUndefined();
  expect(nextLimit(model([...each(60, 10), ...each(60, 60_000, 1e6)], 12_000))).toBeUndefined();
});
