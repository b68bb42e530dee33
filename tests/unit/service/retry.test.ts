// Back-off, payload sizes, timers and the package's version.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultPayloadConverter } from "../../../ts/converter/mod.ts";
import { checkPayloads, payloadBytes, PayloadTooLargeError } from "../../../ts/service/limits.ts";
import { backoffMs, DEFAULT_RETRY } from "../../../ts/service/retry.ts";
import { realTimers, sleepOn } from "../../../ts/base/timers.ts";

test("delays grow to the maximum, minus a random part, and never overflow", () => {
  const options = {
    ...DEFAULT_RETRY,
    initialIntervalMs: 100,
    maximumIntervalMs: 1000,
    jitter: 0.5,
  };
  const delays = [1, 2, 3, 4, 5, 100_000].map((attempt) => backoffMs(attempt, options, () => 0));
  assert.deepEqual(delays, [100, 200, 400, 800, 1000, 1000]);
  assert.equal(backoffMs(1, options, () => 1), 50);
  for (let i = 0; i < 100; i++) {
    const delay = backoffMs(3, options);
    assert.ok(delay > 200 && delay <= 400);
  }
});

test("payload sizes count data and metadata; limits warn, then reject", () => {
  const payload = defaultPayloadConverter.toPayload("x".repeat(100));
  assert.equal(payloadBytes([payload]), 102 + "encoding".length + "json/plain".length);
  const warnings: string[] = [];
  const check = (warnBytes: number, errorBytes: number) =>
    checkPayloads(
      "the input",
      [payload],
      { warnBytes, errorBytes },
      (message) => void warnings.push(message),
    );
  check(1000, 2000);
  assert.equal(warnings.length, 0);
  check(100, 2000);
  assert.equal(warnings.length, 1);
  assert.throws(() => check(10, 100), PayloadTooLargeError);
});

test("sleepOn rejects with the signal's reason; timers can be canceled", async () => {
  const stop = new AbortController();
  const sleeping = sleepOn(realTimers, 60_000, stop.signal);
  stop.abort(new Error("enough"));
  await assert.rejects(sleeping, /enough/);
  await assert.rejects(sleepOn(realTimers, 1, stop.signal), /enough/);
  let fired = 0;
  realTimers.after(5, () => fired++)();
  await sleepOn(realTimers, 15);
  assert.equal(fired, 0);
  // Longer than setTimeout can: must not fire at once.
  const cancel = realTimers.after(2 ** 31 + 1000, () => fired++);
  await sleepOn(realTimers, 15);
  cancel();
  assert.equal(fired, 0);
});
