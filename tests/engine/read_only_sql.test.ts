// SQL from people only reads: hostile statements are refused, on every driver, and nothing of the file changes.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { DriverName } from "../../ts/engine/sqlite/driver.ts";
import { SqlRefusedError } from "../../ts/engine/sqlite/read_only_sql.ts";
import { SqliteStore } from "../../ts/engine/sqlite/store.ts";
import { created } from "./support/records.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

const hostile = (file: string): readonly string[] => [
  "",
  " -- SELECT 1",
  ";",
  "INSERT INTO runs DEFAULT VALUES",
  "INSERT OR REPLACE INTO store VALUES (1, 0, 9)",
  "REPLACE INTO store VALUES (1, 0, 9)",
  "UPDATE runs SET status = 2",
  "UPDATE store SET epoch = 99",
  "DELETE FROM runs",
  "DELETE FROM history WHERE 1",
  "DROP TABLE runs",
  "DROP VIEW workflow",
  "DROP INDEX runs_by_id",
  "ALTER TABLE runs RENAME TO gone",
  "CREATE TABLE mine (a)",
  "CREATE TEMP TABLE mine (a)",
  "CREATE VIEW mine AS SELECT 1",
  "CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM runs; END",
  "CREATE VIRTUAL TABLE v USING fts5(a)",
  `ATTACH '${file}' AS other`,
  `ATTACH DATABASE '${file}' AS other`,
  "DETACH main",
  `VACUUM INTO '${file}'`,
  "VACUUM",
  "REINDEX",
  "ANALYZE",
  "BEGIN",
  "BEGIN IMMEDIATE",
  "COMMIT",
  "ROLLBACK",
  "SAVEPOINT s",
  "RELEASE s",
  "PRAGMA query_only=OFF",
  "PRAGMA user_version=9",
  "PRAGMA writable_schema=ON",
  "PRAGMA journal_mode=DELETE",
  "PRAGMA wal_checkpoint(TRUNCATE)",
  "/* SELECT */ PRAGMA application_id=1",
  "EXPLAIN PRAGMA user_version=9",
  "EXPLAIN QUERY PLAN DELETE FROM runs",
  "explain insert into runs default values",
  "SELECT 1; DELETE FROM runs",
  "SELECT 1; ATTACH ':memory:' AS a",
  "SELECT ';'; PRAGMA query_only=OFF",
  "SELECT 1 /* ; */ ; UPDATE store SET epoch = 9",
  "WITH x AS (SELECT 1) DELETE FROM runs",
  "WITH x AS (SELECT 1) UPDATE store SET epoch = 9",
  "WITH x(a) AS (VALUES (1)) INSERT INTO store SELECT a, a, a FROM x",
  "WITH x AS (SELECT 1) REPLACE INTO store VALUES (1, 0, 9)",
  "WITH x AS (DELETE FROM runs RETURNING run_key) SELECT * FROM x",
  "SELECT load_extension('evil')",
  `SELECT "load_extension"('evil')`,
  "SELECT `LOAD_EXTENSION`('evil', 'init')",
  "SELECT [load_extension]('evil')",
  "SELECT load_extension/**/('evil')",
  "SELECT fts3_tokenizer('simple', x'00')",
  `SELECT writefile('${file}', 'x')`,
  `SELECT readfile('/etc/hostname')`,
  "SELECT * FROM pragma_user_version",
  "SELECT * FROM pragma_table_info('runs')",
  `SELECT * FROM "pragma_journal_mode"('delete')`,
  "SELECT * FROM sqlite_dbpage",
  "SELECT 1\0; DELETE FROM runs",
  "(SELECT 1); DELETE FROM runs",
];

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: hostile statements are refused, and reads are answered`, { skip }, () =>
    inFolder((folder) => {
      const store = SqliteStore.open(join(folder, "store.db"), { driver: driver as DriverName, synchronous: "NORMAL" });
      try {
        store.commit([created("wf", "r", 2)]);
        const other = join(folder, "other.db");
        const statements = hostile(other);
        assert.ok(statements.length >= 60);
        for (const sql of statements) {
          assert.throws(() => store.sql(sql), (error) => error instanceof SqlRefusedError, JSON.stringify(sql));
        }
        assert.ok(!existsSync(other));
        assert.deepEqual(store.sql("SELECT id, status FROM workflow;"), [{ id: "wf", status: "Created" }]);
        assert.deepEqual(store.sql(" with n(i) as (values (1), (2)) select sum(i) as s, replace('ab', 'b', ';') as r from n"), [
          { s: 3, r: "a;" },
        ]);
        assert.deepEqual(store.sql("SELECT ? AS a, 'DELETE FROM runs; --' AS b -- c", ["x"]), [{
          a: "x",
          b: "DELETE FROM runs; --",
        }]);
        assert.ok(store.sql("EXPLAIN QUERY PLAN SELECT * FROM workflow").length > 0);
        assert.throws(() => store.sql("SELECT * FROM nowhere"), /nowhere/);
        // A statement that failed leaves the connection able to write.
        store.commit([created("wf-2", "r-2", 2)]);
        assert.deepEqual(store.sql("SELECT count(*) AS n FROM workflow"), [{ n: 2 }]);
      } finally {
        store.close();
      }
    }));

  test(
    `${driver}: entities are looked up by an index, whether the number is quoted or not`,
    { skip },
    () =>
      inFolder((folder) => {
        const store = SqliteStore.open(join(folder, "store.db"), { driver: driver as DriverName, synchronous: "NORMAL" });
        try {
          const plan = (sql: string) => store.sql(`EXPLAIN QUERY PLAN ${sql}`).map((row) => row["detail"]).join("\n");
          assert.match(plan("SELECT * FROM workflow WHERE entity_id = 42"), /USING INDEX runs_by_entity/);
          assert.match(plan("SELECT id FROM workflow WHERE correlation_id = 'spell'"), /USING INDEX runs_by_correlation/);
          assert.match(
            plan("SELECT * FROM workflow_subscription WHERE signal_name || '' = 'x'"),
            /search_attributes_by_value|USING INDEX|PRIMARY KEY/,
          );
        } finally {
          store.close();
        }
      }),
  );
}
