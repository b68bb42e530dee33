// A log that another program cuts, removes or replaces: while the store is open nothing more is
// acknowledged, and each caller gets the reason; between two openings the valid beginning counts,
// which is a moment of the past and sound.
// takes: 6 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { EmbeddedEngine, StoreCorruptError } from "../../../ts/engine/mod.ts";
import { builtins } from "../../../ts/engine/sqlite/builtins.ts";
import { loadLibrary } from "../../../ts/engine/sqlite/libraries.ts";
import { openFile } from "../../../ts/engine/sqlite/open.ts";
import { SqliteStore } from "../../../ts/engine/sqlite/store.ts";
import { ServiceError } from "../../../ts/service/raw.ts";
import { seeded } from "../../faults/chaos/proxy.ts";
import { cutLoop } from "../../faults/crash/log_cuts.ts";
import { created } from "./support/records.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

const RUNS = 30;
const DAMAGE:
  readonly (readonly [what: string, how: (log: string, size: number) => void, says: RegExp])[] = [
    ["emptied", (log) => truncateSync(log, 0), /-wal was cut from \d+ to 0 bytes/],
    ["cut to its header", (log) => truncateSync(log, 32), /-wal was cut from \d+ to 32 bytes/],
    [
      "cut in the middle of a page",
      (log, size) => truncateSync(log, Math.floor(size / 2)),
      /-wal was cut from \d+ to \d+ bytes/,
    ],
    [
      "cut by its last page",
      (log, size) => truncateSync(log, size - 4120),
      /-wal was cut from \d+ to \d+ bytes/,
    ],
    ["removed", (log) => rmSync(log), /-wal was removed/],
    [
      "replaced",
      (log, size) => (rmSync(log), writeFileSync(log, new Uint8Array(size / 2))),
      /-wal was (?:replaced|cut)/,
    ],
  ];

