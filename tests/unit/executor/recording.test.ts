// Recorded commands have no stack traces in them, which differ between runtimes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import {
  CommandKind,
  FailWorkflow,
  QueryResult,
  UpdateResponse,
} from "../../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { encodeFailure } from "../../../ts/converter/failure_converter.ts";
import { ApplicationFailure } from "../../../ts/converter/failures.ts";
import { reduceStacks } from "../../../ts/executor/tasks/recording.ts";
import { FailureSchema } from "../../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";

const failure = encodeFailure(
  new ApplicationFailure("outer", {
    type: "Outer",
    cause: new ApplicationFailure("inner", { type: "Inner" }),
  }),
);

test("failures that end a run, an update or a query are reduced to type and message", () => {
  const failed = FailWorkflow.decode(
    reduceStacks(
      CommandKind.COMMAND_KIND_FAIL_WORKFLOW,
      FailWorkflow.encode(FailWorkflow.fromPartial({ failure })).finish(),
    ),
  ).failure;
  const update = UpdateResponse.fromPartial({
    protocolInstanceId: "u",
    response: { $case: "rejected", value: failure },
  });
  const rejected = UpdateResponse.decode(
    reduceStacks(CommandKind.COMMAND_KIND_UPDATE_RESPONSE, UpdateResponse.encode(update).finish()),
  );
  const query = QueryResult.fromPartial({
    queryId: "q",
    result: { $case: "failed", value: failure },
  });
  const queryResult = QueryResult.decode(
    reduceStacks(CommandKind.COMMAND_KIND_QUERY_RESULT, QueryResult.encode(query).finish()),
  );
  assert.deepEqual([rejected.protocolInstanceId, queryResult.queryId], ["u", "q"]);
  assert.equal(rejected.response?.$case, "rejected");
  assert.equal(queryResult.result?.$case, "failed");
  const values = [failed, rejected.response?.value, queryResult.result?.value] as Uint8Array[];
  for (const bytes of values) {
    const { stackTrace, cause } = fromBinary(FailureSchema, bytes);
    assert.deepEqual([stackTrace, cause!.stackTrace], ["Outer: outer", "Inner: inner"]);
  }
});
