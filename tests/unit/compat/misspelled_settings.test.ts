// Misspelled or invalid settings of programs of the official packages are rejected, not ignored.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as common from "../../../ts/compat/common/mod.ts";
import { Interceptors } from "../../../ts/compat/interception.ts";
import { AsyncCompletionClient } from "../../../ts/compat/client/async_completion_client.ts";
import {
  compiledSchedule,
  compiledUpdate,
  nativeBackfill,
} from "../../../ts/compat/client/schedule_conversions.ts";
import {
  checkActivityInterceptors,
  checkNexusInterceptors,
  checkWorkerInterceptors,
} from "../../../ts/compat/worker/interceptors.ts";
import { retryPolicy } from "../../../ts/compat/workflow/activities.ts";

// deno-lint-ignore no-explicit-any
type Given = any;
const messageOf = (fn: () => unknown): string => {
  try {
    fn();
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
  return "nothing thrown";
};
const call = () => {};

test("a misspelled kind or method of a worker's interceptors", () => {
  assert.equal(
    messageOf(() => checkWorkerInterceptors({ workflowModule: [] } as Given)),
    'TypeError: interceptors of Worker.create has no option "workflowModule"; did you mean workflowModules?',
  );
  assert.equal(
    messageOf(() => checkWorkerInterceptors({ client: { workflows: [] } } as Given)),
    'TypeError: interceptors.client of Worker.create has no option "workflows"; did you mean workflow?',
  );
  assert.equal(
    messageOf(() => checkActivityInterceptors({ inbound: { excute: call } } as Given)),
    'TypeError: inbound of an activity interceptor has no method "excute"; did you mean execute?',
  );
  assert.equal(
    messageOf(() => checkActivityInterceptors({ execute: call } as Given)),
    'TypeError: an activity interceptor has no method "execute"; return { inbound: { execute } } from the factory',
  );
  assert.equal(
    messageOf(() => checkNexusInterceptors({ outbound: { getLogAttribute: call } } as Given)),
    'TypeError: outbound of a Nexus interceptor has no method "getLogAttribute"; did you mean getLogAttributes?',
  );
  class Inbound {
    execute() {}
    #own() {}
    helper() {
      this.#own();
    }
  }
  const valid = { inbound: new Inbound(), outbound: { getMetricTags: call } } as Given;
  assert.equal(checkActivityInterceptors(valid), valid);
  checkWorkerInterceptors(undefined);
  checkWorkerInterceptors({ workflowModules: [], activity: [], client: {} });
});

test("a misspelled kind or method of workflow interceptors", () => {
  const add = (made: object) =>
    messageOf(() => new Interceptors().add([{ interceptors: () => made }]));
  assert.equal(
    add({ inbounds: [] }),
    'TypeError: workflow interceptors has no option "inbounds"; did you mean inbound?',
  );
  assert.equal(
    add({ outbound: [{ scheduleActivty: call }] }),
    'TypeError: outbound of workflow interceptors has no method "scheduleActivty"; did you mean scheduleActivity?',
  );
  assert.equal(
    add({ inbound: [{ execute: call, tracer: 1 }], internals: [{ dispose: call }] }),
    "nothing thrown",
  );
});

test("the backoff coefficient of a retry policy is a finite number above 0", () => {
  for (
    const [coefficient, why] of [[NaN, "finite number, not NaN"], [
      Infinity,
      "finite number, not Infinity",
    ]] as const
  ) {
    const expected = `ValueError: RetryPolicy.backoffCoefficient must be a ${why}`;
    assert.equal(messageOf(() => retryPolicy({ backoffCoefficient: coefficient })), expected);
    assert.equal(
      messageOf(() => common.compileRetryPolicy({ backoffCoefficient: coefficient })),
      expected,
    );
  }
  for (const coefficient of [-1, -Infinity, 0]) {
    const expected = "ValueError: RetryPolicy.backoffCoefficient must be greater than 0";
    assert.equal(messageOf(() => retryPolicy({ backoffCoefficient: coefficient })), expected);
    assert.equal(
      messageOf(() => common.compileRetryPolicy({ backoffCoefficient: coefficient })),
      expected,
    );
  }
});

test("the address of an activity is a task token of bytes, or ids", async () => {
  const client = new AsyncCompletionClient();
  for (
    const [address, what] of [["token", "a string"], [1, "a number"], [null, "null"], [
      undefined,
      "undefined",
    ]] as const
  ) {
    await assert.rejects(client.complete(address as Given, 1), {
      name: "TypeError",
      message:
        `invalid address of an activity: ${what}; pass its task token as a Uint8Array, or { workflowId, activityId, runId }`,
    });
  }
});

test("a misspelled setting of a schedule, of its update and of a backfill", () => {
  const action = { type: "startWorkflow", workflowType: "w", taskQueue: "q" };
  const created = (more: object) =>
    messageOf(() => compiledSchedule({ scheduleId: "s", spec: {}, action, ...more } as Given));
  const updated = (more: object) =>
    messageOf(() => compiledUpdate("s", { spec: {}, action, state: {}, ...more } as Given));
  assert.equal(
    created({ polices: {} }),
    'TypeError: the schedule has no option "polices"; did you mean policies?',
  );
  assert.equal(
    created({ policies: { catchUpWindow: 1 } }),
    'TypeError: policies of the schedule has no option "catchUpWindow"; did you mean catchupWindow?',
  );
  assert.equal(
    created({ spec: { intervals: [{ evry: 1 }] } }),
    'TypeError: an interval of the schedule has no option "evry"; did you mean every?',
  );
  assert.equal(
    updated({ spec: { cronExpression: [] } }),
    'TypeError: spec of the update of the schedule has no option "cronExpression"; did you mean cronExpressions?',
  );
  assert.equal(
    updated({ state: { pause: true } }),
    'TypeError: state of the update of the schedule has no option "pause"; did you mean paused?',
  );
  const range = { start: new Date(0), end: new Date(1) };
  assert.equal(
    messageOf(() => nativeBackfill({ ...range, overlaps: "SKIP" } as Given)),
    'TypeError: the backfill of the schedule has no option "overlaps"; did you mean overlap?',
  );
  assert.equal(
    created({ policies: { overlap: "SKIP" }, state: { paused: true } }),
    "nothing thrown",
  );
  // What an update function returns is often the description with changes.
  assert.equal(updated({ info: {}, scheduleId: "s", memo: {}, raw: {} }), "nothing thrown");
});
