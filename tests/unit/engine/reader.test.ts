// Reads a store file while its holder writes: every combination of SQLite libraries.
import assert from "node:assert/strict";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SqliteStore, StoreLockedError } from "../../../ts/engine/mod.ts";
import { checkStore, StoreReader } from "../../../ts/engine/maintenance/mod.ts";
import { builtins } from "../../../ts/engine/sqlite/builtins.ts";
import { loadLibrary } from "../../../ts/engine/sqlite/libraries.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

const shares = (driver: string) => driver !== "node-sqlite3-wasm";

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver} closes a file that is not a store`, { skip }, () =>
    inFolder((folder) => {
      const path = join(folder, "a.sqlite");
      SqliteStore.open(path, { driver }).close();
      const library = loadLibrary(builtins()!, driver);
      const newer = library.open(path);
      newer.exec("PRAGMA user_version=0");
      newer.close();
      assert.throws(() => StoreReader.open(path, { driver }), /has schema version 0/);
      // node-sqlite3-wasm keeps everybody out of a file that is open.
      const again = library.open(path);
      again.exec("BEGIN IMMEDIATE");
      again.exec("ROLLBACK");
      again.close();
      assert.equal(existsSync(`${path}.lock`), false);
    }));
}

for (const holder of sqliteDrivers) {
  for (const reader of sqliteDrivers) {
    const name = `${reader.driver} reads what ${holder.driver} holds`;
    test(name, { skip: holder.skip || reader.skip }, () =>
      inFolder(async (folder) => {
        const path = join(folder, "a.sqlite");
        const { driver } = reader;
        const store = SqliteStore.open(path, { driver: holder.driver });
        try {
          if (!shares(holder.driver) || !shares(driver)) {
            assert.throws(
              () => StoreReader.open(path, { driver }),
              (e) => e instanceof StoreLockedError && /does not share files/.test(e.message),
            );
          } else if (driver !== holder.driver) {
            assert.throws(
              () => StoreReader.open(path, { driver }),
              (e) =>
                e instanceof StoreLockedError &&
                /two libraries in one process cannot share a file/.test(e.message),
            );
          } else {
            const open = StoreReader.open(path, { driver });
            assert.deepEqual((await checkStore(open)).problems, []);
            open.close();
          }
        } finally {
          store.close();
        }
        // Free: every library reads it, and leaves nothing behind.
        const free = StoreReader.open(path, { driver });
        assert.deepEqual((await checkStore(free)).problems, []);
        free.backup(join(folder, "copy.sqlite"));
        assert.throws(
          () => free.backup(join(folder, "nowhere", "copy.sqlite")),
          /folder does not exist/,
        );
        free.close();
        assert.ok(!existsSync(`${path}-owner`));
        // libsql lets go of a closed file when its statements are collected.
        assert.equal(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0, 0);
        SqliteStore.open(join(folder, "copy.sqlite"), { driver: holder.driver }).close();
        writeFileSync(join(folder, "empty.sqlite"), "");
        assert.throws(() => StoreReader.open(join(folder, "empty.sqlite"), { driver }), /is empty/);
      }));
  }
}
