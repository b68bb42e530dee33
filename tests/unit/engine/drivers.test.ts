// What the store takes for granted of a SQLite library, on each of them: a statement may be used in
// any order, also after an error, and always has the values of this call; what is made for one use
// gives its memory back; texts with a NUL character end nothing.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { builtins } from "../../../ts/engine/sqlite/builtins.ts";
import type { SqlDatabase, SqlStatement } from "../../../ts/engine/sqlite/driver.ts";
import { loadLibrary } from "../../../ts/engine/sqlite/libraries.ts";
import { openFile } from "../../../ts/engine/sqlite/open.ts";
import { MIGRATIONS } from "../../../ts/engine/sqlite/schema.ts";
import { SqliteStore } from "../../../ts/engine/sqlite/store.ts";
import { parseQuery } from "../../../ts/engine/visibility/parse.ts";
import { attributes, created } from "./support/records.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

type Use = (statement: SqlStatement, value: number) => unknown;
const first = (rows: Iterable<{ readonly [name: string]: unknown }>) => [...rows][0]?.["a"];

const READS: { readonly [name: string]: Use } = {
  get: (statement, value) => statement.get([value])?.["a"],
  all: (statement, value) => first(statement.all([value])),
  iterate: (statement, value) =>
    statement.iterate === undefined ? value : first(statement.iterate([value])),
  "get of no row": (statement, value) => statement.get([1000 + value]) ?? value,
  "all of no row": (statement, value) => statement.all([1000 + value])[0] ?? value,
};
const WRITES: { readonly [name: string]: Use } = {
  run: (statement, value) => statement.run([value]),
  get: (statement, value) => statement.get([value]),
  all: (statement, value) => statement.all([value]),
  "a failed run": (statement, value) => {
    statement.run([value]);
    assert.throws(() => statement.run([value]), /UNIQUE/);
  },
  "a failed get": (statement, value) => {
    statement.get([value]);
    assert.throws(() => statement.get([value]), /UNIQUE/);
  },
  "a failed all": (statement, value) => {
    statement.all([value]);
    assert.throws(() => statement.all([value]), /UNIQUE/);
  },
};

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: a statement uses only the values of the current call`, { skip }, () => {
    const database = loadLibrary(builtins()!, driver).open(":memory:");
    database.exec("CREATE TABLE t (a INTEGER PRIMARY KEY); CREATE TABLE u (a INTEGER PRIMARY KEY)");
    for (let i = 0; i < 50; i++) database.prepare("INSERT INTO t VALUES (?)").run([i]);
    for (const [before, use] of Object.entries(READS)) {
      for (const [after, again] of Object.entries(READS)) {
        const statement = database.prepare("SELECT a FROM t WHERE a >= ? ORDER BY a");
        assert.deepEqual(
          [use(statement, 3), again(statement, 40), use(statement, 7)],
          [3, 40, 7],
          `${before}, then ${after}`,
        );
      }
    }
    let value = 0;
    const written = database.prepare("SELECT count(*) AS n FROM u WHERE a = ?");
    for (const [before, use] of Object.entries(WRITES)) {
      for (const [after, again] of Object.entries(WRITES)) {
        const statement = database.prepare("INSERT INTO u VALUES (?)");
        value += 2;
        use(statement, value);
        again(statement, value + 1);
        assert.deepEqual(
          [value, value + 1].map((each) => written.get([each])?.["n"]),
          [1, 1],
          `${before}, then ${after}`,
        );
      }
    }
    database.close();
  });

  test(`${driver}: single-use statements are closed`, { skip }, () =>
    inFolder((folder) => {
      const file = openFile(join(folder, "store.db"), { driver }, MIGRATIONS);
      let open = 0;
      const { database } = file;
      const counted: SqlDatabase = {
        exec: (sql) => database.exec(sql),
        close: () => database.close(),
        prepare(sql) {
          const statement = database.prepare(sql);
          open++;
          return {
            run: (params) => statement.run(params),
            get: (params) => statement.get(params),
            all: (params) => statement.all(params),
            close: () => {
              open--;
              statement.close?.();
            },
          };
        },
      };
      const store = SqliteStore.over({ ...file, database: counted });
      const where = parseQuery('WorkflowId = "w"').where;
      const use = (i: number) => {
        store.count(where);
        store.list({ ...parseQuery(""), ...(where !== undefined && { where }) }, 10);
        store.subscribers("WorkflowSubscription", ["a", "b"]);
        store.sql("SELECT id FROM workflow WHERE id = ?", ["w"]);
        assert.throws(() => store.sql("SELECT nothing FROM workflow"), /nothing/);
        store.tables.all(`SELECT ${i} AS n`);
      };
      use(0);
      const before = open;
      for (let i = 1; i < 1000; i++) use(i);
      assert.ok(open - before <= 200, `${open - before} statements more are open`);
      store.close();
    }));

  // node-sqlite3-wasm has no locks of the system.
  const noLocks = skip || driver === "node-sqlite3-wasm" && "it has no activities" ||
    process.platform !== "linux" && "they are read from /proc";
  test(
    `${driver}: each opening holds the file lock that other programs respect`,
    { skip: noLocks },
    () =>
      inFolder((folder) => {
        const path = join(folder, "store.db");
        for (let opening = 1; opening <= 3; opening++) {
          const store = SqliteStore.open(path, { driver });
          store.commit([created("w", `r${opening}`)]);
          for (const file of [path, `${path}-shm`]) {
            const inode = `:${statSync(file).ino} `;
            const locks = readFileSync("/proc/locks", "utf8").split("\n").filter((line) =>
              line.includes(inode)
            );
            assert.equal(locks.length, 1, `opening ${opening}: ${file}`);
          }
          store.close();
        }
      }),
  );

  test(
    `${driver}: texts with a NUL character are stored and found`,
    { skip },
    () =>
      inFolder((folder) => {
        const store = SqliteStore.open(join(folder, "store.db"), { driver });
        const searchAttributes = attributes({ Customer: "a\0b" });
        store.commit([created("w", "r", 2, { searchAttributes })]);
        assert.equal(store.count(parseQuery('Customer = "a\0b"').where), 1);
        assert.equal(store.count(parseQuery('Customer = "a"').where), 0);
        store.close();
      }),
  );
}
