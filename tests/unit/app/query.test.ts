// `app.query`: a query in a separate process. Values arrive, limits stop it, and the engine
// continues while it runs.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { open, silentLogger, SqlLimitError, SqlRefusedError, StoreError } from "../../../ts/mod.ts";
import { workflow } from "../../../ts/workflow/mod.ts";
import { inFolder } from "../engine/support/stores.ts";

const quick = workflow("quick", () => Promise.resolve("done"));
const ENDLESS =
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n";

test("query returns rows and values, and rejects invalid statements", () =>
  inFolder(async (folder) => {
    const app = await open({
      path: join(folder, "a.sqlite"),
      workflows: { quick },
      logger: silentLogger,
      serve: false,
    });
    try {
      await app.client.execute(quick, { id: "quick-1", args: [] });
      assert.deepEqual(
        await app.query(
          "SELECT id, ? AS text, ? AS n, ? AS missing, ? AS bytes FROM workflow WHERE id = ?",
          {
            params: ["ö", 1.5, null, new Uint8Array([0, 255]), "quick-1"],
          },
        ),
        [{ id: "quick-1", text: "ö", n: 1.5, missing: null, bytes: new Uint8Array([0, 255]) }],
      );
      await assert.rejects(app.query("DELETE FROM runs"), SqlRefusedError);
      await assert.rejects(
        app.query("SELECT 1", { params: [undefined as never] }),
        /value 1 is undefined: pass null/,
      );
      for (const timeoutMs of [0, -1, NaN, Infinity]) {
        await assert.rejects(
          app.query("SELECT 1", { timeoutMs }),
          new RegExp(`timeoutMs must be .*, not ${timeoutMs}$`),
        );
      }
      await assert.rejects(app.query("SELECT 1", { timeout: 5 } as never), /timeout/);
    } finally {
      await app.close();
    }
  }));

test("an endless query is stopped, and the engine continues meanwhile", () =>
  inFolder(async (folder) => {
    const app = await open({
      path: join(folder, "a.sqlite"),
      workflows: { quick },
      logger: silentLogger,
      serve: false,
    });
    try {
      const abort = new AbortController();
      let ended = false;
      const query = app.query(ENDLESS, { signal: abort.signal });
      const canceled = assert.rejects(query, /no longer needed/).then(() => ended = true);
      assert.equal(await app.client.execute(quick, { id: "quick-1", args: [] }), "done");
      assert.equal(ended, false);
      abort.abort(new Error("no longer needed"));
      await canceled;
      const limited = (error: unknown) =>
        error instanceof SqlLimitError && /stopped after 0\.3 s/.test(error.message);
      await assert.rejects(app.query(ENDLESS, { timeoutMs: 300 }), limited);
    } finally {
      await app.close();
    }
  }));

test("a query of a store in memory is rejected: it has no file", async () => {
  const app = await open({ workflows: { quick }, logger: silentLogger });
  try {
    await assert.rejects(
      app.query("SELECT 1"),
      (error) => error instanceof StoreError && /app\.engine\.sql/.test(error.message),
    );
  } finally {
    await app.close();
  }
});
