// Another program has the store's file locked for writing: the engine waits without blocking its
// thread, nothing is acknowledged before its commit, and after a limit, or at a close, the callers
// get the reason.
import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { CommitRetries, LOCK_WAIT_MS, whenFree } from "../../../ts/engine/commit_retries.ts";
import { EmbeddedEngine, SqliteStore, StoreBusyError } from "../../../ts/engine/mod.ts";
import { openStore } from "../../../ts/engine/short_lived_open.ts";
import { builtins } from "../../../ts/engine/sqlite/builtins.ts";
import { loadLibrary } from "../../../ts/engine/sqlite/libraries.ts";
import { writerOf } from "../../../ts/engine/sqlite/write_lock.ts";
import type { Database } from "../../../ts/engine/tables/database.ts";
import { hop } from "../../../ts/platform/hop.ts";
import { ServiceError } from "../../../ts/service/raw.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { activities, reducers, transact, workflow } from "../../../ts/workflow/mod.ts";
import { ManualTimers } from "../../support/manual_timers.ts";
import { kill, nextLine, startModule } from "./support/child.ts";
import { created } from "./support/records.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

const locker = new URL(
  import.meta.url.endsWith(".js") ? "./support/lock_store.js" : "./support/lock_store.ts",
  import.meta.url,
);
/** Enough for a call to enter, its batch to be closed and the store to be asked. */
const SOME_HOPS = 20;
const someHops = async () => {
  for (let i = 0; i < SOME_HOPS; i++) await hop();
};

