// `describe().action` of a schedule has the fields that the official client sets, those without a
// value included. The expected objects are what `@temporalio/client` returned for the same
// schedules of a Temporal server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromJson, toBinary } from "@bufbuild/protobuf";
import { ScheduleActionSchema } from "../../../ts/messages/generated/temporal/api/schedule/v1/message_pb.ts";
import { DescribeScheduleResponseSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Client, Connection } from "../../../ts/compat/client/mod.ts";
import type { RawService } from "../../../ts/service/raw.ts";

const payload = (json: string) => ({
  metadata: { encoding: btoa("json/plain") },
  data: btoa(json),
});

async function actionOf(fields: object): Promise<object> {
  const startWorkflow = {
    workflowId: "w",
    workflowType: { name: "W" },
    taskQueue: { name: "q" },
    ...fields,
  };
  const action = fromJson(ScheduleActionSchema, { startWorkflow });
  const response = create(DescribeScheduleResponseSchema, {
    schedule: { action, spec: {}, state: {}, policies: {} },
    info: {},
  });
  const service: RawService = {
    call: () => Promise.resolve(toBinary(DescribeScheduleResponseSchema, response)),
  };
  const { action: described } = await new Client({ connection: Connection.over(service) }).schedule
    .getHandle("s").describe();
  const { typedSearchAttributes, ...rest } = described as unknown as {
    typedSearchAttributes: { getAll(): unknown[] };
  };
  assert.deepEqual(typedSearchAttributes.getAll(), []);
  return rest;
}

const COMMON = {
  type: "startWorkflow",
  workflowId: "w",
  workflowType: "W",
  taskQueue: "q",
  searchAttributes: {},
};

test("an action without options has each field of the official client", async () => {
  assert.deepStrictEqual(await actionOf({}), {
    ...COMMON,
    args: [],
    memo: undefined,
    retry: undefined,
    workflowExecutionTimeout: undefined,
    workflowRunTimeout: undefined,
    workflowTaskTimeout: undefined,
    staticSummary: undefined,
    staticDetails: undefined,
    priority: { priorityKey: undefined, fairnessKey: undefined, fairnessWeight: undefined },
  });
});

test("an action with options has their values in the official form", async () => {
  const fields = {
    input: { payloads: [payload("1")] },
    memo: { fields: { a: payload("1") } },
    retryPolicy: { maximumAttempts: 3, initialInterval: "2s" },
    workflowExecutionTimeout: "60s",
    workflowRunTimeout: "5s",
    workflowTaskTimeout: "3s",
    userMetadata: { summary: payload('"s"'), details: payload('"d"') },
    priority: { priorityKey: 2 },
  };
  assert.deepStrictEqual(await actionOf(fields), {
    ...COMMON,
    args: [1],
    memo: { a: 1 },
    retry: {
      backoffCoefficient: 0,
      maximumAttempts: 3,
      maximumInterval: undefined,
      initialInterval: 2000,
      nonRetryableErrorTypes: [],
    },
    workflowExecutionTimeout: 60_000,
    workflowRunTimeout: 5000,
    workflowTaskTimeout: 3000,
    staticSummary: "s",
    staticDetails: "d",
    priority: { priorityKey: 2, fairnessKey: "", fairnessWeight: 0 },
  });
});
