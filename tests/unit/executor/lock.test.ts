import assert from "node:assert/strict";
import { test } from "node:test";
import { Lock } from "../../../ts/executor/tasks/lock.ts";

test("the lock has one holder at a time, in the order of requests", async () => {
  const lock = new Lock();
  const order: string[] = [];
  assert.equal(lock.acquire(), undefined, "a free one is had at once");
  const waits = ["b", "c"].map((name) => lock.acquire()!.then(() => void order.push(name)));
  await Promise.resolve();
  assert.deepEqual(order, []);
  lock.release();
  await waits[0];
  assert.deepEqual(order, ["b"]);
  lock.release();
  await waits[1];
  assert.deepEqual(order, ["b", "c"]);
  lock.release();
  assert.equal(lock.acquire(), undefined);
  assert.notEqual(lock.acquire(), undefined);
});
