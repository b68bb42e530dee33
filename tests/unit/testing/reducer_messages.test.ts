// Reducers that send messages to workflows, in a test environment; and engines that have no client
// for them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EmbeddedEngine } from "../../../ts/engine/mod.ts";
import type { Payload } from "../../../ts/converter/payload.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import { sayLine } from "../app/functions/functions.ts";
import * as reducers from "../app/transactions/reducers.ts";
import { listener, said, sends } from "../app/transactions/workflows.ts";

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

test("env.transaction and client.call change rows and send messages in one commit; a throw rolls both back", async () => {
  const { migrations } = reducers;
  const env = await TestEnvironment.create({ migrations, functions: { sayLine } });
  const { client } = env;
  try {
    await env.runWorker({ workflows: [{ listener }] }, async () => {
      const id = await env.transaction((db, workflows) => {
        db.run("INSERT INTO line (line) VALUES ('0')");
        return workflows.start(listener, { id: "target" });
      });
      const failing = env.transaction((db, workflows) => {
        db.run("INSERT INTO line (line) VALUES ('lost')");
        workflows.signal(id, said, "lost");
        throw new RangeError("rolled back");
      });
      await assert.rejects(failing, /rolled back/);
      assert.deepEqual(await client.call<typeof sayLine>("sayLine", id, "1"), { rows: 2 });
      assert.deepEqual(await client.call<typeof sayLine>("sayLine", id, "end"), { rows: 3 });
      assert.deepEqual(await client.getHandle(listener, id).result(), ["1"]);
    });
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
