// Heartbeat throttling (docs/dev/semantics/activities.md#heartbeats-are-throttled).
import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultPayloadConverter, type Payload } from "../../../ts/converter/mod.ts";
import {
  DEFAULT_HEARTBEAT_THROTTLE,
  Heartbeater,
  heartbeatIntervalMs,
} from "../../../ts/worker/activities/heartbeats.ts";
import { ManualTimers, settle } from "../../support/manual_timers.ts";

const payload = (value: unknown) => [defaultPayloadConverter.toPayload(value)];

function sender(timers: ManualTimers, duration = 0) {
  const sent: [number, unknown][] = [];
  const send = async (details: Payload[]) => {
    sent.push([timers.now(), defaultPayloadConverter.fromPayload(details[0]!)]);
    if (duration > 0) await new Promise<void>((resolve) => void timers.after(duration, resolve));
  };
  return { sent, send };
}

test("the interval is 80 % of the timeout, 30 s without one, never above 60 s", () => {
  assert.equal(heartbeatIntervalMs(10_000, DEFAULT_HEARTBEAT_THROTTLE), 8000);
  assert.equal(heartbeatIntervalMs(0, DEFAULT_HEARTBEAT_THROTTLE), 30_000);
  assert.equal(heartbeatIntervalMs(3_600_000, DEFAULT_HEARTBEAT_THROTTLE), 60_000);
});

test("the first heartbeat goes out at once, later ones coalesce to the latest", async () => {
  const timers = new ManualTimers();
  const { sent, send } = sender(timers);
  const heartbeater = new Heartbeater(1000, timers, send);
  for (let i = 0; i < 10; i++) heartbeater.record(payload(i));
  await settle();
  assert.deepEqual(sent, [[0, 0]]);
  await timers.advance(999);
  assert.equal(sent.length, 1);
  await timers.advance(1);
  assert.deepEqual(sent, [[0, 0], [1000, 9]]);
  await timers.advance(5000);
  assert.equal(sent.length, 2, "nothing new, nothing sent");
  heartbeater.record(payload("late"));
  await settle();
  assert.deepEqual(sent[2], [6000, "late"]);
  heartbeater.stop();
  assert.equal(timers.pending, 0);
});

test("a heartbeat that takes longer than the interval is not overtaken", async () => {
  const timers = new ManualTimers();
  const { sent, send } = sender(timers, 2500);
  const heartbeater = new Heartbeater(1000, timers, send);
  heartbeater.record(payload(1));
  await timers.advance(500);
  heartbeater.record(payload(2));
  await timers.advance(1500);
  heartbeater.record(payload(3));
  assert.deepEqual(sent, [[0, 1]]);
  await timers.advance(1000);
  assert.deepEqual(sent, [[0, 1], [2500, 3]]);
  heartbeater.stop();
});

test("flush sends the pending heartbeat once, after the one in flight; stop drops it", async () => {
  const timers = new ManualTimers();
  const { sent, send } = sender(timers, 100);
  const heartbeater = new Heartbeater(1000, timers, send);
  heartbeater.record(payload(1));
  heartbeater.record(payload(2));
  const flushed = heartbeater.flush();
  await timers.advance(200);
  await flushed;
  assert.deepEqual(sent, [[0, 1], [100, 2]]);
  heartbeater.record(payload(3));
  await timers.advance(5000);
  assert.equal(sent.length, 2);

  const stopped = new Heartbeater(1000, timers, send);
  stopped.record(payload("a"));
  stopped.record(payload("b"));
  stopped.stop();
  await timers.advance(5000);
  assert.deepEqual(sent.slice(2).map(([, value]) => value), ["a"]);
  assert.equal(timers.pending, 0);
});
