// Numeric options outside of their ranges are rejected before anything is sent; the message has the
// option, the range and the value.
import assert from "node:assert/strict";
import { test } from "node:test";
import { clientPriority, compilePriority } from "../../../ts/compat/common/priority.ts";
import { Client, type RawService, Worker } from "../../../ts/mod.ts";
import { activities } from "../../../ts/workflow/mod.ts";

const service: RawService = { call: (method) => Promise.reject(new Error(`${method} was sent`)) };
const client = new Client({ service, taskQueue: "q" });

async function rejected(attempt: () => unknown, pattern: RegExp): Promise<void> {
  await assert.rejects(async () => await attempt(), (error) => {
    assert.ok(error instanceof RangeError || error instanceof TypeError, String(error));
    assert.match(error.message, pattern);
    return true;
  });
}

const NOT_FINITE = [NaN, Infinity, -Infinity];

test("priority of a start", async () => {
  const started = (priority: object) => () => client.start("W", { id: "w", args: [], priority });
  for (const fairnessWeight of [-1, 0, 0.0001, 1001, ...NOT_FINITE]) {
    await rejected(
      started({ fairnessWeight }),
      new RegExp(
        `priority\\.fairnessWeight must be a finite number from 0\\.001 to 1000, not ${fairnessWeight}$`,
      ),
    );
  }
  for (const priorityKey of [-1, 0, 1.5, 2 ** 31, ...NOT_FINITE]) {
    await rejected(
      started({ priorityKey }),
      new RegExp(
        `priority\\.priorityKey must be a whole number from 1 to 2147483647, not ${priorityKey}$`,
      ),
    );
  }
  await rejected(
    started({ priorityKey: "1" }),
    /priority\.priorityKey must be a whole number .*, not "1"$/,
  );
  await assert.rejects(
    started({ priorityKey: 1, fairnessKey: "a", fairnessWeight: 1000 }),
    /startWorkflowExecution was sent/,
  );
});

test("retry policies of starts and activities", async () => {
  for (const backoffCoefficient of [0, 0.5, -1, ...NOT_FINITE]) {
    const pattern = new RegExp(
      `retry\\.backoffCoefficient must be a finite number of at least 1, not ${backoffCoefficient}$`,
    );
    await rejected(
      () => client.start("W", { id: "w", args: [], retry: { backoffCoefficient } }),
      pattern,
    );
    await rejected(() => activities({ retry: { backoffCoefficient } }), pattern);
  }
  for (const maximumAttempts of [-1, 1.5, 2 ** 31, ...NOT_FINITE]) {
    const pattern = new RegExp(
      `retry\\.maximumAttempts must be a whole number from 0 to 2147483647, not ${maximumAttempts}$`,
    );
    await rejected(
      () => client.start("W", { id: "w", args: [], retry: { maximumAttempts } }),
      pattern,
    );
    await rejected(() => activities({ retry: { maximumAttempts } }), pattern);
  }
});

test("sizes of pages", async () => {
  for (const pageSize of [-1, 1.5, 2 ** 31, ...NOT_FINITE]) {
    const pattern = new RegExp(
      `pageSize must be a whole number from 0 to 2147483647, not ${pageSize}$`,
    );
    await rejected(() => client.list("", { pageSize }).next(), pattern);
    await rejected(() => client.getHandle("W", "w").fetchHistory({ pageSize }), pattern);
    await rejected(() => client.schedule.list({ pageSize }).next(), pattern);
  }
});

test("options of clients and workers", async () => {
  const options: readonly [name: string, part: object, expected: string][] = [
    [
      "retry.initialIntervalMs",
      { retry: { initialIntervalMs: -1 } },
      "a finite number of at least 0, not -1",
    ],
    [
      "retry.maximumIntervalMs",
      { retry: { maximumIntervalMs: Infinity } },
      "a finite number of at least 0, not Infinity",
    ],
    [
      "retry.backoffCoefficient",
      { retry: { backoffCoefficient: 0.5 } },
      "a finite number of at least 1, not 0.5",
    ],
    ["retry.jitter", { retry: { jitter: 1.1 } }, "a number from 0 to 1, not 1.1"],
    [
      "retry.maximumAttempts",
      { retry: { maximumAttempts: 0 } },
      "a whole number of at least 1, or Infinity, not 0",
    ],
    [
      "payloadLimits.errorBytes",
      { payloadLimits: { errorBytes: NaN } },
      "a number of at least 0, or Infinity, not NaN",
    ],
  ];
  for (const [name, part, expected] of options) {
    await rejected(
      () => new Client({ service, ...part }),
      new RegExp(`^Client's option ${name} must be ${expected}$`),
    );
  }
  const ofWorkers: readonly [name: string, part: object, expected: string][] = [
    [
      "heartbeatThrottle.maximumMs",
      { heartbeatThrottle: { maximumMs: -1 } },
      "a finite number of at least 0, not -1",
    ],
    [
      "heartbeatThrottle.defaultMs",
      { heartbeatThrottle: { defaultMs: NaN } },
      "a finite number of at least 0, not NaN",
    ],
    [
      "payloadLimits.warnBytes",
      { payloadLimits: { warnBytes: -5 } },
      "a number of at least 0, or Infinity, not -5",
    ],
    ["watchdogMs", { watchdogMs: NaN }, "a number of at least 0, or Infinity, not NaN"],
    ["maxActivitiesPerSecond", { maxActivitiesPerSecond: NaN }, "above 0, not NaN"],
    ["maxActivitiesPerSecond", { maxActivitiesPerSecond: -1 }, "above 0, not -1"],
    ["shutdownGraceMs", { shutdownGraceMs: -1 }, "a number of milliseconds, not -1"],
  ];
  for (const [name, part, expected] of ofWorkers) {
    await rejected(
      () => Worker.create({ service, taskQueue: "q", activities: { a: () => 1 }, ...part }),
      new RegExp(`${name} must be ${expected}`),
    );
  }
});

test("priority of a program for Temporal's packages", () => {
  for (const fairnessWeight of [-1, ...NOT_FINITE]) {
    assert.throws(() => compilePriority({ fairnessWeight }), {
      name: "RangeError",
      message: `fairnessWeight must be a finite number of at least 0, not ${fairnessWeight}`,
    });
  }
  assert.equal(compilePriority({ fairnessWeight: 2.5 }).fairnessWeight, 2.5);
});

test("a start of a program of @temporalio: 0 is unset, and weights are limited as a server does", () => {
  assert.deepEqual(clientPriority({}), { fairnessKey: "" });
  assert.deepEqual(clientPriority({ priorityKey: 0, fairnessKey: "a", fairnessWeight: 0 }), {
    fairnessKey: "a",
  });
  assert.deepEqual(clientPriority({ priorityKey: 2, fairnessWeight: 5000 }), {
    priorityKey: 2,
    fairnessKey: "",
    fairnessWeight: 1000,
  });
  assert.equal(clientPriority({ fairnessWeight: 0.0001 }).fairnessWeight, 0.001);
});
