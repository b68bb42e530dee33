// Options and enumerations of official programs: they mean here what they mean there, in every
// spelling, and none is dropped without a word.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as common from "../../../ts/compat/common/mod.ts";
import * as workflow from "../../../ts/compat/workflow/mod.ts";
import { workflow as define } from "../../../ts/workflow/mod.ts";
import { WorkflowLoadError } from "../../../ts/realm/mod.ts";
import { type Drive, drive } from "../../cases/driver.ts";
import { programOf } from "./support/in_thread.ts";

/** Runs the first task of a program's function `w`. */
async function first(text: string): Promise<Drive> {
  const program = await programOf(text);
  const d = await drive(define("w", () => Promise.resolve()), { programs: () => program });
  await d.task();
  return d;
}

// deno-lint-ignore no-explicit-any
const attributesOf = (d: Drive, name: string): any =>
  d.server.events.map(({ attributes }) => attributes).find((attributes) =>
    attributes.case === `${name}EventAttributes`
  )?.value;

test("enumerations have the members of the official ones, in both spellings", () => {
  assert.deepEqual({ ...workflow.ParentClosePolicy }, {
    ...{
      TERMINATE: "TERMINATE",
      ABANDON: "ABANDON",
      REQUEST_CANCEL: "REQUEST_CANCEL",
      PARENT_CLOSE_POLICY_UNSPECIFIED: undefined,
    },
    PARENT_CLOSE_POLICY_TERMINATE: "TERMINATE",
    PARENT_CLOSE_POLICY_ABANDON: "ABANDON",
    PARENT_CLOSE_POLICY_REQUEST_CANCEL: "REQUEST_CANCEL",
  });
  assert.equal(
    workflow.WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
    "REJECT_DUPLICATE",
  );
  assert.equal(Object.keys(workflow.WorkflowIdReusePolicy).length, 9);
  assert.equal(common.TimeoutType.TIMEOUT_TYPE_HEARTBEAT, "HEARTBEAT");
  assert.equal(Object.keys(common.TimeoutType).length, 9);
  assert.equal(common.RetryState.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED, "MAXIMUM_ATTEMPTS_REACHED");
  assert.equal(Object.keys(common.RetryState).length, 15);
  assert.deepEqual(common.HandlerUnfinishedPolicy, {
    WARN_AND_ABANDON: "WARN_AND_ABANDON",
    ABANDON: "ABANDON",
  });
});

test("the policies of a child are accepted in every spelling and by number", async () => {
  for (
    const [close, reuse] of [
      ["ParentClosePolicy.ABANDON", "WorkflowIdReusePolicy.REJECT_DUPLICATE"],
      [
        "ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON",
        "WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE",
      ],
      ['"PARENT_CLOSE_POLICY_ABANDON"', '"WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE"'],
      ["2", "3"],
    ]
  ) {
    const d = await first(`
      import { ParentClosePolicy, startChild, WorkflowIdReusePolicy } from "@temporalio/workflow";
      export const seen = [ParentClosePolicy, WorkflowIdReusePolicy];
      export async function w() { await startChild("kid", { args: [], parentClosePolicy: ${close} as any, workflowIdReusePolicy: ${reuse} as any }); }`);
    const { parentClosePolicy, workflowIdReusePolicy } = attributesOf(
      d,
      "startChildWorkflowExecutionInitiated",
    );
    assert.deepEqual([parentClosePolicy, workflowIdReusePolicy], [2, 3], `${close}, ${reuse}`);
  }
  const d = await first(`
    import { startChild } from "@temporalio/workflow";
    export async function w() { await startChild("kid", { args: [], parentClosePolicy: 9 }); }`);
  assert.match(d.server.taskFailure!.failure.message, /Invalid ParentClosePolicy value: '9'/);
});