for (const { driver, skip } of sqliteDrivers) {
  // Its lock is a folder, which other programs do not know; and no second connection of it can open
  // the file.
  const alone = driver === "node-sqlite3-wasm" && "this library does not share a file";
  const check = (name: string, body: (path: string) => Promise<void>) =>
    test(
      `${driver}: ${name}`,
      { skip: skip || alone },
      () => inFolder((folder) => body(join(folder, "store.db"))),
    );
  const locked = (path: string) => {
    const other = loadLibrary(builtins()!, driver).open(path);
    other.exec("BEGIN IMMEDIATE");
    return {
      release() {
        other.exec("ROLLBACK");
        other.close();
      },
    };
  };
  const opened = async (path: string, onError: (e: Error) => void = () => {}) => {
    const engine = await EmbeddedEngine.open({ path, driver, onError });
    return {
      engine,
      client: new Client({ service: engine, taskQueue: "q", logger: silentLogger }),
    };
  };

  check(
    "calls wait without blocking the event loop, keep their order, and are acknowledged after their commit",
    async (path) => {
      const errors: Error[] = [];
      const { engine, client } = await opened(path, (e) => errors.push(e));
      const handle = await client.start("W", { id: "before", args: [] });
      const lock = locked(path);
      const done: string[] = [];
      const calls: Promise<unknown>[] = [];
      for (let i = 0; i < 5; i++) {
        calls.push(handle.signal("s", i).then(() => done.push(`signal ${i}`)));
        calls.push(
          client.start("W", { id: `w${i}`, args: [] }).then(() => done.push(`start ${i}`)),
        );
        await someHops();
      }
      assert.deepEqual(done, []);
      assert.equal(engine.stats().commits, 1);
      assert.ok(engine.busy);
      lock.release();
      await Promise.all(calls);
      const { events } = await handle.fetchHistory();
      const signals = events.flatMap((e) =>
        e.attributes.case === "workflowExecutionSignaledEventAttributes" ? [e.attributes.value] : []
      );
      assert.deepEqual(signals.map((s) => new TextDecoder().decode(s.input?.payloads[0]?.data)), [
        "0",
        "1",
        "2",
        "3",
        "4",
      ]);
      assert.equal(await client.count(), 6);
      assert.deepEqual(errors, []);
      await engine.close();
    },
  );

  check(
    "a call past its deadline is rejected with the reason, and the others are committed",
    async (path) => {
      const { engine, client } = await opened(path);
      await client.start("W", { id: "before", args: [] });
      const lock = locked(path);
      const other = client.start("W", { id: "other", args: [] });
      await assert.rejects(
        client.start("W", { id: "impatient", args: [], timeout: "50ms" }),
        (e: Error) => {
          assert.match(
            e.message,
            /is locked for writing by another connection of this process|by another program/,
          );
          return true;
        },
      );
      lock.release();
      await other;
      await engine.close();
    },
  );

  check(
    "close cancels the wait: the callers are rejected, and their calls are not recorded",
    async (path) => {
      const { engine, client } = await opened(path);
      await client.start("W", { id: "before", args: [] });
      const lock = locked(path);
      const refused = ["a", "b"].map((id) =>
        client.start("W", { id, args: [] }).then(
          () => assert.fail(`${id} was acknowledged`),
          (e: unknown) => e,
        )
      );
      await someHops();
      await engine.close();
      for (const e of await Promise.all(refused)) {
        assert.ok(e instanceof ServiceError, String(e));
        assert.match(e.message, /the change was not recorded|the engine is closed/);
      }
      lock.release();
      const store = SqliteStore.open(path, { driver });
      assert.equal(store.count(), 1);
      store.close();
    },
  );

  check(
    "workflows, activities and reducers continue after a lock between their steps",
    async (path) => {
      let lock: { release(): void } | undefined;
      const see = (db: Database, n: number): number => db.run("INSERT INTO seen VALUES (?)", n);
      const tables = reducers<{ see: typeof see }>();
      const engine = await EmbeddedEngine.open({
        path,
        driver,
        reducers: { see },
        migrations: [{ name: "seen", sql: "CREATE TABLE seen (n INTEGER PRIMARY KEY)" }],
      });
      const acts = activities<{ lock(n: number): Promise<number> }>({ startToClose: "1m" });
      const steps = workflow("Steps", async (count: number) => {
        for (let i = 0; i < count; i++) {
          await acts.lock(i);
          await transact(tables.see, i);
        }
        return count;
      });
      const worker = await Worker.create({
        service: engine,
        taskQueue: "q",
        logger: silentLogger,
        workflows: [steps],
        activities: {
          lock(n: number) {
            lock = locked(path);
            setTimeout(() => lock!.release(), 30);
            return n;
          },
        },
      });
      const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
      const running = worker.run();
      assert.equal(await client.execute("Steps", { id: "steps", args: [4] }), 4);
      assert.deepEqual(
        engine.tables.all("SELECT n FROM seen ORDER BY n").map((row) => (row as { n: number }).n),
        [0, 1, 2, 3],
      );
      await worker.shutdown();
      await running;
      await engine.close();
    },
  );

  check("a purge and an opening wait for the lock without blocking", async (path) => {
    const { engine, client } = await opened(path);
    const handle = await client.start("W", { id: "old", args: [] });
    await handle.terminate("old");
    let lock = locked(path);
    const purged = engine.purge({ closedBefore: Date.now() + 60_000 });
    await someHops();
    lock.release();
    assert.equal(await purged, 1);
    await engine.close();

    lock = locked(path);
    let isOpen = false;
    const opening = openStore(path, { driver }).then((store) => (isOpen = true, store));
    await someHops();
    assert.equal(isOpen, false);
    lock.release();
    (await opening).close();
  });

  check("the error names the process that has the store locked", async (path) => {
    const store = SqliteStore.open(path, { driver });
    store.commit([created("w", "r", 1)]);
    const child = startModule(locker, [path, driver]);
    assert.equal(await nextLine(child), "locked");
    const who = process.platform === "linux" ? `process ${child.process.pid} \\(\\S+\\)` : ".+";
    assert.throws(
      () => store.commit([created("w2", "r2", 1)]),
      (e) =>
        e instanceof StoreBusyError &&
        new RegExp(
          `store\\.db is locked for writing by ${who}: end its transaction or stop that program$`,
        ).test(e.message),
    );
    assert.throws(() => store.shrink(), StoreBusyError);
    await kill(child);
    store.commit([created("w2", "r2", 1)]);
    assert.equal(store.count(), 2);
    store.close();
  });
}

