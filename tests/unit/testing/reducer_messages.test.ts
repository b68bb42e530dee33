// Reducers that send messages to workflows, in a test environment; and engines that have no client
// for them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EmbeddedEngine } from "../../../ts/engine/mod.ts";
import type { Payload } from "../../../ts/converter/payload.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import * as reducers from "../app/transactions/reducers.ts";
import { listener, sends } from "../app/transactions/workflows.ts";

test("in a test environment the messages of reducers reach their workflows with the task's commit", async () => {
  const env = await TestEnvironment.create({ reducers, migrations: reducers.migrations });
  try {
    const lines = await env.runWorker({ workflows: [{ listener, sends }] }, async () => {
      await env.client.execute(sends, { id: "sender", args: ["target"] });
      return await env.client.getHandle(listener, "target").result();
    });
    assert.deepEqual(lines, ["first", "second"]);
  } finally {
    await env.dispose();
  }
});

test("messages of reducers are encoded by the environment's codec", async () => {
  const seen: string[] = [];
  const reversed = (payloads: Payload[]): Payload[] =>
    payloads.map(({ data, ...rest }) => ({ ...rest, data: data.slice().reverse() }));
  const codec = {
    encode: (payloads: Payload[]) => Promise.resolve(reversed(payloads)),
    decode: (payloads: Payload[]) => Promise.resolve(reversed(payloads)),
    encodeSync(payloads: Payload[]) {
      seen.push(...payloads.map(({ data }) => new TextDecoder().decode(data)));
      return reversed(payloads);
    },
    decodeSync: reversed,
  };
  const { migrations } = reducers;
  const env = await TestEnvironment.create({ reducers, migrations, codec });
  try {
    const lines = await env.runWorker({ workflows: [{ listener, sends }] }, async () => {
      await env.client.execute(sends, { id: "sender", args: ["target"] });
      return await env.client.getHandle(listener, "target").result();
    });
    assert.deepEqual(lines, ["first", "second"]);
    assert.ok(seen.includes('"second"'), seen.join());
  } finally {
    await env.dispose();
  }
});

test("an engine without a client rejects messages of reducers with the reason", async () => {
  const { openInMemory } = await import("../../../ts/engine/sqlite/in_memory.ts");
  const engine = await EmbeddedEngine.open({
    store: openInMemory(),
    reducers,
    migrations: reducers.migrations,
  });
  try {
    await assert.rejects(
      engine.transact((db) => db.workflows),
      /db\.workflows is not available: this engine has no client\. .* application of open\(\)/,
    );
  } finally {
    await engine.close();
  }
});
