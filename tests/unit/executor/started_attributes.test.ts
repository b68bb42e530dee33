// A scan of a run's start reads what the message's descriptor would.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { scanStarted } from "../../../ts/executor/program/started_attributes.ts";
import {
  PrioritySchema,
  RetryPolicySchema,
} from "../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { FailureSchema } from "../../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import { WorkflowExecutionStartedEventAttributesSchema as Started } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";

const text = new TextEncoder();
const payload = (value: string) => ({
  metadata: { encoding: text.encode("json/plain") },
  data: text.encode(JSON.stringify(value)),
});

const plain = (of: { metadata: { [key: string]: Uint8Array }; data: Uint8Array }) => [
  { ...of.metadata },
  new Uint8Array(of.data),
];
const plainFields = (fields: { readonly [key: string]: Parameters<typeof plain>[0] } = {}) =>
  Object.entries(fields).map(([key, value]) => [key, plain(value)]);

/** By the descriptor. */
function decoded(bytes: Uint8Array) {
  const start = fromBinary(Started, bytes);
  return {
    parent: start.parentWorkflowExecution?.workflowId,
    parentRun: start.parentWorkflowExecution?.runId,
    parentNamespace: start.parentWorkflowNamespace,
    root: start.rootWorkflowExecution?.workflowId,
    originalRunId: start.originalExecutionRunId,
    cronSchedule: start.cronSchedule,
    memo: plainFields(start.memo?.fields),
    searchAttributes: plainFields(start.searchAttributes?.indexedFields),
    lastResult: (start.lastCompletionResult?.payloads ?? []).map(plain),
    failure: start.continuedFailure?.message,
    attempts: start.retryPolicy?.maximumAttempts,
    weight: start.priority?.fairnessWeight,
    expirationMs: start.workflowExecutionExpirationTime &&
      Number(start.workflowExecutionExpirationTime.seconds) * 1000 +
        Math.round(start.workflowExecutionExpirationTime.nanos / 1e6),
    firstTaskBackoffMs: start.firstWorkflowTaskBackoff &&
      Number(start.firstWorkflowTaskBackoff.seconds) * 1000 +
        Math.round(start.firstWorkflowTaskBackoff.nanos / 1e6),
  };
}

function scanned(bytes: Uint8Array): ReturnType<typeof decoded> {
  const start = scanStarted(bytes);
  return {
    parent: start.parent?.workflowId,
    parentRun: start.parent?.runId,
    parentNamespace: start.parentNamespace,
    root: start.root?.workflowId,
    originalRunId: start.originalRunId,
    cronSchedule: start.cronSchedule,
    memo: plainFields(start.memo),
    searchAttributes: plainFields(start.searchAttributes),
    lastResult: start.lastResult.map(plain),
    failure: start.continuedFailure && fromBinary(FailureSchema, start.continuedFailure).message,
    attempts: start.retryPolicy && fromBinary(RetryPolicySchema, start.retryPolicy).maximumAttempts,
    weight: start.priority && fromBinary(PrioritySchema, start.priority).fairnessWeight,
    expirationMs: start.expirationMs,
    firstTaskBackoffMs: start.firstTaskBackoffMs,
  };
}

const full = {
  workflowType: { name: "order" },
  parentWorkflowNamespace: "shop",
  parentWorkflowExecution: { workflowId: "basket", runId: "r1" },
  rootWorkflowExecution: { workflowId: "day", runId: "r0" },
  originalExecutionRunId: "r2",
  cronSchedule: "@every 1h",
  memo: { fields: { note: payload("né"), other: payload("") } },
  searchAttributes: { indexedFields: { Customer: payload("a") } },
  lastCompletionResult: { payloads: [payload("one"), payload("two")] },
  continuedFailure: { message: "before" },
  retryPolicy: { maximumAttempts: 7, initialInterval: { seconds: 1n, nanos: 5 } },
  priority: { priorityKey: 2, fairnessWeight: 1.5 },
  workflowExecutionExpirationTime: { seconds: 1_800_000_000n, nanos: 123_600_000 },
  firstWorkflowTaskBackoff: { seconds: 3n, nanos: 499_999 },
  // Fields that are not read.
  identity: "a client",
  attempt: 3,
};

test("each part of a start is read as by its descriptor", () => {
  const bytes = toBinary(Started, create(Started, full));
  assert.deepEqual(scanned(bytes), decoded(bytes));
  assert.equal(scanned(bytes).firstTaskBackoffMs, 3000);
});

test("parts that a start does not have are absent", () => {
  for (const name of Object.keys(full) as (keyof typeof full)[]) {
    const { [name]: _left, ...rest } = full;
    const bytes = toBinary(Started, create(Started, rest));
    assert.deepEqual(scanned(bytes), decoded(bytes), name);
  }
  const empty = toBinary(Started, create(Started));
  assert.deepEqual(scanned(empty), decoded(empty));
});

test("a memo may have any key", () => {
  const encoded = toBinary(
    Started,
    create(Started, { memo: { fields: { xxprotoxx: payload("a"), constructor: payload("b") } } }),
  );
  // An object literal has no such key, and a server may send it.
  const bytes = new Uint8Array(encoded);
  const at = new TextDecoder("latin1").decode(bytes).indexOf("xxprotoxx");
  bytes.set(text.encode("__proto__"), at);
  assert.deepEqual(Object.keys(scanStarted(bytes).memo).sort(), ["__proto__", "constructor"]);
});
