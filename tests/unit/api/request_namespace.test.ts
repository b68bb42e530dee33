// The namespace of a request is found in its bytes, for every method.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import type { MethodName } from "../../../ts/service/raw.ts";
import { METHOD_NAMES } from "../../../ts/api/raw_methods.ts";
import { namespaceField, namespaceOf } from "../../../ts/api/request_namespace.ts";
import { WorkflowService } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";

for (const method of METHOD_NAMES) {
  test(`${method}: its namespace, if it has one`, () => {
    const { input } = WorkflowService.method[method];
    const field = input.fields.find((each) => each.name === "namespace");
    assert.equal(namespaceField(method) >>> 3, field?.number ?? 0);
    const others = { taskToken: Uint8Array.of(1, 2, 3), identity: "worker-1", workflowId: "w" };
    const known = Object.fromEntries(
      Object.entries(others).filter(([name]) => input.field[name as never] !== undefined),
    );
    const bytes = (namespace: string) =>
      toBinary(input as never, create(input as never, { ...known, namespace } as never));
    for (const name of ["default", "shop.a1b2c", "n".repeat(200)]) {
      assert.equal(namespaceOf(method, bytes(name)), field === undefined ? undefined : name);
    }
    assert.equal(namespaceOf(method, bytes("")), undefined);
    assert.equal(namespaceOf(method, bytes("geschäft")), undefined);
  });
}

test("invalid message bytes have no namespace", () => {
  for (
    const bytes of [[], [0x0a], [0x0a, 0], [0x0a, 5, 65], [0xff, 0xff], [0x4a, 0x80], [0x4a, 9, 1]]
  ) {
    for (
      const method of [
        "startWorkflowExecution",
        "respondWorkflowTaskCompleted",
        "getSystemInfo",
      ] as MethodName[]
    ) {
      assert.doesNotThrow(() => namespaceOf(method, Uint8Array.from(bytes)));
    }
  }
});
