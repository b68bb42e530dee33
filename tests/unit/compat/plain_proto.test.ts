// Messages in the official packages' form and back; their 64-bit integers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { PayloadSchema } from "../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { FailureSchema } from "../../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import { HistoryEventSchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { bigintOf, Long } from "../../../ts/compat/common/long.ts";
import { fromPlain, toPlain } from "../../../ts/compat/common/plain_proto.ts";

test("a oneof field is a property like the others, 64-bit integers are Longs, an unset field reads as its default", () => {
  const event = create(HistoryEventSchema, {
    eventId: 7n,
    eventType: 1,
    eventTime: { seconds: 5n, nanos: 2 },
    attributes: {
      case: "timerStartedEventAttributes",
      value: { timerId: "1", startToFireTimeout: { seconds: -1n } },
    },
  });
  const plain = toPlain(HistoryEventSchema, event);
  assert.deepEqual(Object.keys(plain).sort(), [
    "eventId",
    "eventTime",
    "eventType",
    "timerStartedEventAttributes",
  ]);
  assert.deepEqual([plain.eventId.toNumber(), String(plain.eventTime.seconds), plain.eventType], [
    7,
    "5",
    1,
  ]);
  assert.deepEqual(plain.timerStartedEventAttributes.startToFireTimeout.seconds.toNumber(), -1);
  assert.deepEqual([
    plain.taskId.toNumber(),
    plain.timerFiredEventAttributes,
    plain.workerMayIgnore,
    plain.links.length,
  ], [
    0,
    null,
    false,
    0,
  ]);
  assert.deepEqual(
    toBinary(HistoryEventSchema, fromPlain(HistoryEventSchema, plain)),
    toBinary(HistoryEventSchema, event),
  );
});

test("messages are made of objects that leave out what is not set, with numbers, names and texts for what has other forms", () => {
  const failure = fromPlain(FailureSchema, {
    message: "late",
    cause: { timeoutFailureInfo: { timeoutType: "TIMEOUT_TYPE_HEARTBEAT" } },
    applicationFailureInfo: {
      type: "T",
      nextRetryDelay: { seconds: 3 },
      details: { payloads: [{ metadata: {}, data: "AQI=" }] },
    },
    serverFailureInfo: null,
  });
  assert.deepEqual(failure.failureInfo.case, "applicationFailureInfo");
  assert.deepEqual(
    failure.cause?.failureInfo,
    fromPlain(FailureSchema, { timeoutFailureInfo: { timeoutType: 4 } }).failureInfo,
  );
  const again = fromBinary(FailureSchema, toBinary(FailureSchema, failure));
  const info = toPlain(FailureSchema, again).applicationFailureInfo;
  assert.deepEqual([info.nextRetryDelay.seconds.toNumber(), [...info.details.payloads[0].data]], [
    3,
    [1, 2],
  ]);
  assert.throws(() => fromPlain(FailureSchema, "text"), /^TypeError: .*an object is expected/);
  assert.throws(
    () => fromPlain(FailureSchema, { timeoutFailureInfo: { timeoutType: "NEVER" } }),
    /"NEVER" is not a value/,
  );
});

test("bytes are also arrays of numbers; protobufjs has an empty one for bytes that are not set", () => {
  assert.deepEqual([...fromPlain(PayloadSchema, { data: [1, 255] }).data], [1, 255]);
  const unset = Object.create({ metadata: {}, data: [], externalPayloads: [] });
  assert.deepEqual(toBinary(PayloadSchema, fromPlain(PayloadSchema, unset)), new Uint8Array(0));
});

test("the integers of fields that are not set cannot be changed: all messages share them", () => {
  const { taskId } = toPlain(HistoryEventSchema, create(HistoryEventSchema));
  assert.throws(() => (taskId as { low: number }).low = 5, TypeError);
  assert.equal(Reflect.setPrototypeOf(taskId, null), false);
  assert.ok(Object.isFrozen(Long.ZERO) && Object.isFrozen(Long.UZERO));
});

test("Longs are 64 bits wide, with and without a sign", () => {
  for (const value of [0n, 1n, -1n, 2n ** 31n, -(2n ** 63n), 2n ** 63n - 1n, 123456789012345678n]) {
    assert.deepEqual(Long.fromBigInt(value).toBigInt(), value);
    assert.deepEqual(
      bigintOf({ low: Long.fromBigInt(value).low, high: Long.fromBigInt(value).high }),
      value,
    );
  }
  assert.deepEqual(Long.fromBigInt(2n ** 64n - 1n, true).toString(), "18446744073709551615");
  assert.deepEqual(Long.fromNumber(1e12).mul(1000).add(5).toNumber(), 1e15 + 5);
  assert.ok(
    Long.isLong(Long.ZERO) && !Long.isLong(5) && Long.fromString("-3").isNegative() &&
      Long.UZERO.isZero(),
  );
  assert.deepEqual([
    Long.fromValue(3).compare("4"),
    Long.fromValue(4n).eq(4),
    Long.fromValue("5").gt(4),
  ], [-1, true, true]);
});
