// The engine's tables in the file of the application's tables: application SQL cannot change them,
// and their names leave the application's own tables alone (docs/database.md).
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { DatabaseError, EmbeddedEngine } from "../../../ts/engine/mod.ts";
import { OWN_TABLES } from "../../../ts/engine/tables/database.ts";
import { downgradeFile } from "./support/older_files.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

const migrations = [{ name: "001", sql: "CREATE TABLE npc (id INTEGER PRIMARY KEY)" }];

test("the list of the engine's tables is complete, and application SQL cannot change any", () =>
  inFolder(async (folder) => {
    const engine = await EmbeddedEngine.open({ path: join(folder, "a.sqlite"), migrations });
    try {
      const found = engine.sql(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'npc'",
      );
      assert.deepEqual(found.map(({ name }) => name).toSorted(), OWN_TABLES.toSorted());
      for (const name of OWN_TABLES) {
        await assert.rejects(
          engine.transact((db) => db.run(`DELETE FROM ${name}`)),
          (error) => error instanceof DatabaseError && /a table of the engine/.test(error.message),
          name,
        );
      }
    } finally {
      await engine.close();
    }
  }));

for (const { driver, skip } of sqliteDrivers) {
  test(
    `${driver}: an older file in which the application has tables "schedules" and "batch_operations" opens`,
    { skip },
    () =>
      inFolder(async (folder) => {
        const path = join(folder, "a.sqlite");
        const own = ["schedules", "batch_operations"];
        const migrations = [{
          name: "001",
          sql: own.map((name) => `CREATE TABLE ${name} (id INTEGER PRIMARY KEY);`).join("\n"),
        }];
        const made = await EmbeddedEngine.open({ path, driver, migrations });
        for (const name of own) {
          await made.transact((db) => db.run(`INSERT INTO ${name} VALUES (7)`));
        }
        await made.close();
        downgradeFile(path, driver, 5);
        const engine = await EmbeddedEngine.open({ path, driver, migrations });
        for (const name of own) {
          assert.deepEqual(engine.tables.all(`SELECT id FROM ${name}`), [{ id: 7 }]);
        }
        assert.deepEqual(engine.store.check(), []);
        await engine.close();
      }),
  );
}
