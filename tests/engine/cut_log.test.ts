// A log that another program cuts, removes or replaces: while the store is open nothing more is acknowledged, and each caller gets the reason; between two
// openings the valid beginning counts, which is a moment of the past and sound.
import assert from "node:assert/strict";
import { copyFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client, silentLogger } from "../../ts/client/mod.ts";
import { EmbeddedEngine, StoreCorruptError } from "../../ts/engine/mod.ts";
import { builtins } from "../../ts/engine/sqlite/builtins.ts";
import { loadLibrary } from "../../ts/engine/sqlite/libraries.ts";
import { SqliteStore } from "../../ts/engine/sqlite/store.ts";
import { ServiceError } from "../../ts/service/raw.ts";
import { created } from "./support/records.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

const RUNS = 30;
const DAMAGE: readonly (readonly [what: string, how: (log: string, size: number) => void, says: RegExp])[] = [
  ["emptied", (log) => truncateSync(log, 0), /-wal was cut from \d+ to 0 bytes/],
  ["cut to its header", (log) => truncateSync(log, 32), /-wal was cut from \d+ to 32 bytes/],
  ["cut in the middle of a page", (log, size) => truncateSync(log, Math.floor(size / 2)), /-wal was cut from \d+ to \d+ bytes/],
  ["cut by its last page", (log, size) => truncateSync(log, size - 4120), /-wal was cut from \d+ to \d+ bytes/],
  ["removed", (log) => rmSync(log), /-wal was removed/],
  ["replaced", (log, size) => (rmSync(log), writeFileSync(log, new Uint8Array(size / 2))), /-wal was (?:replaced|cut)/],
];

for (const { driver, skip } of sqliteDrivers) {
  const check = (name: string, body: (path: string, folder: string) => void | Promise<void>) =>
    test(`${driver}: ${name}`, { skip }, () => inFolder((folder) => body(join(folder, "store.db"), folder)));

  for (const [what, how, says] of DAMAGE) {
    check(`the log of an open store is ${what}: the engine stops and says why, and acknowledges nothing`, async (path) => {
      const errors: Error[] = [];
      const engine = await EmbeddedEngine.open({ path, driver, onError: (e) => errors.push(e), limits: { cachedRuns: 2 } });
      const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
      const start = (id: string) => client.start("W", { id, args: ["x".repeat(10_000)], timeout: "5s" });
      for (let i = 0; i < RUNS; i++) await start(`w${i}`);
      how(`${path}-wal`, statSync(`${path}-wal`).size);
      for (const id of ["next", "after that"]) {
        await assert.rejects(start(id), (e: Error) => {
          assert.ok(e instanceof ServiceError, String(e));
          assert.match(e.message, says);
          assert.match(e.message, /by another program while the store was open: changes that were acknowledged may be gone/);
          assert.match(e.message, /temporalex store check, or restore a backup/);
          return true;
        });
      }
      assert.ok(errors.length === 1 && errors[0] instanceof StoreCorruptError, errors.join());
      await engine.close();
    });
  }

  check("the log of a store that is only closed afterwards is damage all the same, and said once", (path) => {
    const store = SqliteStore.open(path, { driver });
    for (let i = 0; i < 5; i++) store.commit([created(`w${i}`, `r${i}`, 1)]);
    truncateSync(`${path}-wal`, 32);
    assert.throws(
      () => store.close(),
      (e) => e instanceof StoreCorruptError && /-wal was cut from \d+ to 32 bytes/.test(e.message),
    );
    store.close();
  });

  check("a log that another program has put into the file is no damage", (path) => {
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
  });

  check("a log that was cut between two openings counts as far as it is valid", (path, folder) => {
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
      for (let i = 0; i < RUNS; i++) assert.equal(again.load(`w${i}`) !== undefined, i < count, `w${i} of ${count}`);
      if (step === 12) assert.equal(count, RUNS);
      again.commit([created("new", "new", 1)]);
      again.close();
    }
    store.close();
  });
}
