// A full disk: each caller gets the reason (the store cannot write, which file, why), also with a
// short timeout. Nothing is acknowledged, and everything resumes when there is space again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, DeadlineExceededError, silentLogger } from "../../../ts/client/mod.ts";
import { EmbeddedEngine, MemoryStore, StoreFullError } from "../../../ts/engine/mod.ts";
import { storeError } from "../../../ts/engine/sqlite/errors.ts";
import { ServiceError } from "../../../ts/service/raw.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import {
  noreply,
  on,
  receive,
  reply,
  signal,
  stop,
  update,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { ProbeStore } from "./support/probe_store.ts";

const poke = signal("poke");
const end = signal("end");
const add = update<[number], number>("add");
const waits = workflow("Waits", () =>
  receive(0, [
    on(poke, (_, n) => noreply(n + 1)),
    on(add, ([by], n) => reply(n + by, n + by)),
    on(end, (_, n) => stop(n)),
  ]));

const FULL =
  "writing to /data/shop.sqlite failed: no space left (database or disk is full). Free space and try again.";

test("while the disk is full each caller gets the reason, also with a short timeout; later everything resumes", async () => {
  const store = new ProbeStore(new MemoryStore());
  let full = false;
  store.onCommit = () => {
    if (full) throw new StoreFullError(FULL);
  };
  const engine = await EmbeddedEngine.open({ store, onError: () => {} });
  const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
  const worker = await Worker.create({
    service: engine,
    taskQueue: "q",
    workflows: [{ waits }],
    realm: "inline",
    logger: silentLogger,
  });
  await worker.runUntil(async () => {
    const handle = await client.start(waits, { id: "w" });
    assert.equal(await handle.update(add, 1), 1);
    full = true;
    // The first commit that fails makes the engine pause: later calls wait for it and meet nothing
    // but their own deadline.
    const withTimeout = async (timeout: number) => {
      const calls: { readonly [what: string]: () => Promise<unknown> } = {
        start: () => client.start(waits, { id: `new-${timeout}`, timeout }),
        signal: () => handle.with({ timeout }).signal(poke),
        update: () => handle.with({ timeout }).update(add, 1),
        result: () => handle.result({ timeout }),
        terminate: () => client.getHandle("Waits", "w").with({ timeout }).terminate("enough"),
      };
      await Promise.all(
        Object.entries(calls).map(([what, call]) =>
          assert.rejects(call(), (e: Error) => {
            // So short that the engine may not have met the disk yet.
            if (timeout === 1) return true;
            const text = `${what} with ${timeout} ms: ${e.name}: ${e.message}`;
            assert.ok(e instanceof DeadlineExceededError || e instanceof ServiceError, text);
            assert.ok(e.message.includes(FULL), text);
            assert.doesNotMatch(e.message, /worker is running|increase the timeout/, text);
            return true;
          })
        ),
      );
    };
    await withTimeout(1);
    await withTimeout(40);
    await Promise.all([150, 400, 1_500].map(withTimeout));
    full = false;
    // What was refused was not done.
    assert.equal(await client.count(), 1);
    await handle.signal(end);
    assert.ok(await handle.result() >= 1);
  });
  await engine.close();
});

test("a past failure is not reported as the cause of a later deadline", async () => {
  const store = new ProbeStore(new MemoryStore());
  let fails = 1;
  store.onCommit = () => {
    if (fails-- > 0) throw new StoreFullError(FULL);
  };
  const engine = await EmbeddedEngine.open({ store, onError: () => {} });
  const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
  const handle = await client.start(waits, { id: "w" });
  await assert.rejects(handle.result({ timeout: 50 }), (e: Error) => {
    assert.ok(e instanceof DeadlineExceededError);
    assert.match(e.message, /check that a worker is running$/);
    return true;
  });
  await engine.close();
});

test('a generic "disk I/O error" is classified by the free disk space', () => {
  const error = (free: number | undefined) =>
    storeError(new Error("disk I/O error"), "writing to /data/s failed", () => free);
  const full = error(4096);
  assert.ok(full instanceof StoreFullError);
  assert.equal(
    full.message,
    "writing to /data/s failed: no space left (disk I/O error, and 4096 bytes are free). Free space and try again.",
  );
  for (const free of [undefined, 2 ** 30]) {
    assert.equal(error(free) instanceof StoreFullError, false);
  }
  for (
    const words of [
      "ENOSPC: no space left on device, write",
      "database or disk is full",
      "EDQUOT: quota exceeded",
    ]
  ) {
    assert.ok(storeError(new Error(words), "writing") instanceof StoreFullError, words);
  }
});
