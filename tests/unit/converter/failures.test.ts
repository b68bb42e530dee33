// Failures keep their fields on the way through the wire form.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  findFailure,
  fromFailure,
  isFailure,
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

test("a failure is found by class and by type at any depth of causes", () => {
  const stock = new ApplicationFailure("none left", { type: "OutOfStock", details: [7] });
  const activity = new ActivityFailure("failed", { activityType: "buy", activityId: "1" }, {
    cause: stock,
  });
  const child = new ChildWorkflowFailure("failed", {
    workflowType: "W",
    workflowId: "w",
    runId: "r",
  }, { cause: activity });
  for (const error of [child, new Error("a client's error", { cause: child }), around(child)]) {
    assert.equal(isFailure(error, "OutOfStock"), true);
    assert.deepEqual(findFailure(error, "OutOfStock")?.details, [7]);
    assert.equal(findFailure(error, ActivityFailure)?.activityType, "buy");
    assert.equal(isFailure(error, ChildWorkflowFailure), true);
    assert.equal(isFailure(error, TimeoutFailure), false);
    assert.equal(isFailure(error, "ApplicationFailure"), false);
  }
  assert.equal(findFailure(child, Error), child, "the first that matches");
  for (const nothing of [undefined, null, "OutOfStock", { type: "OutOfStock" }]) {
    assert.equal(isFailure(nothing, "OutOfStock"), false);
  }
});

test("a search for a failure ends with cyclic and hostile causes, and rejects other types", () => {
  const cyclic = new Error("a");
  cyclic.cause = new Error("b", { cause: cyclic });
  assert.equal(isFailure(cyclic, "OutOfStock"), false);
  const hostile = new Proxy(new ApplicationFailure("x", { type: "Own" }), {
    get() {
      throw new Error("hostile");
    },
  });
  assert.equal(isFailure(hostile, "Own"), false);
  assert.equal(isFailure(hostile, ApplicationFailure), true);
  assert.throws(() => isFailure(cyclic, undefined as never), /^TypeError: the type of a failure/);
});
