// One writer per store (P6): a second process or engine gets an error that names the holder; a dead
// holder frees it; one that lost it stops.
// takes: 7 s
// promise: P6
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { builtins } from "../../../ts/engine/sqlite/builtins.ts";
import { Fence } from "../../../ts/engine/sqlite/fence.ts";
import { loadLibrary } from "../../../ts/engine/sqlite/libraries.ts";
import { prepare } from "../../../ts/engine/sqlite/open.ts";
import { MIGRATIONS } from "../../../ts/engine/sqlite/schema.ts";
import { SqliteStore } from "../../../ts/engine/sqlite/store.ts";
import { StoreFencedError, StoreLockedError } from "../../../ts/engine/store_errors.ts";
import { openStore } from "../../../ts/engine/short_lived_open.ts";
import { kill, nextLine, startModule } from "./support/child.ts";
import { created } from "./support/records.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

const holder = new URL(
  import.meta.url.endsWith(".js") ? "./support/hold_store.js" : "./support/hold_store.ts",
  import.meta.url,
);
const present = sqliteDrivers.filter(({ skip }) => skip === false).map(({ driver }) => driver);

for (const { driver, skip } of sqliteDrivers) {
  const check = (name: string, body: (path: string, folder: string) => void | Promise<void>) =>
    test(
      `${driver}: ${name}`,
      { skip },
      () => inFolder((folder) => body(join(folder, "store.db"), folder)),
    );
  const open = (path: string) => SqliteStore.open(path, { driver });

  check(
    "a second engine in the same process is rejected, whatever its driver and the spelling of the path",
    (path, folder) => {
      const store = open(path);
      symlinkSync(folder, `${folder}-link`);
      try {
        for (const other of present) {
          for (const name of [path, join(`${folder}-link`, "store.db")]) {
            assert.throws(
              () => SqliteStore.open(name, { driver: other }),
              (e: Error) => e instanceof StoreLockedError && e.holder?.pid === process.pid,
            );
          }
        }
        store.commit([created("wf", "r", 1)]);
      } finally {
        store.close();
        rmSync(`${folder}-link`);
      }
      const again = open(path);
      assert.ok(again.load("wf"));
      again.close();
      assert.equal(existsSync(`${path}-owner`), false);
    },
  );

  for (const other of present) {
    check(`a process with ${other} holds it until it is killed`, async (path) => {
      open(path).close();
      const child = startModule(holder, [path, other]);
      try {
        const line = await nextLine(child);
        assert.match(line, /^open \d+$/);
        const started = Date.now();
        assert.throws(() => open(path), (e: Error) => {
          assert.ok(e instanceof StoreLockedError, String(e));
          assert.equal(e.holder?.pid, Number(line.slice(5)));
          assert.equal(e.holder?.driver, other);
          assert.ok(Math.abs(e.holder!.openedMs - started) < 60_000);
          assert.ok(
            e.message.includes(String(e.holder!.pid)) &&
              /A store can be open in one process/.test(e.message),
            e.message,
          );
          return true;
        });
      } finally {
        await kill(child);
      }
      const store = open(path);
      store.commit([created("wf", "r", 1)]);
      store.close();
    });
  }

  check("a child process is rejected while this process has the store open", async (path) => {
    const store = open(path);
    const child = startModule(holder, [path, driver]);
    try {
      assert.match(
        await nextLine(child),
        new RegExp(`^StoreLockedError: .*process ${process.pid}`),
      );
    } finally {
      await kill(child);
      store.close();
    }
  });

  check(
    "a holder whose store was deleted gets an error that names the deletion, not another engine",
    (path) => {
      const store = open(path);
      for (const suffix of ["", "-wal", "-shm", "-owner"]) {
        rmSync(`${path}${suffix}`, { force: true });
      }
      assert.throws(
        () => store.commit([created("wf", "r", 1)]),
        (e: Error) =>
          e instanceof StoreFencedError && /was removed while it was open/.test(e.message) &&
          !/another engine/.test(e.message),
      );
      store.close();
    },
  );

  check(
    "a holder whose lock file was replaced writes nothing more and does not change the new owner's lock file",
    (path) => {
      const store = open(path);
      const note = JSON.parse(readFileSync(`${path}-owner`, "utf8"));
      rmSync(`${path}-owner`);
      writeFileSync(`${path}-owner`, JSON.stringify({ ...note, token: "another" }));
      assert.throws(
        () => store.commit([created("wf", "r", 1)]),
        (e: Error) => e instanceof StoreFencedError && /owned by another engine/.test(e.message),
      );
      assert.throws(() => store.commit([]), StoreFencedError);
      store.close();
      assert.equal(JSON.parse(readFileSync(`${path}-owner`, "utf8")).token, "another");
    },
  );

  check(
    "an engine whose file was opened by another one stops writing, even before its fence notices",
    (path) => {
      const database = loadLibrary(builtins()!, driver).open(path);
      prepare(database, path, "NORMAL", MIGRATIONS);
      const fence = { check() {}, held: () => true, release() {} };
      const backup = () => {};
      const store = SqliteStore.over({
        library: driver,
        path,
        database,
        fence,
        synchronous: "NORMAL",
        readOnly: false,
        backup,
      });
      store.commit([created("wf", "r", 1, { closeTimeMs: 2_000, status: 2 })]);
      // As another engine does when it opens the file.
      database.exec("UPDATE store SET epoch = epoch + 1");
      const refused = (e: Error) =>
        e instanceof StoreFencedError && /was opened by another engine/.test(e.message);
      assert.throws(() => store.commit([created("wf", "s", 1)]), refused);
      assert.throws(() => store.purge({ closedBefore: 1e12 }), refused);
      assert.throws(
        () => store.adopt([created("wf", "t", 1, { closeTimeMs: 2_000, status: 2 })]),
        refused,
      );
      assert.deepEqual(
        store.list({ orderBy: "StartTime", descending: false }, 10).rows.map((row) => row.runId),
        ["r"],
      );
      store.close();
    },
  );

  check(
    "only the holder of the fence copies the log into the file at close; a reader does not",
    (path) => {
      for (const [holds, readOnly] of [[true, false], [false, false], [true, true]] as const) {
        const opened = loadLibrary(builtins()!, driver).open(path);
        prepare(opened, path, "NORMAL", MIGRATIONS);
        const prepared: string[] = [];
        const database = {
          exec: (text: string) => opened.exec(text),
          prepare: (text: string) => (prepared.push(text), opened.prepare(text)),
          close: () => opened.close(),
        };
        const fence = { check() {}, held: () => holds, release() {} };
        SqliteStore.over({
          library: driver,
          path,
          database,
          fence,
          synchronous: "NORMAL",
          readOnly,
          backup() {},
        }).close();
        assert.equal(prepared.includes("PRAGMA wal_checkpoint(TRUNCATE)"), holds && !readOnly);
      }
    },
  );

  check("the note of a killed process does not block, even if its process id is reused", (path) => {
    const store = open(path);
    const note = JSON.parse(readFileSync(`${path}-owner`, "utf8"));
    store.close();
    // Where the start of a process can be known, ours is not the one that wrote this.
    const exact = note.started !== "";
    writeFileSync(
      `${path}-owner`,
      JSON.stringify({ ...note, token: "old", started: "1", nativeLocks: false }),
    );
    if (exact) open(path).close();
    else assert.throws(() => open(path), StoreLockedError);
  });

  check("a note whose process cannot be checked counts as alive without other evidence", (path) => {
    const store = open(path);
    const note = JSON.parse(readFileSync(`${path}-owner`, "utf8"));
    store.close();
    const foreign = {
      ...note,
      token: "far",
      place: "another machine",
      host: "far",
      pid: 1,
      nativeLocks: false,
    };
    writeFileSync(`${path}-owner`, JSON.stringify(foreign));
    assert.throws(
      () => open(path),
      (e: Error) =>
        e instanceof StoreLockedError && /on far/.test(e.message) &&
        e.message.includes(`remove ${path}-owner`),
    );
    rmSync(`${path}-owner`);
    open(path).close();
  });

  check("a takeover by a killed process does not block: its process is gone", (path, folder) => {
    const store = open(path);
    const note = JSON.parse(readFileSync(`${path}-owner`, "utf8"));
    store.close();
    mkdirSync(`${path}-takeover`);
    const child = spawnSync(process.execPath, ["--version"], { stdio: "ignore" });
    writeFileSync(
      `${path}-takeover/owner`,
      JSON.stringify({ ...note, token: "killed", pid: child.pid, started: "1" }),
    );
    open(path).close();
    assert.deepEqual(readdirSync(folder).filter((name) => /takeover|owner/.test(name)), []);
  });

  check("an opening waits for the takeover of a live process and names it", (path) => {
    const store = open(path);
    const note = readFileSync(`${path}-owner`, "utf8");
    store.close();
    mkdirSync(`${path}-takeover`);
    writeFileSync(`${path}-takeover/owner`, note);
    assert.throws(
      () => open(path),
      (e: Error) =>
        e instanceof StoreLockedError && e.holder?.pid === process.pid && e.holder.visit &&
        /at this moment/.test(e.message),
    );
    assert.equal(readFileSync(`${path}-takeover/owner`, "utf8"), note);
  });

  for (const call of ["renameSync", "statSync"] as const) {
    check(
      `a takeover that ends while another process inspects it (${call}) blocks no process`,
      (path) => {
        open(path).close();
        const found = builtins()!;
        const mutex = `${path}-takeover`;
        mkdirSync(mutex);
        // Old enough to be put away, but for the call at which it goes.
        const old = new Date(Date.now() - 60_000);
        utimesSync(mutex, old, old);
        let went = 0;
        const real = found.fs[call] as (...args: unknown[]) => unknown;
        const fs = {
          ...found.fs,
          [call](...args: unknown[]) {
            if (args[0] === mutex && went++ === 0) rmSync(mutex, { recursive: true });
            return real.apply(found.fs, args);
          },
        };
        const fence = new Fence({ ...found, fs }, loadLibrary(found, driver), path);
        assert.equal(went > 0, true);
        assert.equal(fence.held(), true);
        fence.release();
      },
    );
  }

  check(
    "a rejected opening keeps the lock file, because another process may wait for it",
    (path) => {
      if (driver === "node-sqlite3-wasm") return;
      const store = open(path);
      const note = readFileSync(`${path}-owner`, "utf8");
      store.close();
      rmSync(`${path}-fence`);
      mkdirSync(`${path}-takeover`);
      writeFileSync(`${path}-takeover/owner`, note);
      assert.throws(() => open(path), StoreLockedError);
      assert.equal(existsSync(`${path}-fence`), true);
    },
  );

  if (driver === present[0]) {
    check("an opening waits for a brief visitor of several seconds", async (path) => {
      const store = open(path);
      const note = readFileSync(`${path}-owner`, "utf8");
      store.close();
      mkdirSync(`${path}-takeover`);
      writeFileSync(`${path}-takeover/owner`, note);
      const timer = setTimeout(() => rmSync(`${path}-takeover`, { recursive: true }), 3_000);
      try {
        (await openStore(path, { driver })).close();
      } finally {
        clearTimeout(timer);
      }
    });
  }

  check("a takeover in which every process dies fails, and no process keeps waiting", (path) => {
    open(path).close();
    const found = builtins()!;
    const mutex = `${path}-takeover`;
    const old = new Date(Date.now() - 60_000);
    let tries = 0;
    const fs = {
      ...found.fs,
      mkdirSync(name: string, options?: { mode?: number }) {
        if (name === mutex && ++tries > 20) throw new Error("it tries for ever");
        if (name === mutex && !existsSync(mutex)) {
          mkdirSync(mutex);
          utimesSync(mutex, old, old);
        }
        return found.fs.mkdirSync(name, options);
      },
    };
    assert.throws(
      () => new Fence({ ...found, fs }, loadLibrary(found, driver), path),
      (e: Error) => e instanceof StoreLockedError && /at this moment/.test(e.message),
    );
    assert.equal(tries, 2);
  });

  check(
    "a takeover that was killed before it wrote its name does not block an engine that waits",
    async (path) => {
      open(path).close();
      mkdirSync(`${path}-takeover`);
      (await openStore(path, { driver })).close();
    },
  );

  check("an interrupted takeover does not block forever", (path) => {
    open(path).close();
    mkdirSync(`${path}-takeover`);
    assert.throws(
      () => open(path),
      (e: Error) => e instanceof StoreLockedError && /at this moment/.test(e.message),
    );
    const old = new Date(Date.now() - 60_000);
    utimesSync(`${path}-takeover`, old, old);
    open(path).close();
    assert.equal(existsSync(`${path}-takeover`), false);
  });
}
