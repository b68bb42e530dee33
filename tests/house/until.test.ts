// The waiting of all tests: what its failure says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../support/until.ts";

test("until returns the value, and fails with the awaited condition and the last value", async () => {
  let looks = 0;
  assert.equal(await until("three looks", () => ++looks === 3 && "seen"), "seen");
  const soon = { withinMs: 5, everyMs: 1 };
  await assert.rejects(until("a run ends", () => false, soon), {
    message:
      /^this did not happen within 0\.005 s: a run ends; seen last: false of \(\) ?=> ?false$/,
  });
  await assert.rejects(until("a run ends", () => undefined, { ...soon, about: () => "its log" }), {
    message: "this did not happen within 0.005 s: a run ends; seen last: undefined\nits log",
  });
  await assert.rejects(until("a count", () => Promise.resolve(0), soon), {
    message: /seen last: 0$/,
  });
});

test("an error of the checked function is thrown at once or counts as the last value", async () => {
  const look = () => Promise.reject(new TypeError("not served yet"));
  await assert.rejects(until("it is served", look), TypeError);
  await assert.rejects(until("it is served", look, { withinMs: 5, retryErrors: true }), {
    message:
      /^this did not happen within 0.005 s: it is served; seen last: TypeError: not served yet/,
  });
});
