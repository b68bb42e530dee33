// Ids and names with a lone surrogate are rejected by name: UTF-8 cannot carry them, and as U+FFFD
// two ids would become one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { workflow } from "../../../ts/workflow/mod.ts";

const BAD = "a\ud800b";

test("lone surrogates in ids, types, queues, names and keys are rejected, and nothing reaches the engine", async () => {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
  const handle = await client.start("W", { id: "good", args: [] });
  const calls: readonly (readonly [field: string, call: () => Promise<unknown>])[] = [
    ["workflowId", () => client.start("W", { id: BAD, args: [] })],
    ["workflowType.name", () => client.start(BAD, { id: "x", args: [] })],
    ["taskQueue.name", () => client.start("W", { id: "x", args: [], taskQueue: BAD })],
    ["memo.fields", () => client.start("W", { id: "x", args: [], memo: { [BAD]: 1 } })],
    [
      "searchAttributes.indexedFields",
      () => client.start("W", { id: "x", args: [], searchAttributes: { [BAD]: "v" } }),
    ],
    ["signalName", () => handle.signal(BAD)],
    ["query.queryType", () => handle.query(BAD)],
    ["request.input.name", () => handle.update(BAD)],
    ["workflowExecution.workflowId", () => client.getHandle(undefined, BAD).signal("s")],
    ["query", () => client.count(BAD)],
  ];
  for (const [field, call] of calls) {
    await assert.rejects(call, (e: unknown) => {
      assert.match(
        (e as Error).message,
        new RegExp(`(?:^| )${field} "a\\\\ud800b" contains a lone surrogate`),
        field,
      );
      return true;
    });
  }
  assert.equal(await client.count(), 1);
  // A pair is one character; texts for people are taken as they are.
  await client.start("W", { id: "\ud83d\ude00", args: [BAD] });
  await handle.terminate(BAD);
  assert.equal(await client.count(), 2);
  await engine.close();
});

test("workers, clients and engines reject a lone surrogate in the names of their options", async () => {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const workflows = [workflow("W", async () => 1)];
  await assert.rejects(
    Worker.create({ service: engine, taskQueue: BAD, workflows, logger: silentLogger }),
    /taskQueue must be a non-empty string without lone surrogate/,
  );
  assert.throws(
    () => new Client({ service: engine, namespace: BAD }),
    /namespace must be a non-empty string without lone surrogate/,
  );
  await assert.rejects(
    EmbeddedEngine.open({ store: new MemoryStore(), namespace: BAD }),
    /namespace must be a non-empty string without lone surrogate/,
  );
  await engine.close();
});