for (const { driver, skip } of sqliteDrivers) {
  const check = (name: string, body: (path: string, folder: string) => void | Promise<void>) =>
    test(
      `${driver}: ${name}`,
      { skip },
      () => inFolder((folder) => body(join(folder, "store.db"), folder)),
    );

  for (const [what, how, says] of DAMAGE) {
    check(
      `the log of an open store is ${what}: the engine stops and says why, and acknowledges nothing`,
      async (path) => {
        const errors: Error[] = [];
        const engine = await EmbeddedEngine.open({
          path,
          driver,
          onError: (e) => errors.push(e),
          limits: { cachedRuns: 2 },
        });
        const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
        const start = (id: string) =>
          client.start("W", { id, args: ["x".repeat(10_000)], timeout: "5s" });
        for (let i = 0; i < RUNS; i++) await start(`w${i}`);
        how(`${path}-wal`, statSync(`${path}-wal`).size);
        for (const id of ["next", "after that"]) {
          await assert.rejects(start(id), (e: Error) => {
            assert.ok(e instanceof ServiceError, String(e));
            assert.match(e.message, says);
            assert.match(
              e.message,
              /by another program while the store was open: acknowledged changes may be lost/,
            );
            assert.match(e.message, /temporalex store check, or restore a backup/);
            return true;
          });
        }
        assert.ok(errors.length === 1 && errors[0] instanceof StoreCorruptError, errors.join());
        await engine.close();
      },
    );
  }

  const changeByte = (path: string, fromEnd: number) => {
    const bytes = readFileSync(`${path}-wal`);
    bytes[bytes.length - fromEnd]! ^= 1;
    writeFileSync(`${path}-wal`, bytes);
  };
  const MIDST:
    readonly (readonly [what: string, how: (path: string) => void, when: "before" | "after"])[] = [
      ["the log is emptied", (path) => truncateSync(`${path}-wal`, 0), "before"],
      ["the log is cut to its header", (path) => truncateSync(`${path}-wal`, 32), "before"],
      [
        "the log is cut in the middle",
        (path) => truncateSync(`${path}-wal`, Math.floor(statSync(`${path}-wal`).size / 2)),
        "before",
      ],
      [
        "the log's last byte is gone",
        (path) => truncateSync(`${path}-wal`, statSync(`${path}-wal`).size - 1),
        "before",
      ],
      ["a byte of the log's last page is changed", (path) => changeByte(path, 100), "before"],
      // A hole in the frames of this commit alone: what was read back before it is whole.
      [
        "a byte of the commit's first page is changed",
        (path) => changeByte(path, 2 * 4120 - 100),
        "after",
      ],
    ];
  for (const [what, how, when] of MIDST) {
    check(
      `${what} ${
        when === "before"
          ? "between the check before a commit and its COMMIT"
          : "right after its COMMIT"
      }: ` +
        "the commit fails, and what is left is sound",
      (path, folder) => {
        const file = openFile(path, { driver });
        let cut = false;
        const { database } = file;
        const store = SqliteStore.over({
          ...file,
          database: {
            exec: (sql) => database.exec(sql),
            close: () => database.close(),
            prepare(sql) {
              const statement = database.prepare(sql);
              const run = (params: Parameters<typeof statement.run>[0]) => {
                const isCommit = cut && sql === "COMMIT";
                if (isCommit && when === "before") how(path);
                const result = statement.run(params);
                if (isCommit && when === "after") how(path);
                return result;
              };
              return {
                run,
                get: (params) => statement.get(params),
                all: (params) => statement.all(params),
              };
            },
          },
        });
        for (let i = 0; i < 5; i++) store.commit([created(`w${i}`, `r${i}`, 40)]);
        cut = true;
        assert.throws(
          () => store.commit([created("late", "late", 40)]),
          (e) =>
            e instanceof StoreCorruptError &&
            /-wal was cut (?:from \d+ to \d+|or overwritten within its \d+) bytes/.test(e.message),
        );
        cut = false;
        store.close();
        for (const end of ["", "-wal"]) {
          if (existsSync(`${path}${end}`)) {
            copyFileSync(`${path}${end}`, join(folder, `left${end}`));
          }
        }
        const left = SqliteStore.open(join(folder, "left"), { driver });
        assert.deepEqual(left.check(), []);
        const count = left.count();
        assert.ok(when === "before" ? count <= 6 : count === 5, String(count));
        for (let i = 0; i < 5; i++) {
          assert.equal(left.load(`w${i}`) !== undefined, i < count, `w${i} of ${count}`);
        }
        left.close();
      },
    );
  }

  check(
    "another process truncates the log during commits: at most one more is acknowledged, and the rest is sound",
    async (_, folder) => {
      const { problems, noticed, harmless } = await cutLoop({
        folder,
        driver,
        rounds: 5,
        what: "log",
        random: seeded(5),
      });
      assert.deepEqual(problems, []);
      assert.equal(noticed + harmless, 5);
    },
  );

  check(
    "another process truncates the file during commits: the engine stops with an error",
    async (path, folder) => {
      const { problems, noticed } = await cutLoop({
        folder,
        driver,
        rounds: 3,
        what: "file",
        random: seeded(6),
      });
      assert.deepEqual(problems, []);
      assert.equal(noticed, 3);
      const store = SqliteStore.open(path, { driver });
      store.commit([created("w", "r", 1)]);
      truncateSync(path, 8192);
      assert.throws(
        () => store.commit([created("w2", "r2", 1)]),
        (e) =>
          e instanceof StoreCorruptError &&
          /was cut from \d+ to 8192 bytes by another program/.test(e.message),
      );
      store.close();
    },
  );

  check("checkpointing and restarting a long log is not reported as damage", (path) => {
    const store = SqliteStore.open(path, { driver, synchronous: "NORMAL" });
    const before = statSync(path).size;
    const big = created("big", "big", 1);
    store.commit([{
      ...big,
      append: [{ ...big.append[0]!, events: new Uint8Array(4200 * 4096) }],
    }]);
    assert.ok(statSync(path).size > before + 4000 * 4096, "the first long log is in the file");
    for (let i = 0; i < 5; i++) store.commit([created(`w${i}`, `r${i}`, 40)]);
    assert.ok(statSync(`${path}-wal`).size >= 4000 * 4096);
    assert.deepEqual(store.check(), []);
    store.close();
    const again = SqliteStore.open(path, { driver });
    assert.equal(again.count(), 6);
    again.close();
  });

  check(
    "a truncated log of a store that is only closed afterwards is reported as damage once",
    (path) => {
      const store = SqliteStore.open(path, { driver });
      for (let i = 0; i < 5; i++) store.commit([created(`w${i}`, `r${i}`, 1)]);
      truncateSync(`${path}-wal`, 32);
      assert.throws(
        () => store.close(),
        (e) =>
          e instanceof StoreCorruptError && /-wal was cut from \d+ to 32 bytes/.test(e.message),
      );
      store.close();
    },
  );

  check(
    "a log that another program checkpointed into the file is not reported as damage",
    (path) => {
      if (driver === "node-sqlite3-wasm") return;
      const store = SqliteStore.open(path, { driver });
      for (let i = 0; i < 5; i++) store.commit([created(`w${i}`, `r${i}`, 1)]);
      const other = loadLibrary(builtins()!, driver).open(path);
      other.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all([]);
      assert.equal(statSync(`${path}-wal`).size, 0);
      other.close();
      store.commit([created("w5", "r5", 1)]);
      store.commit([created("w6", "r6", 1)]);
      assert.equal(store.count(), 7);
      store.close();
    },
  );

  check("a log truncated between two openings is used up to its valid end", (path, folder) => {
    const store = SqliteStore.open(path, { driver });
    for (let i = 0; i < RUNS; i++) store.commit([created(`w${i}`, `r${i}`, 2)]);
    const size = statSync(`${path}-wal`).size;
    // The files as a process leaves them that is killed here.
    for (let step = 0; step <= 12; step++) {
      const image = join(folder, `cut${step}.db`);
      copyFileSync(path, image);
      copyFileSync(`${path}-wal`, `${image}-wal`);
      const length = Math.floor(size * step / 12);
      truncateSync(`${image}-wal`, length);
      const again = SqliteStore.open(image, { driver });
      const count = again.count();
      assert.deepEqual(again.check(), [], `${length} of ${size} bytes`);
      for (let i = 0; i < RUNS; i++) {
        assert.equal(again.load(`w${i}`) !== undefined, i < count, `w${i} of ${count}`);
      }
      if (step === 12) assert.equal(count, RUNS);
      again.commit([created("new", "new", 1)]);
      again.close();
    }
    store.close();
  });
}
