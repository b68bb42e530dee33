// Limits of `engine.sql`: rows, bytes and time, on every driver; and the store continues after a
// query that was stopped.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { IN_ENGINE_LIMITS, SqlLimitError } from "../../../ts/engine/sqlite/bounded_rows.ts";
import type { DriverName } from "../../../ts/engine/sqlite/driver.ts";
import { loadLibrary } from "../../../ts/engine/sqlite/libraries.ts";
import { builtins } from "../../../ts/engine/sqlite/builtins.ts";
import { readOnlyRows } from "../../../ts/engine/sqlite/read_only_sql.ts";
import { SqliteStore } from "../../../ts/engine/sqlite/store.ts";
import { created } from "./support/records.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

const NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
const ENDLESS = `${NUMBERS} SELECT i FROM n`;

const stopped = (pattern: RegExp) => (error: unknown) =>
  error instanceof SqlLimitError && pattern.test(error.message);

for (const { driver, skip } of sqliteDrivers) {
  test(
    `${driver}: too many rows and too large a result are errors, and the store continues`,
    { skip },
    () =>
      inFolder((folder) => {
        const store = SqliteStore.open(join(folder, "store.db"), {
          driver: driver as DriverName,
          synchronous: "NORMAL",
        });
        const database = loadLibrary(builtins()!, driver as DriverName).open(
          join(folder, "other.db"),
        );
        // Without the limit of time: this many rows take more than two seconds on a busy machine.
        const rowsOf = (sql: string) =>
          readOnlyRows(database, sql, [], { ...IN_ENGINE_LIMITS, ms: Infinity });
        try {
          store.commit([created("wf", "r", 2)]);
          assert.throws(
            () => rowsOf(ENDLESS),
            stopped(/^the result has more than 100000 rows: add a LIMIT/),
          );
          assert.throws(
            () => rowsOf(`${NUMBERS} SELECT hex(zeroblob(500000)) AS x FROM n`),
            stopped(/^the result is larger than 16777216 bytes \(at row 17\)/),
          );
          assert.equal(
            rowsOf(`${NUMBERS} SELECT i FROM n LIMIT 100000`).length,
            IN_ENGINE_LIMITS.rows,
          );
          assert.throws(() => store.sql(ENDLESS), SqlLimitError);
          store.commit([created("wf-2", "r-2", 2)]);
          assert.deepEqual(store.sql("SELECT count(*) AS n FROM workflow"), [{ n: 2 }]);
        } finally {
          database.close();
          store.close();
        }
      }),
  );

  test(
    `${driver}: a query is stopped at the first row after its time limit`,
    { skip },
    () =>
      inFolder((folder) => {
        const database = loadLibrary(builtins()!, driver as DriverName).open(
          join(folder, "store.db"),
        );
        try {
          assert.throws(
            () => readOnlyRows(database, ENDLESS, [], { rows: Infinity, bytes: Infinity, ms: 5 }),
            stopped(
              /^the query was stopped after 0\.005 s: .*, or use app\.query\(\), which runs in a separate process$/,
            ),
          );
          // The connection is free: nothing that was stopped keeps a transaction open.
          database.exec("PRAGMA journal_mode=WAL");
          database.exec("BEGIN IMMEDIATE; CREATE TABLE t (x); COMMIT");
          assert.throws(
            () => readOnlyRows(database, ENDLESS, [], { rows: 3, bytes: 1000, ms: 1000 }),
            SqlLimitError,
          );
          database.exec("INSERT INTO t VALUES (1)");
          assert.throws(
            () =>
              readOnlyRows(database, "SELECT x FROM t JOIN (VALUES (1), (2), (3))", [], {
                rows: 1,
                bytes: 1000,
                ms: 1000,
              }),
            SqlLimitError,
          );
          database.exec("INSERT INTO t VALUES (2)");
          assert.equal(database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all([])[0]!["busy"], 0);
        } finally {
          database.close();
        }
      }),
  );
}
