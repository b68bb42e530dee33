// A store in SQLite's memory: ends with the process like MemoryStore, but has tables for reducers.
// No other process can reach it, so it has no fence and no log.
import { StoreError } from "../store_errors.ts";
import { backupFile } from "./backup.ts";
import { builtins } from "./builtins.ts";
import type { DriverName } from "./driver.ts";
import { storeError } from "./errors.ts";
import { loadLibrary } from "./libraries.ts";
import { migrate } from "./schema.ts";
import { SqliteStore } from "./store.ts";

/** Opens a store in memory. Throws a StoreError in runtimes without SQLite (browsers). */
export function openInMemory(driver?: DriverName): SqliteStore {
  const found = builtins();
  if (found === undefined) {
    throw new StoreError(
      "reducers and tables in memory need SQLite in Node or Deno, and this runtime has neither",
    );
  }
  const library = loadLibrary(found, driver);
  const path = ":memory:";
  try {
    const database = library.open(path);
    migrate(database);
    return SqliteStore.over({
      library: library.name,
      path,
      database,
      fence: { check: () => {}, held: () => false, release: () => {} },
      synchronous: "NORMAL",
      readOnly: false,
      backup: (to) => backupFile(found, database, to),
    });
  } catch (e) {
    throw storeError(e, "cannot open a store in memory");
  }
}
