// A namespace that is not there is named by each call of the client, as the official one does.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, Connection, NamespaceNotFoundError } from "../../ts/compat/client/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../ts/mod.ts";

test("every call names a namespace that is not there", async () => {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  try {
    const { workflow } = new Client({ connection: Connection.over(engine), namespace: "nowhere" });
    const handle = workflow.getHandle("wf");
    const calls: { [name: string]: () => Promise<unknown> } = {
      list: () => workflow.list()[Symbol.asyncIterator]().next(),
      count: () => workflow.count(),
      start: () => workflow.start("Order", { workflowId: "wf", taskQueue: "q" }),
      describe: () => handle.describe(),
      signal: () => handle.signal("go"),
      query: () => handle.query("state"),
      cancel: () => handle.cancel(),
      terminate: () => handle.terminate(),
    };
    for (const [name, call] of Object.entries(calls)) {
      await assert.rejects(call(), (error) => {
        assert.ok(error instanceof NamespaceNotFoundError, `${name}: ${error}`);
        assert.equal(error.namespace, "nowhere", name);
        return true;
      });
    }
  } finally {
    await engine.close();
  }
});
