// Clients over mocked connections, whose methods return nothing; and what clients make of ranges
// that end with 0.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AsyncCompletionClient, Client } from "../../../ts/compat/client/mod.ts";
import {
  compiledSchedule,
  nativeSchedule,
} from "../../../ts/compat/client/schedule_conversions.ts";
import { encodeSpec } from "../../../ts/client/schedules/spec.ts";

test("reporting an activity ignores the response of a mocked service", async () => {
  const calls: string[] = [];
  const workflowService = new Proxy({}, {
    get: (_target, name) => (): Promise<undefined> => {
      calls.push(String(name));
      return Promise.resolve(undefined);
    },
  });
  const client = new AsyncCompletionClient({ connection: { workflowService } as never });
  const token = Uint8Array.of(1);
  await client.fail(token, new Error("no"));
  await client.complete(token, 1);
  await client.reportCancellation(token);
  assert.deepEqual(calls, [
    "respondActivityTaskFailed",
    "respondActivityTaskCompleted",
    "respondActivityTaskCanceled",
  ]);
});

test("a calendar range with end 0 contains only its start, as on a server", () => {
  const options = compiledSchedule({
    scheduleId: "s",
    spec: {
      calendars: [{
        hour: { start: 4, end: 0, step: 2 },
        dayOfWeek: [{ start: "FRIDAY", end: "SUNDAY" }],
        minute: 5,
      }],
    },
    action: { type: "startWorkflow", workflowType: "w", taskQueue: "q" },
  });
  const { structuredCalendar } = encodeSpec(nativeSchedule(options).spec);
  const [calendar] = structuredCalendar as {
    hour: object[];
    dayOfWeek: object[];
    minute: object[];
  }[];
  assert.deepEqual(calendar!.hour, [{ start: 4, end: 4, step: 2 }]);
  assert.deepEqual(calendar!.dayOfWeek, [{ start: 5, end: 5, step: 1 }]);
  assert.deepEqual(calendar!.minute, [{ start: 5, end: 5, step: 1 }]);
});

test("a misspelled interceptor method is rejected; helper methods are not", async () => {
  const connection = { workflowService: {} } as never;
  const made = (interceptors: object) =>
    new Client({ connection, interceptors: interceptors as never });
  assert.throws(() => made({ workflow: [{ signalWithstart: () => {} }] }), {
    name: "TypeError",
    message:
      'a workflow interceptor of the client has no method "signalWithstart"; did you mean signalWithStart?',
  });
  assert.throws(() => made({ schedule: [{ creat: () => {} }] }), {
    name: "TypeError",
    message: 'a schedule interceptor of the client has no method "creat"; did you mean create?',
  });
  made({
    workflow: [{ start: () => {}, startSpan: () => {}, toSpanName: () => {} }],
    schedule: [{ log: () => {} }],
  });
  const late = made({ workflow: { calls: [() => ({ qurey: () => {} })] } });
  await assert.rejects(
    async () => await late.workflow.start("w", { taskQueue: "q", workflowId: "w" }),
    /did you mean query\?$/,
  );
});
