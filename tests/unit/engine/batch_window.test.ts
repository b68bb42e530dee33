// When the engine's batch of calls closes: at once for a lone caller, and not while workflow code
// of this thread is going to make more calls.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BatchWindow } from "../../../ts/engine/batch_window.ts";
import { hop } from "../../../ts/platform/hop.ts";
import { addThreadWork, hasThreadWork } from "../../../ts/platform/thread_work.ts";
import { until } from "../../support/until.ts";

test("a lone call is committed after two hops", async () => {
  let closed = 0;
  const window = new BatchWindow(() => (window.taken(), closed++), () => 0);
  window.add();
  window.closeSoon();
  await hop();
  await hop();
  await until("the batch is closed", () => closed === 1);
  assert.equal(window.isClosing, false);
});

test("the batch stays open while workflow code runs in this thread, up to a limit", async () => {
  let closed = 0, now = 0, running = true;
  const window = new BatchWindow(() => (window.taken(), closed++), () => now);
  const remove = addThreadWork(() => running);
  try {
    assert.ok(hasThreadWork());
    window.add();
    window.closeSoon();
    for (let i = 0; i < 20; i++) await hop();
    assert.equal(closed, 0);
    running = false;
    await until("the batch is closed", () => closed === 1);

    running = true;
    window.add();
    window.closeSoon();
    for (let i = 0; i < 20; i++) await hop();
    assert.equal(closed, 1);
    now = 1_000;
    await until("the batch is closed", () => closed === 2);

    // Nothing entered, so there is nothing to wait for.
    now = 0;
    window.closeSoon();
    await until("the batch is closed", () => closed === 3);
  } finally {
    remove();
  }
  assert.equal(hasThreadWork(), false);
});
