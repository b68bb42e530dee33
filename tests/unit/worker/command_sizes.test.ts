// Commands that a server would end the run for are found before they are sent, by name; what is
// small, or just small enough, passes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { silentLogger } from "../../../ts/client/mod.ts";
import { PayloadTooLargeError } from "../../../ts/service/limits.ts";
import type { CommandSchema } from "../../../ts/messages/generated/temporal/api/command/v1/message_pb.ts";
import { WorkflowTaskFailedCause } from "../../../ts/messages/generated/temporal/api/enums/v1/failed_cause_pb.ts";
import {
  RespondWorkflowTaskCompletedRequestSchema,
  RespondWorkflowTaskFailedRequestSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { checkCompletion } from "../../../ts/worker/workflow/command_sizes.ts";
import {
  activities,
  continueAsNew,
  on,
  receive,
  reply,
  sideEffect,
  signal,
  sleep,
  stop,
  update,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { withEngine } from "../../support/services.ts";
import { until } from "../../support/until.ts";

const LIMITS = { warnBytes: 1000, errorBytes: 2000 };
const payloads = (bytes: number) => ({ payloads: [{ data: new Uint8Array(bytes) }] });
type Attributes = MessageInitShape<typeof CommandSchema>["attributes"];

function check(...attributes: Attributes[]): string[] {
  const fields = { commands: attributes.map((each) => ({ attributes: each! })) };
  return checkMessage(fields);
}

function checkMessage(
  fields: MessageInitShape<typeof RespondWorkflowTaskCompletedRequestSchema>,
): string[] {
  const warned: string[] = [];
  const request = toBinary(
    RespondWorkflowTaskCompletedRequestSchema,
    create(RespondWorkflowTaskCompletedRequestSchema, { taskToken: new Uint8Array(50), ...fields }),
  );
  checkCompletion(request, LIMITS, (message) => void warned.push(message));
  return warned;
}

const activity = (bytes: number): Attributes => ({
  case: "scheduleActivityTaskCommandAttributes",
  value: { activityId: "7", activityType: { name: "charge" }, input: payloads(bytes) },
});

test("the limit applies per field: many small commands pass, whatever their total", () => {
  assert.deepEqual(check(...Array.from({ length: 100 }, () => activity(900))), []);
  assert.deepEqual(check(activity(1500)), [
    'activity "charge" (id "7"): input takes 1506 bytes; the service rejects more than 2000 bytes',
  ]);
  assert.deepEqual(check(activity(10), activity(1990)).length, 1);
  assert.throws(() => check(activity(10), activity(2000)), (error: Error) => {
    assert.ok(error instanceof PayloadTooLargeError);
    assert.match(
      error.message,
      /^activity "charge" \(id "7"\): input takes 2006 bytes, more than the limit of 2000 bytes/,
    );
    return true;
  });
});

test("every kind of command with values is reported by name", () => {
  const large = payloads(3000);
  for (
    const [attributes, name] of [
      [
        { case: "completeWorkflowExecutionCommandAttributes", value: { result: large } },
        "the end of the workflow: result",
      ],
      [
        {
          case: "failWorkflowExecutionCommandAttributes",
          value: { failure: { message: "x".repeat(3000) } },
        },
        "the failure of the workflow: failure",
      ],
      [
        { case: "continueAsNewWorkflowExecutionCommandAttributes", value: { input: large } },
        "continue-as-new: input",
      ],
      [
        {
          case: "recordMarkerCommandAttributes",
          value: { markerName: "SideEffect", details: { a: payloads(1200), b: payloads(1200) } },
        },
        "the value of a sideEffect: details",
      ],
      [
        {
          case: "recordMarkerCommandAttributes",
          value: { markerName: "m", details: { a: large } },
        },
        'marker "m": details',
      ],
      [
        {
          case: "startChildWorkflowExecutionCommandAttributes",
          value: { workflowId: "c", workflowType: { name: "C" }, input: large },
        },
        'child workflow "C" (id "c"): input',
      ],
      [
        {
          case: "signalExternalWorkflowExecutionCommandAttributes",
          value: { signalName: "s", input: large },
        },
        'signal "s" to another workflow: input',
      ],
      [
        {
          case: "modifyWorkflowPropertiesCommandAttributes",
          value: { upsertedMemo: { fields: { a: { data: new Uint8Array(3000) } } } },
        },
        "upsertMemo: upsertedMemo",
      ],
      [
        {
          case: "upsertWorkflowSearchAttributesCommandAttributes",
          value: { searchAttributes: { indexedFields: { a: { data: new Uint8Array(3000) } } } },
        },
        "upsertSearchAttributes: searchAttributes",
      ],
    ] as [Attributes, string][]
  ) {
    assert.throws(() => check(attributes), (error: Error) => {
      assert.ok(error.message.startsWith(`${name} takes `), error.message);
      return true;
    });
  }
  assert.throws(
    () =>
      checkMessage({
        messages: [{
          id: "m",
          protocolInstanceId: "u-1",
          body: { typeUrl: "t", value: new Uint8Array(3000) },
        }],
      }),
    /^PayloadTooLargeError: the response to update "u-1" takes/,
  );
});

interface Acts {
  take(text: string): Promise<number>;
}
const acts = activities<Acts>({ startToClose: "10s" });
const once = update<[number], string>("once");
const done = signal("done");
/** The same workflows before and after their values were made smaller. */
const versions = (bytes: number) => {
  const text = "x".repeat(bytes);
  return [
    workflow("Calls", async () => await acts.take(text)),
    workflow("Notes", async () => {
      const noted = sideEffect(() => text);
      await sleep(1);
      return noted.length;
    }),
    workflow("Returns", async () => text.length > 5 ? text : text.length),
    workflow("Again", async (round: number) => {
      if (round !== 0) return 1;
      return continueAsNew(text as never as number);
    }),
    workflow("Responds", {
      run: async () =>
        await receive(0, [on(once, ([n], s) => reply(text, s + n)), on(done, (_, s) => stop(s))]),
    }),
  ];
};

test("a workflow with too large values fails its task with the name of the value, and continues when corrected", () =>
  withEngine("memory", {}, async (t) => {
    const failed = new Map<string, string>();
    const events = {
      workflowTaskFailed: ({ workflowId, message }: { workflowId: string; message: string }) =>
        void failed.set(workflowId, message),
    };
    const calls: string[] = [];
    const causes: WorkflowTaskFailedCause[] = [];
    const service = {
      call: (...args: Parameters<typeof t.service.call>) => {
        const [method, request] = args;
        calls.push(method);
        if (method === "respondWorkflowTaskFailed") {
          causes.push(fromBinary(RespondWorkflowTaskFailedRequestSchema, request).cause);
        }
        return t.service.call(...args);
      },
    };
    const handles = await Promise.all(
      ["Calls", "Notes", "Returns", "Again", "Responds"].map((type) =>
        t.client.start(type, { id: type, args: type === "Again" ? [0] : [], taskTimeout: "1s" })
      ),
    );
    const asked = handles[4]!.executeUpdate(once, { args: [3] }).catch(() => {});
    const take = (text: string) => text.length;
    const large = versions(3_000_000);
    await t.work(
      { service, workflows: large, activities: { take }, events, logger: silentLogger },
      async () => {
        await until("all have failed", () => failed.size === 5);
        for (const handle of handles) assert.equal((await handle.describe()).status, "RUNNING");
      },
    );
    assert.match(
      failed.get("Calls")!,
      /^activity "take" \(id "\d+"\): input takes 30000\d\d bytes/,
    );
    assert.match(failed.get("Notes")!, /^the value of a sideEffect: details takes/);
    assert.match(failed.get("Returns")!, /^the end of the workflow: result takes/);
    assert.match(failed.get("Again")!, /^continue-as-new: input takes/);
    assert.match(failed.get("Responds")!, /^the response to update "/);
    assert.equal(
      calls.includes("respondWorkflowTaskCompleted"),
      false,
      "nothing of that size was sent",
    );
    // What is in the histories hangs on the machine: a task that takes longer than its second times
    // out instead.
    assert.deepEqual([...new Set(causes)], [WorkflowTaskFailedCause.PAYLOADS_TOO_LARGE]);
    await t.work({ workflows: versions(5), activities: { take } }, async () => {
      await asked;
      await handles[4]!.signal(done);
      assert.deepEqual(await Promise.all(handles.map((handle) => handle.result())), [
        5,
        5,
        5,
        1,
        3,
      ]);
    });
  }));
