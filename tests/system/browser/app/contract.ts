// The checks of every store, on SQLite over the browser's private files, in a worker. Stores with
// different names share one pool; reopening one closes and opens it in SQLite and keeps the pool's
// files. Then a short power-loss loop on this browser's SQLite. Returns the failures.
import { parseQuery } from "../../../../ts/engine/visibility/parse.ts";
import { attributes, created } from "../../../unit/engine/support/records.ts";
import { OpfsDatabase } from "../../../../ts/engine/sqlite/opfs/database.ts";
import { loadSqlite, openPool } from "../../../../ts/engine/sqlite/opfs/pool.ts";
import { prepare } from "../../../../ts/engine/sqlite/open.ts";
import { MIGRATIONS } from "../../../../ts/engine/sqlite/schema.ts";
import { SqliteStore } from "../../../../ts/engine/sqlite/store.ts";
import { PowerLossLoop } from "../../../faults/power/loop.ts";
import { PowerSqlite } from "../../../faults/power/sqlite.ts";
import { runCheck, runClosedCheck, storeChecks } from "../../../suites/store_suite.ts";

globalThis.onmessage = async () => {
  const failures: string[] = [];
  const sqlite = await loadSqlite();
  const pool = await openPool(sqlite, "contract");
  await pool.reserveMinimumCapacity(3 * (storeChecks.length + 1));
  let names = 0;
  const opener = () => {
    const path = `/store-${++names}.db`;
    return () => {
      const database = new OpfsDatabase(sqlite, pool, path);
      prepare(database, path, "FULL", MIGRATIONS);
      const fence = { check() {}, held: () => true, release() {} };
      return SqliteStore.over({
        ...{
          library: "@sqlite.org/sqlite-wasm",
          path,
          database,
          fence,
          synchronous: "FULL",
          readOnly: false,
        },
        backup() {
          throw new Error("not here");
        },
      });
    };
  };
  const attempt = (name: string, run: () => void) => {
    try {
      run();
    } catch (e) {
      failures.push(`${name}: ${(e as Error).stack}`);
    }
  };
  for (const check of storeChecks) attempt(check.name, () => runCheck(check, opener()));
  attempt("a closed store refuses", () => runClosedCheck(opener()));
  attempt("texts with a NUL character are stored and found", () => {
    const store = opener()();
    try {
      store.commit([created("w", "r", 2, { searchAttributes: attributes({ Customer: "a\0b" }) })]);
      const counts = ["a\0b", "a"].map((customer) =>
        store.count(parseQuery(`Customer = "${customer}"`).where)
      );
      if (counts.join() !== "1,0") throw new Error(`found ${counts}`);
    } finally {
      store.close();
    }
  });
  for (const synchronous of ["FULL", "NORMAL"] as const) {
    let state = 1;
    const random = () => (state = (state * 48271) % 0x7fffffff) / 0x7fffffff;
    failures.push(
      ...new PowerLossLoop(await PowerSqlite.load(), { crashes: 15, synchronous, random }).run()
        .problems,
    );
  }
  try {
    await openPool(sqlite, "contract", 200);
    failures.push("files that are in use were opened twice");
  } catch (e) {
    if ((e as Error).name !== "StoreBusyError") {
      failures.push(`files in use: ${(e as Error).stack}`);
    }
  }
  globalThis.postMessage({ checks: storeChecks.length + 4, failures });
};
