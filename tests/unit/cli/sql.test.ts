// `temporalex sql` while another process holds the store.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { open, silentLogger } from "../../../ts/mod.ts";
import { signal, waitForSignal, workflow } from "../../../ts/workflow/mod.ts";
import { inFolder } from "../engine/support/stores.ts";
import { run } from "./support/run.ts";

const waits = workflow("waits", async () => await waitForSignal(signal("go")));

test("rows are printed as a table, JSON and CSV, while another process has the store open", () =>
  inFolder(async (folder) => {
    const store = join(folder, "game.sqlite");
    const app = await open({
      path: store,
      workflows: { waits },
      logger: silentLogger,
      serve: false,
    });
    const sql = (statement: string, ...more: string[]) =>
      run(["sql", statement, "--store", store, ...more], { cwd: folder });
    try {
      await app.client.start(waits, { id: 'the "first", one', args: [], entityId: "42" });
      const statement =
        "SELECT id, entity_id AS entity, 1.5 AS n, NULL AS void, x'0aff' AS bytes FROM workflow WHERE entity_id = 42";
      const json = await sql(statement, "--json");
      assert.equal(json.code, 0, json.err);
      assert.deepEqual(JSON.parse(json.out), [{
        id: 'the "first", one',
        entity: "42",
        n: 1.5,
        void: null,
        bytes: "0aff",
      }]);
      const csv = await sql(statement, "--csv");
      assert.equal(csv.out, 'id,entity,n,void,bytes\r\n"the ""first"", one",42,1.5,,0aff\r\n');
      const table = await sql(statement);
      assert.match(table.out, /^id +entity +n +void +bytes\nthe "first", one +42 +1\.5 +0aff\n$/);
      const wide = [
        "sql",
        "SELECT id, hex(zeroblob(300)) AS zeros, entity_id FROM workflow",
        "--store",
        store,
      ];
      assert.match(
        (await run(wide, { cwd: folder, terminal: true, width: 80 })).out,
        /^id +zeros +entity_id\nthe "first", one +0{37}\.\.\. +42\n$/,
      );
      assert.match((await run(wide, { cwd: folder })).out, /0{600}/, "for programs all of it");
      assert.equal((await sql("SELECT * FROM workflow_timer")).out, "no rows\n");
      const none = await sql("SELECT * FROM workflow_timer", "--csv");
      assert.deepEqual([none.code, none.out, none.err], [0, "", "no rows\n"]);
      const refused = await sql("DELETE FROM runs");
      assert.equal(refused.code, 2);
      assert.match(
        refused.err,
        /DELETE is not allowed; pass one read-only statement .*: DELETE FROM runs/,
      );
      const unknown = await sql("SELECT * FROM nowhere");
      assert.equal(unknown.code, 1);
      assert.match(unknown.err, /no such table: nowhere/);
      assert.deepEqual(
        app.engine.sql("SELECT count(*) AS n FROM workflow WHERE id = ?", 'the "first", one'),
        [{ n: 1 }],
      );
      assert.throws(() => app.engine.sql("UPDATE runs SET status = 2"), /UPDATE is not allowed/);
    } finally {
      await app.close();
    }
  }));
