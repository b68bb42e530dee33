// A process with a schedule in progress is killed: no acknowledged action is lost, and none is
// taken twice.
// promise: P1, P2
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Client, silentLogger } from "../../../../ts/client/mod.ts";
import { EmbeddedEngine } from "../../../../ts/engine/mod.ts";
import { kill, nextLine, startModule } from "../support/child.ts";
import { inFolder } from "../support/stores.ts";
import { ACTIONS, BACKFILL_MS, FIRST_MS } from "./backfills.ts";

const CHILD = new URL("./backfilling_child.js", import.meta.url);
const SOURCE = new URL("./backfilling_child.ts", import.meta.url);

test("a killed process loses no acknowledged action and takes none twice", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "store.db");
    let first = 0;
    for (const backfills of [3, 8, 5]) {
      const module = import.meta.url.endsWith(".ts") ? SOURCE : CHILD;
      const child = startModule(module, [path, String(first)]);
      let last = -1;
      for (let n = 0; n < backfills; n++) last = Number(await nextLine(child));
      await kill(child);
      assert.equal(last, first + backfills - 1);
      const engine = await EmbeddedEngine.open({ path });
      try {
        const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
        const { info } = await client.schedule.getHandle("s").describe();
        const ids: string[] = [];
        for await (const { workflowId } of client.list()) ids.push(workflowId);
        // The kill may have interrupted a backfill that was committed, or one that was not.
        assert.equal(info.numActionsTaken, ids.length);
        assert.equal(new Set(ids).size, ids.length);
        assert.equal(ids.length % ACTIONS, 0);
        assert.ok(ids.length >= (last + 1) * ACTIONS, `${ids.length} actions`);
        for (let action = 0; action < (last + 1) * ACTIONS; action++) {
          const at = FIRST_MS + action * BACKFILL_MS / ACTIONS;
          assert.ok(ids.includes(`w-${new Date(at).toISOString().replace(".000Z", "Z")}`));
        }
        first = ids.length / ACTIONS;
      } finally {
        await engine.close();
      }
    }
  });
});