test("continueAsNew passes search attributes on, in both forms", async () => {
  const d = await first(`
    import { makeContinueAsNewFunc } from "@temporalio/workflow";
    import { defineSearchAttributeKey } from "@temporalio/common";
    export async function w() {
      await makeContinueAsNewFunc({
        searchAttributes: { CustomKeywordField: ["carried"] },
        typedSearchAttributes: [{ key: defineSearchAttributeKey("Level", "INT"), value: 3 }],
      })();
    }`);
  const { indexedFields } = attributesOf(d, "workflowExecutionContinuedAsNew").searchAttributes;
  const text = (name: string) => new TextDecoder().decode(indexedFields[name].data);
  assert.deepEqual([text("CustomKeywordField"), text("Level")], ['["carried"]', "3"]);
});

/** Calls with a group that `createEventGroup` did not make. */
const STRANGE = [
  'await proxyActivities<any>({ startToCloseTimeout: "5s", eventGroups: [{}] } as any).echo();',
  'await proxyLocalActivities<any>({ startToCloseTimeout: "5s", eventGroups: [{}] } as any).echo();',
  'await startChild("k", { args: [], eventGroups: [{}] } as any);',
  "await makeContinueAsNewFunc({ eventGroups: [{}] } as any)();",
  'await sleep("1s", { eventGroups: [{}] } as any);',
];

test("an invalid event group is an error of the call", async () => {
  const program = (statement: string) => `
    import { makeContinueAsNewFunc, proxyActivities, proxyLocalActivities, sleep, startChild } from "@temporalio/workflow";
    export const seen = [makeContinueAsNewFunc, proxyActivities, proxyLocalActivities, sleep, startChild];
    export async function w() { try { ${statement} } catch (e) { return String(e); } }`;
  for (const statement of STRANGE) {
    const d = await first(program(statement));
    assert.match(
      String(d.server.closed?.result),
      /^Error: Directly attached Event Group Markers must be instances of/,
      statement,
    );
  }
  // What says nothing is nothing.
  const ok = await first(program(
    'void proxyActivities<any>({ startToCloseTimeout: "5s", allowEagerDispatch: true, versioningIntent: undefined, priority: undefined, eventGroups: [] } as any).echo();',
  ));
  assert.equal(ok.server.taskFailure, undefined);
});

test("allowEagerDispatch: false excludes activities from eager dispatch", async () => {
  const d = await first(`
    import { proxyActivities } from "@temporalio/workflow";
    const acts = (options: object) => proxyActivities<any>({ startToCloseTimeout: "5s", ...options });
    export async function w() {
      void acts({ allowEagerDispatch: false }).numbered();
      void acts({ allowEagerDispatch: false, activityId: "mine" }).named();
      void acts({ allowEagerDispatch: true }).allowed();
      await acts({}).usual();
    }`);
  assert.deepEqual(d.outcomes[0]!.notEager, ["1", "mine"]);
});

test("values are converted exactly as the official SDK does, whatever the worker's default carries", async () => {
  const d = await first(`
    export async function w() { return [new Map([[1, 2]]), NaN, undefined, new Date(0), new (class Money { cents = 1; })()]; }`);
  const [payload] = attributesOf(d, "workflowExecutionCompleted").result.payloads;
  assert.equal(
    new TextDecoder().decode(payload.data),
    '[{},null,null,"1970-01-01T00:00:00.000Z",{"cents":1}]',
  );
  assert.deepEqual(Object.keys(payload.metadata), ["encoding"]);
});

test("an import of a missing name is rejected when the program is loaded", async () => {
  await assert.rejects(
    programOf(
      `import { misspelt, sleep, unheardOf as set } from "@temporalio/workflow"; export const w = () => [misspelt(), sleep, set];`,
    ),
    (error: Error) => {
      assert.ok(error instanceof WorkflowLoadError);
      assert.deepEqual(
        error.problems.map(({ code, file, line, name }) => `${file}:${line} ${code} ${name}`),
        [
          "/app/main.ts:1 missing-export misspelt",
          "/app/main.ts:1 missing-export unheardOf",
        ],
      );
      return true;
    },
  );
});
