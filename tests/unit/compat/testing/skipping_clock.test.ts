// The clock of a test server: it goes by itself, and jumps.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SkippingClock } from "../../../../ts/compat/testing/skipping_clock.ts";
import { until } from "../../../support/until.ts";

const DAY = 86_400_000;

test("a jump fires the timers that become due, in order, each at its time", () => {
  const clock = new SkippingClock();
  const start = clock.nowMs();
  const fired: number[] = [];
  const note = (day: number) =>
    clock.setTimer(start + day * DAY, () => fired.push(Math.round((clock.nowMs() - start) / DAY)));
  note(3);
  note(1);
  const cancel = note(2);
  note(9);
  cancel();
  clock.setTimer(start + DAY, () => note(1.5));
  clock.advanceTo(start + 4 * DAY);
  assert.deepEqual(fired, [1, 2, 3]);
  assert.ok(clock.nowMs() >= start + 4 * DAY && clock.nowMs() < start + 5 * DAY);
  clock.advanceTo(start);
  assert.ok(clock.nowMs() >= start + 4 * DAY, "it never goes back");
});

test("between jumps the clock runs by itself, also for timers that were set before a jump", async () => {
  const clock = new SkippingClock();
  const start = clock.nowMs();
  let fired = 0;
  clock.setTimer(start + DAY + 30, () => fired++);
  clock.advanceTo(start + DAY);
  assert.equal(fired, 0);
  await until("the timer", () => fired === 1);
  assert.ok(clock.nowMs() >= start + DAY + 30);
});
