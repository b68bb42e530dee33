// What a store file may meet: another program's file, a newer version, damage, a crash during
// creation, an older version.
import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { builtins } from "../../../ts/engine/sqlite/builtins.ts";
import type { DriverName } from "../../../ts/engine/sqlite/driver.ts";
import { loadLibrary } from "../../../ts/engine/sqlite/libraries.ts";
import { StoreReader } from "../../../ts/engine/sqlite/reader.ts";
import type { RunWrite } from "../../../ts/engine/store.ts";
import { APPLICATION_ID, MIGRATIONS, schemaVersion } from "../../../ts/engine/sqlite/schema.ts";
import { SqliteStore } from "../../../ts/engine/sqlite/store.ts";
import {
  NotAStoreError,
  StoreCorruptError,
  StoreError,
  StoreFencedError,
  StoreVersionError,
} from "../../../ts/engine/store_errors.ts";
import { parseQuery } from "../../../ts/engine/visibility/parse.ts";
import { attributes, batch, created, eventIds, row, write } from "./support/records.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

for (const { driver, skip } of sqliteDrivers) {
  const check = (name: string, body: (path: string, folder: string) => void) =>
    test(
      `${driver}: ${name}`,
      { skip },
      () => inFolder((folder) => body(join(folder, "store.db"), folder)),
    );
  const open = (path: string) => SqliteStore.open(path, { driver: driver as DriverName });
  const library = () => loadLibrary(builtins()!, driver);

  check("a file of another program is rejected and unchanged", (path, folder) => {
    writeFileSync(path, "this is a letter, and no database at all");
    assert.throws(() => open(path), NotAStoreError);
    assert.equal(readFileSync(path, "utf8"), "this is a letter, and no database at all");
    assert.deepEqual(readdirSync(folder), ["store.db"]);
  });

  check("a SQLite database of another program is rejected and unchanged", (path, folder) => {
    const other = library().open(path);
    other.exec("CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('bread')");
    other.close();
    const before = readFileSync(path);
    const files = readdirSync(folder);
    assert.throws(
      () => open(path),
      (e: Error) =>
        e instanceof NotAStoreError && /another program/.test(e.message) &&
        e.message.includes(path),
    );
    assert.deepEqual(readFileSync(path), before);
    assert.deepEqual(readdirSync(folder), files);
  });

  check(
    "an invalid `synchronous` value that SQLite would read as NORMAL is rejected, and no file is created",
    (path, folder) => {
      for (const synchronous of ["FUL", "normal", "", 2] as unknown as "FULL"[]) {
        const message = `synchronous must be "FULL" or "NORMAL", not ${
          JSON.stringify(synchronous)
        }`;
        assert.throws(() => SqliteStore.open(path, { driver: driver as DriverName, synchronous }), {
          name: "TypeError",
          message,
        });
      }
      assert.deepEqual(readdirSync(folder), []);
    },
  );

  check("an empty blob that was read is written back as an empty blob", (path) => {
    const database = library().open(path);
    database.exec("CREATE TABLE blobs (value BLOB NOT NULL); INSERT INTO blobs VALUES (x'')");
    const { value } = database.prepare("SELECT value FROM blobs").get([])!;
    database.prepare("INSERT INTO blobs VALUES (?)").run([value!]);
    const [{ kinds }] = database.prepare("SELECT group_concat(typeof(value)) AS kinds FROM blobs")
      .all([]) as [{ kinds: string }];
    assert.equal(kinds, "blob,blob");
    database.close();
  });

  check(
    "a library opens a store with its log, and a new store with a journal file that is kept with its mode",
    (path, folder) => {
      open(path).close();
      const modeOf = (at: string) => {
        const database = library().open(at);
        const { journal_mode } = database.prepare("PRAGMA journal_mode").get([])!;
        database.close();
        return journal_mode;
      };
      assert.equal(modeOf(path), "wal");
      if (driver === "node-sqlite3-wasm") assert.equal(modeOf(join(folder, "new.db")), "truncate");
    },
  );

  check("a folder is rejected as a store, and the error names a missing folder", (path, folder) => {
    mkdirSync(path);
    assert.throws(() => open(path), NotAStoreError);
    assert.throws(() => open(join(folder, "missing", "store.db")), {
      name: "StoreError",
      message: /folder .*missing does not exist/,
    });
  });

  check("an empty file becomes a store", (path) => {
    writeFileSync(path, "");
    const store = open(path);
    store.commit([created("wf", "r")]);
    store.close();
    assert.ok(statSync(path).size > 0);
  });

  check(
    "a store whose creation was killed in the middle is an empty file to readers, and the next opening makes it",
    (path, folder) => {
      // What is on disk in that moment: some pages of the transaction, or all of them, and the
      // journal that takes them back.
      const from = join(folder, "making.db");
      const making = library().open(from);
      making.exec(
        "PRAGMA cache_size=2; BEGIN; CREATE TABLE runs (head BLOB); INSERT INTO runs VALUES (zeroblob(200000))",
      );
      const states = [path, `${path}2`, `${path}3`];
      for (const state of states) copyFileSync(`${from}-journal`, `${state}-journal`);
      copyFileSync(from, path);
      making.exec(`PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=1; COMMIT`);
      making.close();
      for (const state of states.slice(1)) copyFileSync(from, state);
      const empty = (e: Error) =>
        e instanceof StoreError && /empty/.test(e.message) && !/another program/.test(e.message);
      for (const state of states.slice(0, 2)) {
        assert.throws(() => StoreReader.open(state, { driver }), empty);
      }
      assert.throws(() => SqliteStore.open(states[2]!, { driver, readOnly: true }), empty);
      for (const unmade of states) {
        const store = open(unmade);
        store.commit([created("wf", "r")]);
        store.close();
      }
    },
  );

  check(
    "an interrupted change of another kind is rolled back, or reported if the library cannot roll back",
    (path, folder) => {
      const from = join(folder, "changing.db");
      const changing = library().open(from);
      changing.exec("CREATE TABLE before (text TEXT)");
      changing.exec(
        "PRAGMA cache_size=2; BEGIN; CREATE TABLE runs (head BLOB); INSERT INTO runs VALUES (zeroblob(200000))",
      );
      copyFileSync(`${from}-journal`, `${path}-journal`);
      changing.exec(`PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=1; COMMIT`);
      changing.close();
      copyFileSync(from, path);
      assert.throws(
        () => open(path),
        driver === "node-sqlite3-wasm" ? /interrupted.*cannot roll it back/ : /another program/,
      );
    },
  );

  check("a file that is written without a log and closed leaves no journal", (path) => {
    const file = library().open(path);
    file.exec("CREATE TABLE before (text TEXT)");
    file.close();
    assert.equal(existsSync(`${path}-journal`), false);
  });

  check("a file of one byte is rejected and unchanged", (path) => {
    writeFileSync(path, "x");
    assert.throws(
      () => open(path),
      (e: Error) => e instanceof StoreError && e.message.includes(path),
    );
    assert.equal(readFileSync(path, "utf8"), "x");
  });

  check(
    "an imported open run becomes the latest of its workflow; a batch with one next to an open or later run is rejected as a whole",
    (path) => {
      const store = open(path);
      const closed = (id: string, startTimeMs: number) =>
        created("a", id, 2, { closeTimeMs: startTimeMs + 1000, startTimeMs, status: 2 });
      const opened = (workflow: string, id: string, startTimeMs: number) =>
        created(workflow, id, 2, { startTimeMs });
      const rejects = (writes: RunWrite[], message: string) =>
        assert.throws(() => store.adopt(writes), { name: "StoreError", message });
      store.commit([closed("here", 1_000)]);
      store.adopt([closed("old", 500), opened("a", "moved", 3_000), closed("other", 4_000)]);
      assert.equal(store.load("a")?.row?.runId, "moved");
      rejects(
        [opened("b", "rb", 1_000), opened("a", "second", 5_000)],
        'run moved of workflow "a" in the store is open: a workflow has one open run',
      );
      rejects(
        [opened("b", "rb", 1_000), opened("b", "rb2", 1_000)],
        'run rb of workflow "b" in the store is open: a workflow has one open run',
      );
      assert.equal(store.has("rb"), false);
      store.commit([
        created("c", "late", 2, { closeTimeMs: 9_500, startTimeMs: 9_000, status: 2 }),
      ]);
      rejects(
        [opened("c", "rc", 8_000)],
        'run late of workflow "c" in the store started later: only the latest run of a workflow can be open',
      );
      // What was rejected took no place.
      store.commit([created("d", "new", 2)]);
      assert.equal(store.load("d")?.row?.runId, "new");
      store.close();
    },
  );

  check("a file of a newer version is rejected with both version numbers and unchanged", (path) => {
    open(path).close();
    const raw = library().open(path);
    raw.exec("PRAGMA user_version=999; PRAGMA wal_checkpoint(TRUNCATE)");
    raw.close();
    const before = readFileSync(path);
    assert.throws(
      () => open(path),
      (e: Error) =>
        e instanceof StoreVersionError && e.found === 999 && e.known === schemaVersion() &&
        /newer/.test(e.message),
    );
    assert.deepEqual(readFileSync(path), before);
  });

  check("an older file is migrated in one step or not at all", (path) => {
    const old = open(path);
    old.commit([created("wf", "r", 3)]);
    old.close();
    const second = {
      version: schemaVersion() + 1,
      name: "notes",
      sql: "CREATE TABLE notes (text TEXT) STRICT; INSERT INTO notes VALUES ('migrated')",
    };
    const broken = {
      version: schemaVersion() + 2,
      name: "broken",
      sql: "CREATE TABLE more (a TEXT) STRICT; INSERT INTO nowhere VALUES (1)",
    };
    assert.throws(
      () => SqliteStore.open(path, { driver }, [...MIGRATIONS, second, broken]),
      StoreError,
    );
    const same = open(path);
    assert.equal(same.load("wf")?.row?.historyLength, 3);
    same.close();
    const newer = SqliteStore.open(path, { driver }, [...MIGRATIONS, second]);
    assert.deepEqual(eventIds(newer.historyRange("wf", "r", 1, 3)), [1, 2, 3]);
    newer.close();
    assert.throws(() => open(path), StoreVersionError);
    const raw = library().open(path);
    assert.equal(raw.prepare("SELECT text FROM notes").get([])?.["text"], "migrated");
    assert.deepEqual(
      raw.prepare("SELECT version, name FROM migrations ORDER BY version").all([]).map((r) =>
        `${r["version"]} ${r["name"]}`
      ),
      [...MIGRATIONS, second].map((each) => `${each.version} ${each.name}`),
    );
    raw.close();
  });

  check("a file of the first version is migrated, and its search attributes are found", (path) => {
    const first = library().open(path);
    first.exec(
      `${MIGRATIONS[0]!.sql}; PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=1`,
    );
    const insert = first.prepare(
      `INSERT INTO runs VALUES (?, ?, ?, 'Type', 'queue', ?, 1, 1, NULL, 0, 0, 0, 0, 0, '', x'', ?, x'')`,
    );
    // More than are read at once.
    for (let i = -5; i < 1000; i++) {
      const found = i % 100 === 0
        ? { Region: "north", Tags: ["red", `n${i}`] }
        : i % 2 === 0
        ? { Region: "south" }
        : {};
      insert.run([i, `w${i}`, `r${i}`, `r${i}`, attributes(found)]);
    }
    first.close();
    const migrated = open(path);
    const count = (query: string) => migrated.count(parseQuery(query).where);
    assert.deepEqual(
      ["Region = 'north'", "Region = 'south'", "Region IS NULL", "Tags = 'n300'"].map(count),
      [10, 492, 503, 1],
    );
    assert.deepEqual(migrated.check(), []);
    migrated.close();
  });

  check("a truncated file is rejected with its path", (path) => {
    const store = open(path);
    store.commit(Array.from({ length: 50 }, (_, i) => created(`w${i}`, `r${i}`, 20)));
    store.close();
    truncateSync(path, Math.floor(statSync(path).size / 2 / 4096) * 4096);
    assert.throws(
      () => open(path),
      (e: Error) => e instanceof StoreCorruptError && /is truncated/.test(e.message),
    );
  });

  check("an emptied file with a remaining log is not treated as new", (path) => {
    open(path).close();
    writeFileSync(path, "");
    writeFileSync(`${path}-wal`, new Uint8Array(4096));
    assert.throws(() => open(path), StoreCorruptError);
  });

  check("damaged pages are detected, and no wrong data is returned", (path) => {
    const store = open(path);
    store.commit(Array.from({ length: 200 }, (_, i) => created(`w${i}`, `r${i}`, 20)));
    store.close();
    const bytes = readFileSync(path);
    // Everything behind the schema page is overwritten, which no reader can miss.
    bytes.fill(0xa5, 4096 * 4);
    writeFileSync(path, bytes);
    let problem: unknown;
    try {
      const damaged = open(path);
      try {
        assert.ok(damaged.check().length > 0);
        damaged.load("w7", "r7");
        damaged.historyRange("w7", "r7", 1, 20);
      } finally {
        damaged.close();
      }
    } catch (e) {
      problem = e;
    }
    assert.ok(problem instanceof StoreCorruptError, String(problem));
  });

  check("a history with a missing batch is an error, never a silent gap", (path) => {
    const store = open(path);
    store.commit([created("wf", "r", 2)]);
    for (let last = 3; last < 9; last++) {
      store.commit([
        write(row("wf", "r", { historyLength: last }), { append: [batch(last, last)] }),
      ]);
    }
    store.close();
    const raw = library().open(path);
    raw.exec("DELETE FROM history WHERE first_event_id = 5");
    raw.close();
    const damaged = open(path);
    assert.deepEqual(eventIds(damaged.historyRange("wf", "r", 6, 8)), [6, 7, 8]);
    assert.throws(
      () => damaged.historyRange("wf", "r", 4, 8),
      (e: Error) => e instanceof StoreCorruptError && /gap before event 6/.test(e.message),
    );
    assert.equal(damaged.check().length, 2);
    damaged.close();
  });

  check("a backup is a complete store, made while the original is open", (path, folder) => {
    const store = open(path);
    store.commit([created("wf", "r", 5)]);
    const copy = join(folder, "copy.db");
    store.backup(copy);
    store.commit([created("later", "l", 1)]);
    assert.throws(() => store.backup(copy), { name: "StoreError", message: /already exists/ });
    assert.throws(() => store.backup(join(folder, "none", "copy.db")), {
      name: "StoreError",
      message: /folder does not exist/,
    });
    const second = open(copy);
    assert.deepEqual(eventIds(second.historyRange("wf", "r", 1, 5)), [1, 2, 3, 4, 5]);
    assert.equal(second.load("later"), undefined);
    assert.deepEqual(second.check(), []);
    second.commit([created("own", "o", 1)]);
    second.close();
    assert.equal(store.load("own"), undefined);
    store.close();
    assert.deepEqual(readdirSync(folder).filter((name) => name.includes("partial")), []);
  });

  check("a store whose file is removed or replaced stops writing", (path, folder) => {
    const store = open(path);
    store.commit([created("wf", "r", 1)]);
    const aside = join(folder, "aside.db");
    store.backup(aside);
    copyFileSync(aside, join(folder, "fresh.db"));
    builtins()!.fs.renameSync(join(folder, "fresh.db"), path);
    assert.throws(
      () => store.commit([created("lost", "l", 1)]),
      (e: Error) => e instanceof StoreFencedError && /replaced/.test(e.message),
    );
    assert.equal(store.load("lost"), undefined);
    store.close();
  });

  check("an unknown driver and one that is not installed are reported by name", (path) => {
    assert.throws(() => SqliteStore.open(path, { driver: "mysql" as DriverName }), {
      name: "StoreError",
      message: /mysql is not available/,
    });
    assert.equal(existsSync(path), false);
  });
}
