// The service over a store that is only read: what it has, and what it refuses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStore } from "../../../ts/engine/mod.ts";
import { ReadOnlyService } from "../../../ts/engine/read_only_service.ts";
import { Code, type MethodName, ServiceError } from "../../../ts/service/raw.ts";

const codeOf = async (service: ReadOnlyService, method: MethodName): Promise<Code | undefined> => {
  try {
    await service.call(method, new Uint8Array(0));
    return undefined;
  } catch (e) {
    assert.ok(e instanceof ServiceError, String(e));
    return e.code;
  }
};

test("every read method responds, and methods that change something are unimplemented", async () => {
  const service = await ReadOnlyService.open(new MemoryStore());
  const reads: MethodName[] = [
    ...[
      "getSystemInfo",
      "getClusterInfo",
      "getSearchAttributes",
      "describeNamespace",
      "listNamespaces",
    ] as const,
    ...["listWorkflowExecutions", "countWorkflowExecutions", "describeWorkflowExecution"] as const,
    ...["getWorkflowExecutionHistory", "getWorkflowExecutionHistoryReverse"] as const,
  ];
  for (const method of reads) {
    assert.notEqual(await codeOf(service, method), Code.UNIMPLEMENTED, method);
  }
  for (
    const method of [
      "startWorkflowExecution",
      "pollWorkflowTaskQueue",
      "deleteWorkflowExecution",
    ] as const
  ) {
    assert.equal(await codeOf(service, method), Code.UNIMPLEMENTED, method);
  }
  await service.close();
});
