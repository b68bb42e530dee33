// Methods of a run against a scripted state machine: what it refuses is what the caller hears.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { MemoryStore } from "../../../ts/engine/mod.ts";
import { runMethods } from "../../../ts/engine/run_methods.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import {
  DeleteWorkflowExecutionRequestSchema,
  TerminateWorkflowExecutionRequestSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { created } from "./support/records.ts";

const deletionOf = (workflowExecution: { workflowId: string; runId?: string }) =>
  toBinary(
    DeleteWorkflowExecutionRequestSchema,
    create(DeleteWorkflowExecutionRequestSchema, { namespace: "default", workflowExecution }),
  );
const request = deletionOf({ workflowId: "wf" });

for (
  const [name, error, expected] of [
    [
      "cannot be ended",
      new ServiceError(Code.RESOURCE_EXHAUSTED, "too much at once"),
      /too much at once/,
    ],
    [
      "cannot be ended for a reason without a code",
      new Error("the engine is closed"),
      /the engine is closed/,
    ],
    [
      "has ended meanwhile",
      new ServiceError(Code.NOT_FOUND, "workflow execution already completed"),
      /still has pending work/,
    ],
  ] as const
) {
  test(`a run that ${name} is not deleted, and delete rejects with the reason`, async () => {
    const store = new MemoryStore();
    store.commit([created("wf", "r", 1)]);
    const called: string[] = [];
    const call = (method: string) => {
      called.push(method);
      return Promise.reject(error);
    };
    const { deleteWorkflowExecution } = runMethods({
      store,
      ours() {},
      call,
      forget: () => assert.fail("it is gone"),
    });
    await assert.rejects(deleteWorkflowExecution(request), expected);
    assert.deepEqual(called, ["terminateWorkflowExecution"]);
    assert.ok(store.load("wf", "r") !== undefined);
  });
}

test("a delete ends the run that it names, or the latest one of the workflow id", async () => {
  const store = new MemoryStore();
  store.commit([created("wf", "first", 1)]);
  store.commit([created("wf", "latest", 1)]);
  const ended: string[] = [];
  const { deleteWorkflowExecution } = runMethods({
    store,
    ours() {},
    call(_method, bytes) {
      const { workflowExecution } = fromBinary(TerminateWorkflowExecutionRequestSchema, bytes);
      ended.push(workflowExecution!.runId);
      return Promise.reject(new ServiceError(Code.RESOURCE_EXHAUSTED, "too much at once"));
    },
    forget: () => assert.fail("no run is deleted"),
  });
  for (const runId of ["first", "latest", ""]) {
    await assert.rejects(deleteWorkflowExecution(deletionOf({ workflowId: "wf", runId })));
  }
  assert.deepEqual(ended, ["first", "latest", "latest"]);
});
