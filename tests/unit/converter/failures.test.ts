// Failures keep their fields on the way through the wire form.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  fromFailure,
  ServerFailure,
  TerminatedFailure,
  TimeoutFailure,
  toFailure,
} from "../../../ts/converter/mod.ts";
import { FailureSchema } from "../../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import { fromBinary, toBinary } from "@bufbuild/protobuf";

/** Through bytes, without the shortcut that keeps the original message. */
function around<T extends Error>(error: T): T {
  const bytes = toBinary(FailureSchema, toFailure(error));
  const back = fromFailure(fromBinary(FailureSchema, bytes));
  assert.equal(back.name, error.name);
  assert.equal(back.message, error.message);
  return back as unknown as T;
}

test("the names of retry states and timeout types survive", () => {
  const timeout = around(new TimeoutFailure("late", "HEARTBEAT", { at: 3 }));
  assert.equal(timeout.timeoutType, "HEARTBEAT");
  assert.deepEqual(timeout.lastHeartbeatDetails, { at: 3 });
  const activity = around(
    new ActivityFailure("failed", {
      activityType: "pay",
      activityId: "1",
      retryState: "MAXIMUM_ATTEMPTS_REACHED",
    }),
  );
  assert.equal(activity.retryState, "MAXIMUM_ATTEMPTS_REACHED");
  assert.equal(activity.activityType, "pay");
  const child = around(
    new ChildWorkflowFailure("failed", {
      workflowType: "w",
      workflowId: "i",
      runId: "r",
      retryState: "NON_RETRYABLE_FAILURE",
    }),
  );
  assert.equal(child.retryState, "NON_RETRYABLE_FAILURE");
});

test("unset retry states and timeout types read as undefined", () => {
  assert.equal(around(new TimeoutFailure("late", undefined)).timeoutType, undefined);
  assert.equal(
    around(new ActivityFailure("failed", { activityType: "pay", activityId: "1" })).retryState,
    undefined,
  );
});

test("application failures keep type, details, retryability, delay and causes", () => {
  const failure = around(
    new ApplicationFailure("no money", {
      type: "Declined",
      nonRetryable: true,
      details: [{ code: 51 }, "x"],
      nextRetryDelayMs: 1500,
      cause: new CancelledFailure("stopped", ["why"]),
    }),
  );
  assert.equal(failure.type, "Declined");
  assert.equal(failure.nonRetryable, true);
  assert.deepEqual(failure.details, [{ code: 51 }, "x"]);
  assert.equal(failure.nextRetryDelayMs, 1500);
  assert.ok(failure.cause instanceof CancelledFailure);
  assert.deepEqual(failure.cause.details, ["why"]);
});

test("server and terminated failures keep their kind", () => {
  assert.equal(around(new ServerFailure("down", true)).nonRetryable, true);
  around(new TerminatedFailure("by hand"));
});

test("any thrown value becomes an application failure with the type of its constructor", () => {
  const failure = fromFailure(toFailure(new RangeError("out")));
  assert.ok(failure instanceof ApplicationFailure);
  assert.equal(failure.type, "RangeError");
  assert.equal(fromFailure(toFailure("text")).message, "text");
});

test("printing a decoded failure does not print bytes", () => {
  const read = around(
    new ApplicationFailure("declined", {
      type: "Declined",
      cause: new ApplicationFailure("no funds"),
    }),
  );
  assert.ok(read.failure instanceof Uint8Array);
  const printed = inspect(read, { depth: 5 });
  assert.doesNotMatch(printed, /Uint8Array/);
  assert.match(printed, /declined[\s\S]*type: 'Declined'[\s\S]*no funds/);
});
