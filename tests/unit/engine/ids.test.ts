// Ids with NUL characters: refused by the engine, with the same words whatever its store, before
// any store is asked.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { EmbeddedEngine } from "../../../ts/engine/mod.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { inFolder, storeKinds } from "./support/stores.ts";

const refused = (e: unknown): boolean => {
  const cause = e instanceof ServiceError ? e : (e as Error).cause;
  return cause instanceof ServiceError && cause.code === Code.INVALID_ARGUMENT &&
    /NUL character/.test(cause.message);
};

for (const { name, skip, open } of storeKinds) {
  test(
    `ids with NUL characters are rejected (${name})`,
    { skip },
    () =>
      inFolder(async (folder) => {
        const store = open(join(folder, "ids.sqlite"));
        const engine = await EmbeddedEngine.open({ store });
        const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
        try {
          await assert.rejects(client.start("W", { id: "a\0b" }), refused);
          await assert.rejects(client.start("W\0", { id: "a" }), refused);
          await assert.rejects(client.start("W", { id: "a", taskQueue: "q\0" }), refused);
          await assert.rejects(client.getHandle("W", "a\0b").describe(), refused);
          await assert.rejects(client.getHandle("W", "a\0b").signal("go"), refused);
          const handle = await client.start("W", { id: "a" });
          await assert.rejects(handle.signal("go\0"), refused);
          assert.equal((await handle.describe()).status, "RUNNING");
        } finally {
          await engine.close();
          store.close();
        }
      }),
  );
}
