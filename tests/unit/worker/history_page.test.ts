// Pages of history on their way from the service to the core: cut out of the response without being
// decoded.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  GetWorkflowExecutionHistoryResponseSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { readHistoryPage } from "../../../ts/worker/workflow/realms.ts";

const history = (...ids: number[]) =>
  create(HistorySchema, { events: ids.map((id) => ({ eventId: BigInt(id) })) });
const page = (fields: object) =>
  readHistoryPage(
    toBinary(
      GetWorkflowExecutionHistoryResponseSchema,
      create(GetWorkflowExecutionHistoryResponseSchema, fields),
    ),
  );
const ids = (bytes: Uint8Array) =>
  fromBinary(HistorySchema, bytes).events.map((event) => Number(event.eventId));

test("a decoded page is read", () => {
  const { history: bytes, nextPageToken } = page({
    history: history(1, 2),
    nextPageToken: new Uint8Array([7]),
  });
  assert.deepEqual(ids(bytes), [1, 2]);
  assert.deepEqual([...nextPageToken], [7]);
});

test("raw batches of a server are joined", () => {
  const rawHistory = [history(1, 2), history(3)].map((batch) => ({
    data: toBinary(HistorySchema, batch),
  }));
  assert.deepEqual(ids(page({ rawHistory }).history), [1, 2, 3]);
});

test("an empty page is read", () => {
  const { history: bytes, nextPageToken } = page({});
  assert.deepEqual(ids(bytes), []);
  assert.equal(nextPageToken.length, 0);
});
