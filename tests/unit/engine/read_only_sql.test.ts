// SQL from people only reads: hostile statements are refused, on every driver, and nothing of the
// file changes.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { DriverName } from "../../../ts/engine/sqlite/driver.ts";
import { SqlRefusedError } from "../../../ts/engine/sqlite/read_only_sql.ts";
import { SqliteStore } from "../../../ts/engine/sqlite/store.ts";
import { hostile } from "./support/hostile_sql.ts";
import { created } from "./support/records.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

/** docs/database.md: a value of 512 MB ends the process in Node 22. */
function withoutLimits(driver: string): string | false {
  const old = driver === "node:sqlite" && !("deno" in process.versions) &&
    Number(process.versions.node.split(".")[0]) < 24;
  return old && "node:sqlite cannot limit values before Node 24";
}

for (const { driver, skip } of sqliteDrivers) {
  test(
    `${driver}: hostile statements are rejected, and reads return rows`,
    { skip },
    () =>
      inFolder((folder) => {
        const store = SqliteStore.open(join(folder, "store.db"), {
          driver: driver as DriverName,
          synchronous: "NORMAL",
        });
        try {
          store.commit([created("wf", "r", 2)]);
          const other = join(folder, "other.db");
          const statements = hostile(other);
          assert.ok(statements.length >= 60);
          for (const sql of statements) {
            assert.throws(
              () => store.sql(sql),
              (error) => error instanceof SqlRefusedError,
              JSON.stringify(sql),
            );
          }
          assert.ok(!existsSync(other));
          assert.deepEqual(store.sql("SELECT id, status FROM workflow;"), [{
            id: "wf",
            status: "Created",
          }]);
          assert.deepEqual(
            store.sql(
              " with n(i) as (values (1), (2)) select sum(i) as s, replace('ab', 'b', ';') as r from n",
            ),
            [
              { s: 3, r: "a;" },
            ],
          );
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
      }),
  );

  test(
    `${driver}: entities are looked up by an index, whether the number is quoted or not`,
    { skip },
    () =>
      inFolder((folder) => {
        const store = SqliteStore.open(join(folder, "store.db"), {
          driver: driver as DriverName,
          synchronous: "NORMAL",
        });
        try {
          const plan = (sql: string) =>
            store.sql(`EXPLAIN QUERY PLAN ${sql}`).map((row) => row["detail"]).join("\n");
          assert.match(
            plan("SELECT * FROM workflow WHERE entity_id = 42"),
            /USING INDEX runs_by_entity/,
          );
          assert.match(
            plan("SELECT id FROM workflow WHERE correlation_id = 'spell'"),
            /USING INDEX runs_by_correlation/,
          );
          assert.match(
            plan("SELECT * FROM workflow_subscription WHERE signal_name || '' = 'x'"),
            /search_attributes_by_value|USING INDEX|PRIMARY KEY/,
          );
        } finally {
          store.close();
        }
      }),
  );

  test(
    `${driver}: a value too long for a JavaScript string is an error of its statement, and the store continues`,
    { skip: skip || withoutLimits(driver) },
    () =>
      inFolder((folder) => {
        const store = SqliteStore.open(join(folder, "store.db"), {
          driver: driver as DriverName,
          synchronous: "NORMAL",
        });
        const HUGE = "SELECT printf('%.*c', 536870912, 'x') AS x";
        try {
          assert.throws(() => store.sql(HUGE), Error);
          store.begin();
          assert.throws(() => store.savepoint(() => store.tables.get(HUGE)), Error);
          store.rollback();
          store.commit([created("wf", "r", 2)]);
          assert.deepEqual(store.sql("SELECT count(*) AS n FROM workflow"), [{ n: 1 }]);
        } finally {
          store.close();
        }
      }),
  );

  test(`${driver}: an error after the first rows is thrown, and never ends a result early`, {
    skip,
  }, () =>
    inFolder((folder) => {
      const store = SqliteStore.open(join(folder, "store.db"), {
        driver: driver as DriverName,
        synchronous: "NORMAL",
      });
      try {
        const overflow = "SELECT 1 AS n UNION ALL SELECT abs(-9223372036854775808)";
        assert.throws(() => store.sql(overflow), /integer overflow/);
        store.commit([created("wf", "r", 2)]);
        assert.deepEqual(store.sql("SELECT count(*) AS n FROM workflow"), [{ n: 1 }]);
      } finally {
        store.close();
      }
    }));

  test(
    `${driver}: reducers and migrations cannot access other files`,
    { skip },
    () =>
      inFolder((folder) => {
        const store = SqliteStore.open(join(folder, "store.db"), {
          driver: driver as DriverName,
          synchronous: "NORMAL",
        });
        const target = join(folder, "written");
        try {
          for (
            const expression of [
              "readfile('/etc/hostname')",
              `writefile('${target}', 'x')`,
              "load_extension('x')",
              '"readfile"(?)',
              "edit('x')",
            ]
          ) {
            assert.throws(
              () => store.tables.get(`SELECT ${expression}`),
              /is not available: it accesses data outside the store/,
              expression,
            );
            assert.throws(
              () =>
                store.migrate(
                  [{ name: "1", sql: `CREATE VIEW v AS SELECT ${expression} AS x` }],
                  0,
                ),
              /is not available: it accesses data outside the store/,
              expression,
            );
          }
          assert.throws(
            () => store.tables.run(`ATTACH '${target}' AS other`),
            /ATTACH is not for this handle/,
          );
          assert.equal(existsSync(target), false);
        } finally {
          store.close();
        }
      }),
  );
}