test("a batch waits ten seconds for the lock, and a wait of a second is reported once", async () => {
  const timers = new ManualTimers();
  const reported: string[] = [];
  const retries = new CommitRetries((e) => reported.push(e.message), timers);
  const busy = new StoreBusyError("x is locked");
  let tries = 0, failedAt: number | undefined;
  const again = () => {
    tries++;
    if (!retries.locked(busy, again)) failedAt = timers.now();
  };
  again();
  assert.ok(retries.isWaiting);
  await timers.advance(900);
  assert.deepEqual(reported, []);
  assert.equal(retries.trouble, busy);
  await timers.advance(LOCK_WAIT_MS);
  assert.deepEqual(reported, ["writes wait until the store is free: x is locked"]);
  assert.ok(failedAt! >= LOCK_WAIT_MS && failedAt! < LOCK_WAIT_MS + 100, String(failedAt));
  assert.ok(tries > LOCK_WAIT_MS / 50, `${tries} tries`);

  // After a commit the next lock has its own ten seconds.
  retries.committed();
  assert.equal(retries.trouble, undefined);
  assert.equal(retries.locked(busy, () => {}), true);
  retries.cancel();
  assert.equal(retries.isWaiting, false);
});

test("maintenance work retries until the lock is released, for at most ten seconds", async () => {
  const timers = new ManualTimers();
  let left = 5;
  const done = whenFree(() => {
    if (left-- > 0) throw new StoreBusyError("locked");
    return "done";
  }, timers);
  await timers.advance(1000);
  assert.equal(await done, "done");
  const refused = assert.rejects(
    whenFree(() => {
      throw new StoreBusyError("locked");
    }, timers),
    StoreBusyError,
  );
  await timers.advance(LOCK_WAIT_MS + 100);
  await refused;
  await assert.rejects(
    whenFree(() => {
      throw new TypeError("other");
    }, timers),
    TypeError,
  );
  assert.equal(timers.pending, 0);
});

test("the holder of the lock is read from the system's list of locks", () => {
  const lines = [
    "1: FLOCK  ADVISORY  WRITE 11 08:02:77 0 EOF",
    "2: POSIX  ADVISORY  READ  12 08:02:77 120 120",
    "3: POSIX  ADVISORY  WRITE 13 08:02:78 120 120",
    "4: POSIX  ADVISORY  WRITE 14 08:02:77 121 121",
    "5: POSIX  ADVISORY  WRITE 15 08:02:77 120 120",
  ];
  const fs = (list: readonly string[]) => ({
    ...builtins()!.fs,
    statSync: () => ({ ino: 77 }) as never,
    readFileSync: (path: string) =>
      path === "/proc/locks"
        ? list.join("\n")
        : path === "/proc/15/comm"
        ? "viewer\n"
        : assert.fail(path),
  });
  const writer = (list: readonly string[], pid = 1) =>
    writerOf({ fs: fs(list), process: { pid, kill() {} } }, "/store");
  assert.equal(writer(lines.slice(1)), "process 15 (viewer)");
  assert.equal(writer(lines.slice(1), 15), "another connection of this process");
  assert.equal(writer(lines.slice(1, 4)), undefined);
  assert.equal(writer(["5: POSIX  ADVISORY  WRITE -1 08:02:77 120 120"]), undefined);
});

test("the pauses after failures of the store grow to one second and stay there", async () => {
  const timers = new ManualTimers();
  const retries = new CommitRetries(() => {}, timers);
  const failure = new Error("the disk is full");
  const pauses: number[] = [];
  let failedAt = timers.now();
  const again = () => {
    pauses.push(timers.now() - failedAt);
    failedAt = timers.now();
    if (pauses.length < 7) retries.failed(failure, again);
  };
  retries.failed(failure, again);
  await timers.advance(4260);
  assert.deepEqual(pauses, [10, 50, 200, 1000, 1000, 1000, 1000]);

  // The first failure after a commit has the shortest pause.
  retries.committed();
  pauses.length = 0;
  failedAt = timers.now();
  retries.failed(failure, () => void pauses.push(timers.now() - failedAt));
  await timers.advance(10);
  assert.deepEqual(pauses, [10]);
});
