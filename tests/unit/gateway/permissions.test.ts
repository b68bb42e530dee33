// What a caller of the gateway may do: methods that change nothing, and namespaces, wherever a
// request names them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { isReadOnlyMethod, withPermissions } from "../../../ts/gateway/permissions.ts";
import type { MethodName, RawService, ServiceError } from "../../../ts/service/raw.ts";
import { METHOD_NAMES } from "../../../ts/api/raw_methods.ts";
import { WorkflowService } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { CommandType } from "../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";

const passed: Uint8Array[] = [];
const service: RawService = {
  losesCancelledPolls: true,
  call: (_, request) => (passed.push(request), Promise.resolve(new Uint8Array(0))),
};
const request = (method: MethodName, fields: object): Uint8Array => {
  const input: DescMessage = WorkflowService.method[method].input;
  return toBinary(input, create(input, fields as never));
};
const orders = withPermissions(service, { namespaces: ["orders", "returns"] });
/** Why a call is refused; undefined when it goes through. */
const why = (to: RawService, method: MethodName, bytes: Uint8Array) =>
  to.call(method, bytes).then(
    () => undefined,
    (error: ServiceError) => `${error.code} ${error.message}`,
  );

test("read-only: every method is classified as reading or is rejected", async () => {
  const reads = METHOD_NAMES.filter(isReadOnlyMethod).sort();
  assert.deepEqual(reads, [
    "countActivityExecutions",
    "countSchedules",
    "countWorkers",
    "countWorkflowExecutions",
    "describeActivityExecution",
    "describeBatchOperation",
    "describeNamespace",
    "describeSchedule",
    "describeTaskQueue",
    "describeWorker",
    "describeWorkerDeployment",
    "describeWorkerDeploymentVersion",
    "describeWorkflowExecution",
    "getClusterInfo",
    "getSearchAttributes",
    "getSystemInfo",
    "getWorkflowExecutionHistory",
    "getWorkflowExecutionHistoryReverse",
    "listActivityExecutions",
    "listBatchOperations",
    "listClosedWorkflowExecutions",
    "listNamespaces",
    "listOpenWorkflowExecutions",
    "listScheduleMatchingTimes",
    "listSchedules",
    "listWorkerDeployments",
    "listWorkers",
    "listWorkflowExecutions",
    "pollActivityExecution",
    "pollWorkflowExecutionUpdate",
    "queryWorkflow",
    "scanWorkflowExecutions",
  ]);
  const reading = withPermissions(service, { readOnly: true });
  for (const method of METHOD_NAMES) {
    const refused = await why(reading, method, new Uint8Array(0));
    if (reads.includes(method)) assert.equal(refused, undefined, method);
    else assert.equal(refused, `7 ${method} is a write, and this gateway is read-only`);
  }
  assert.equal(reading.losesCancelledPolls, true);
  assert.equal(
    withPermissions(service, {}),
    service,
    "without permissions the service is not wrapped",
  );
});

test("the allowed namespaces apply to every method, whatever the field number", async () => {
  for (const method of METHOD_NAMES) {
    if (method === "getSystemInfo" || method === "getClusterInfo") {
      assert.equal(await why(orders, method, new Uint8Array(0)), undefined);
    } else if (method === "listNamespaces" || method === "getSearchAttributes") {
      assert.match(
        await why(orders, method, new Uint8Array(0)) ?? "",
        /is not limited to one namespace, and this gateway serves only "orders"/,
      );
    } else {
      passed.length = 0;
      const bytes = request(method, { namespace: "orders" });
      assert.equal(await why(orders, method, bytes), undefined, method);
      assert.equal(passed[0], bytes, "requests pass on as they came");
      assert.equal(
        await why(orders, method, request(method, { namespace: "payroll" })),
        `7 ${method} uses the namespace "payroll", and this gateway serves only "orders", "returns"`,
      );
      assert.match(
        await why(orders, method, new Uint8Array(0)) ?? "",
        /has no namespace/,
        "a task's token may name another",
      );
    }
  }
});

test("nested namespaces of requests are checked; those in failures and links are not", async () => {
  const commands = (...namespaces: string[]) =>
    request("respondWorkflowTaskCompleted", {
      namespace: "orders",
      commands: namespaces.map((namespace) => ({
        commandType: CommandType.START_CHILD_WORKFLOW_EXECUTION,
        attributes: { case: "startChildWorkflowExecutionCommandAttributes", value: { namespace } },
      })),
    });
  assert.equal(
    await why(orders, "respondWorkflowTaskCompleted", commands("", "orders", "returns")),
    undefined,
  );
  assert.match(
    await why(orders, "respondWorkflowTaskCompleted", commands("orders", "payroll")) ?? "",
    /uses the namespace "payroll"/,
  );
  const start = request("executeMultiOperation", {
    namespace: "orders",
    operations: [{ operation: { case: "startWorkflow", value: { namespace: "payroll" } } }],
  });
  assert.match(await why(orders, "executeMultiOperation", start) ?? "", /"payroll"/);
  const byId = request("describeNamespace", { namespace: "orders", id: "1b4e28ba" });
  assert.match(await why(orders, "describeNamespace", byId) ?? "", /"1b4e28ba"/);
  const failed = request("respondActivityTaskFailed", {
    namespace: "orders",
    failure: {
      failureInfo: { case: "childWorkflowExecutionFailureInfo", value: { namespace: "payroll" } },
    },
  });
  assert.equal(await why(orders, "respondActivityTaskFailed", failed), undefined);
});

test("no encoding bypasses the check: repeated, reordered, mistyped or truncated fields", async () => {
  const name = (text: string) =>
    new BinaryWriter().tag(1, WireType.LengthDelimited).string(text).finish();
  const joined = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));
  for (
    const parts of [["payroll", "orders"], ["orders", "payroll"], ["orders", "payroll", "orders"]]
  ) {
    assert.match(
      await why(orders, "describeNamespace", joined(...parts.map(name))) ?? "",
      /"payroll"/,
      String(parts),
    );
  }
  assert.match(
    await why(orders, "describeNamespace", joined(name("orders"), name(""))) ?? "",
    /has no namespace/,
  );
  const long = joined(
    Uint8Array.of(0x8a, 0x80, 0x80, 0x80, 0x00, 7),
    new TextEncoder().encode("payroll"),
  );
  assert.match(
    await why(orders, "describeNamespace", joined(name("orders"), long)) ?? "",
    /"payroll"/,
    "a longer form of the tag",
  );
  const number = new BinaryWriter().tag(1, WireType.Varint).uint32(5).finish();
  assert.match(await why(orders, "describeNamespace", number) ?? "", /has no namespace/);
  for (const bytes of [[10], [10, 9, 65], [0], [10, 6, ...new TextEncoder().encode("orders"), 8]]) {
    assert.match(
      await why(orders, "describeNamespace", Uint8Array.from(bytes)) ?? "",
      /^3 .*not a valid message/,
      String(bytes),
    );
  }
  const deep = joined(
    name("orders"),
    ...Array.from({ length: 50_000 }, () => Uint8Array.of(0x93, 0x01)),
  );
  assert.match(await why(orders, "describeNamespace", deep) ?? "", /^3 .*not a valid message/);
});
