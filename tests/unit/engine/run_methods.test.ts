// Methods of a run against a scripted state machine: what it refuses is what the caller hears.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { MemoryStore } from "../../../ts/engine/mod.ts";
import { runMethods } from "../../../ts/engine/run_methods.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { DeleteWorkflowExecutionRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { created } from "./support/records.ts";

const request = toBinary(
  DeleteWorkflowExecutionRequestSchema,
  create(DeleteWorkflowExecutionRequestSchema, {
    namespace: "default",
    workflowExecution: { workflowId: "wf" },
  }),
);

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
