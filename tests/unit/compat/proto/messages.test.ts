// `temporalex/compat/proto`: messages in the form of protobufjs, with the bytes of Temporal's API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { google, temporal } from "../../../../ts/compat/proto/mod.ts";
import { hasFiles } from "../../../../ts/platform/source_files.ts";
import { create, toBinary } from "@bufbuild/protobuf";
import { PayloadSchema } from "../../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const { Payload, Payloads } = temporal.api.common.v1;

test("a payload is converted to the API's bytes and back", () => {
  const payload = { metadata: { encoding: bytes("json/plain") }, data: bytes("1") };
  const encoded = Payload.encode(payload).finish();
  assert.deepEqual(encoded, toBinary(PayloadSchema, create(PayloadSchema, payload)));
  const decoded = Payload.decode(encoded);
  assert.deepEqual({ ...decoded }, payload);
  assert.equal(
    JSON.stringify(
      Payloads.decode(Payloads.encode({ payloads: [decoded] }).finish()).payloads.length,
    ),
    "1",
  );
  assert.deepEqual(
    Payload.decode(new Uint8Array(0)).data,
    new Uint8Array(0),
    "what is not set reads as its default",
  );
});

test("enumerations, nested types and types of Google", () => {
  const { EventType } = temporal.api.enums.v1;
  assert.equal(EventType.EVENT_TYPE_TIMER_FIRED, 18);
  assert.equal(EventType[18], "EVENT_TYPE_TIMER_FIRED");
  assert.equal(
    temporal.api.history.v1.History.create({ events: [{ eventType: "EVENT_TYPE_TIMER_FIRED" }] })
      .events[0].eventType,
    18,
  );
  assert.equal(
    google.protobuf.Timestamp.decode(
      google.protobuf.Timestamp.encode({ seconds: 5, nanos: 1 }).finish(),
    ).nanos,
    1,
  );
  assert.equal(
    typeof temporal.api.workflowservice.v1.StartWorkflowExecutionRequest.encode,
    "function",
  );
  assert.equal(temporal.api.nothing, undefined);
});

test("types of methods that this package never calls", { skip: !hasFiles() }, () => {
  const { BatchOperationType, ResetType } = temporal.api.enums.v1;
  assert.equal(BatchOperationType.BATCH_OPERATION_TYPE_SIGNAL, 3);
  assert.equal(ResetType.RESET_TYPE_FIRST_WORKFLOW_TASK, 1);
  const { ListBatchOperationsRequest } = temporal.api.workflowservice.v1;
  const bytes = ListBatchOperationsRequest.encode({ namespace: "default", pageSize: 3 }).finish();
  assert.deepEqual({ ...ListBatchOperationsRequest.decode(bytes) }, {
    namespace: "default",
    pageSize: 3,
  });
  assert.ok(Object.keys(temporal.api).includes("batch"));
  assert.equal(typeof temporal.api.batch.v1.BatchOperationInfo.decode, "function");
  assert.equal(temporal.api.enums.v1.Missing, undefined);
});

test("bytes of other messages and fields of a wrong type are rejected", () => {
  assert.throws(() => Payload.decode(new Uint8Array([10, 200, 1])));
  assert.throws(
    () => Payload.encode("text").finish(),
    /temporal\.api\.common\.v1\.Payload: an object is expected, not text/,
  );
});
