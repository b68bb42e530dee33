// Files next to a store: the engine creates its files accessible to their owner only, and never
// touches files of other programs.
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { StoreReader } from "../../../ts/engine/maintenance/mod.ts";
import { SqliteStore } from "../../../ts/engine/sqlite/store.ts";
import { StoreError } from "../../../ts/engine/store_errors.ts";
import { kill, nextLine, startModule } from "./support/child.ts";
import { created } from "./support/records.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

const watcher = new URL(
  import.meta.url.endsWith(".js") ? "./support/watch_modes.js" : "./support/watch_modes.ts",
  import.meta.url,
);
const windows = process.platform === "win32";

for (const { driver, skip } of sqliteDrivers) {
  const check = (
    name: string,
    body: (path: string, folder: string) => void | Promise<void>,
    noModes: string | false = false,
  ) =>
    test(
      `${driver}: ${name}`,
      { skip: skip || noModes },
      () => inFolder((folder) => body(join(folder, "Cargo"), folder)),
    );
  const open = (path: string) => SqliteStore.open(path, { driver });
  /** Opens a store next to a file of another program, which must still exist afterwards. */
  const refused = (path: string, foreign: string, says: RegExp) => {
    const before = statSync(foreign).isFile()
      ? readFileSync(foreign, "utf8")
      : readdirSync(foreign).join();
    assert.throws(() => open(path), (e: Error) => {
      assert.ok(e instanceof StoreError, String(e));
      assert.match(e.message, says);
      assert.match(
        e.message,
        /blocks the store .*Cargo: .*It was not changed\. Move it, or choose another name/,
      );
      return true;
    });
    assert.equal(
      statSync(foreign).isFile() ? readFileSync(foreign, "utf8") : readdirSync(foreign).join(),
      before,
    );
    assert.equal(existsSync(path), false, "and no store was made");
  };

  check("a foreign file with the name of a lock is not removed", (path) => {
    writeFileSync(`${path}.lock`, "[[package]]");
    if (driver === "node-sqlite3-wasm") {
      return refused(path, `${path}.lock`, /Cargo\.lock blocks the store/);
    }
    open(path).close();
    assert.equal(readFileSync(`${path}.lock`, "utf8"), "[[package]]");
  });

  check("a non-empty folder with the name of a lock is not removed", (path) => {
    mkdirSync(`${path}.lock`);
    writeFileSync(join(`${path}.lock`, "kept"), "");
    if (driver === "node-sqlite3-wasm") {
      return refused(path, `${path}.lock`, /Cargo\.lock blocks the store/);
    }
    open(path).close();
    assert.ok(existsSync(join(`${path}.lock`, "kept")));
  });

  check(
    "the empty folder of a killed node-sqlite3-wasm process is removed only by that library",
    (path) => {
      mkdirSync(`${path}.lock`);
      open(path).close();
      assert.equal(existsSync(`${path}.lock`), driver !== "node-sqlite3-wasm");
    },
  );

  check("foreign files with the names of the fence's notes are not removed", (path) => {
    writeFileSync(`${path}-owner`, "the owner of the cargo");
    refused(path, `${path}-owner`, /Cargo-owner blocks the store/);
  });

  check("a note emptied by a power failure does not block", (path) => {
    for (const text of ["", "\0\0\0"]) {
      writeFileSync(`${path}-owner`, text);
      open(path).close();
    }
  });

  check("a folder with the name of a takeover file is not removed, however old", (path) => {
    mkdirSync(`${path}-takeover`);
    writeFileSync(join(`${path}-takeover`, "plan.txt"), "friendly");
    refused(path, `${path}-takeover`, /Cargo-takeover blocks the store/);
  });

  check("a foreign file with the name of a takeover file is not removed", (path) => {
    writeFileSync(`${path}-takeover`, "hostile");
    refused(path, `${path}-takeover`, /Cargo-takeover blocks the store/);
  });

  check(
    "a backup does not touch files whose names resemble those of its temporary copy",
    (path, folder) => {
      const store = open(path);
      const [partial, lock] = [join(folder, "copy.partial"), join(folder, "copy.partial.lock")];
      writeFileSync(partial, "half a song");
      writeFileSync(lock, "and its lock");
      store.backup(join(folder, "copy"));
      store.close();
      assert.deepEqual([readFileSync(partial, "utf8"), readFileSync(lock, "utf8")], [
        "half a song",
        "and its lock",
      ]);
      StoreReader.open(join(folder, "copy"), { driver }).close();
    },
  );

  check(
    "a link to a file that does not exist yet opens the store at its target",
    (path, folder) => {
      symlinkSync(join(folder, "there"), path);
      open(path).close();
      assert.ok(statSync(join(folder, "there")).size > 0);
      open(join(folder, "there")).close();
    },
  );

  check(
    "whatever the umask, no other user can open a new store, its log, its notes and its copies at any moment",
    async (path, folder) => {
      const umask = process.umask(0);
      const child = startModule(watcher, [folder]);
      try {
        assert.equal(await nextLine(child), "watching");
        for (let i = 0; i < 15; i++) {
          const store = open(`${path}${i}`);
          store.commit([created("wf", "r", 1)]);
          store.backup(join(folder, `copy${i}`));
          for (const name of readdirSync(folder)) {
            // libsql removes the index of an earlier store once its statements are collected.
            const stat = statSync(join(folder, name), { throwIfNoEntry: false });
            if (stat?.isDirectory() === false) assert.equal(stat.mode & 0o777, 0o600, name);
          }
          assert.ok(existsSync(`${path}${i}-wal`), "there is a log to look at");
          store.shrink();
          store.close();
          const again = open(`${path}${i}`);
          again.commit([created("wf2", "r2", 1)]);
          again.close();
          StoreReader.open(`${path}${i}`, { driver }).close();
        }
        const said = nextLine(child);
        child.process.kill("SIGTERM");
        const { looks, open: seen } = JSON.parse(await said);
        assert.deepEqual(seen, []);
        assert.ok(looks > 100, `${looks} looks`);
      } finally {
        process.umask(umask);
        await kill(child);
      }
    },
    windows && "Windows has no file modes",
  );

  check(
    "a umask that takes rights from the owner does not keep the store from being opened",
    (path) => {
      const umask = process.umask(0o777);
      try {
        open(path).close();
        open(path).close();
      } finally {
        process.umask(umask);
      }
      assert.equal(statSync(path).mode & 0o777, 0o600);
    },
    windows && "Windows has no file modes",
  );

  check("a store that is there keeps its mode, and its log has the same", (path) => {
    open(path).close();
    chmodSync(path, 0o640);
    const umask = process.umask(0);
    const store = open(path);
    try {
      store.commit([created("wf", "r", 1)]);
      assert.deepEqual([path, `${path}-wal`].map((file) => statSync(file).mode & 0o777), [
        0o640,
        0o640,
      ]);
    } finally {
      process.umask(umask);
      store.close();
    }
    assert.equal(statSync(path).mode & 0o777, 0o640);
    assert.deepEqual(readdirSync(dirname(path)).filter((name) => /-journal$/.test(name)), []);
  }, windows && "Windows has no file modes");

  test(
    `${driver}: a damaged fence file is named, with what to do, and removing it opens the store`,
    { skip },
    () =>
      inFolder((folder) => {
        const path = join(folder, "store.db");
        SqliteStore.open(path, { driver }).close();
        writeFileSync(
          `${path}-fence`,
          "this is not a database, and longer than nothing".repeat(100),
        );
        if (driver !== "node-sqlite3-wasm") {
          assert.throws(
            () => SqliteStore.open(path, { driver }),
            /store\.db-fence is damaged \(.*\)\. It holds no data of the store: stop every process that has the store open, then remove that file/,
          );
          rmSync(`${path}-fence`);
        }
        SqliteStore.open(path, { driver }).close();
      }),
  );
}
