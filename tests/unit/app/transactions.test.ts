// app.transaction: rows of the application and messages to workflows in one commit
// (docs/database.md#application-transactions).
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  type App,
  MemoryStore,
  open,
  type OpenOptions,
  ServiceError,
  silentLogger,
  SqliteStore,
  StoreError,
  TransactionError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from "../../../ts/mod.ts";
import { StoreBusyError } from "../../../ts/engine/store_errors.ts";
import { until } from "../../support/until.ts";
import { sqliteDrivers } from "../engine/support/stores.ts";
import * as reducers from "./transactions/reducers.ts";
import {
  asks,
  collides,
  hears,
  listener,
  orders,
  questions,
  said,
  sends,
} from "./transactions/workflows.ts";

const { migrations } = reducers;
const workflows = new URL("./transactions/workflows.ts", import.meta.url);

async function withApp(body: (app: App) => Promise<void>, more: OpenOptions = {}): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-transactions-"));
  try {
    const app = await open({
      path: join(folder, "game.sqlite"),
      workflows,
      reducers,
      migrations,
      logger: silentLogger,
      serve: false,
      ...more,
    });
    try {
      await body(app);
    } finally {
      await app.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const add = "INSERT INTO line (line) VALUES (?)";
const rows = (app: App): string[] =>
  app.engine.tables.all<{ line: string }>("SELECT line FROM line ORDER BY id").map((row) =>
    row.line
  );
const signalsOf = async (app: App, id: string): Promise<unknown[]> =>
  (await app.client.getHandle(undefined, id).fetchHistory()).events.flatMap(({ attributes }) =>
    attributes.case === "workflowExecutionSignaledEventAttributes"
      ? [
        JSON.parse(
          new TextDecoder().decode(attributes.value.input?.payloads[0]?.data ?? undefined),
        ),
      ]
      : []
  );

for (const { driver, skip } of sqliteDrivers) {
  test(
    `${driver}: rows and messages of a transaction are committed together, messages in call order`,
    { skip },
    () =>
      withApp(async (app) => {
        const id = await app.transaction((db, workflows) => {
          db.run(add, "one");
          const started = workflows.start(listener, { id: "a" });
          for (const line of ["1", "2", "3"]) workflows.signal(started, said, line);
          assert.equal(
            workflows.signalWithStart(listener, { id: "b", signal: said, signalArgs: ["b"] }),
            "b",
          );
          workflows.signalWithStart(listener, { id: "a", signal: said, signalArgs: ["4"] });
          workflows.signal("b", "said", "end");
          workflows.signal("a", said, "end");
          return `${started}!`;
        });
        assert.equal(id, "a!");
        assert.deepEqual(rows(app), ["one"]);
        assert.deepEqual(await app.client.getHandle(listener, "a").result(), ["1", "2", "3", "4"]);
        assert.deepEqual(await app.client.getHandle(listener, "b").result(), ["b"]);
      }, { engine: { driver } }),
  );

  test(
    `${driver}: transactions that change no row are committed like others`,
    { skip },
    () =>
      withApp(async (app) => {
        const count = () =>
          app.transaction((db) => db.get<{ n: number }>("SELECT count(*) AS n FROM line")!.n);
        const change = (sql: string, ...values: string[]) =>
          app.transaction((db) => db.run(sql, ...values));
        assert.equal(await count(), 0);
        assert.equal(await app.transaction(() => "nothing"), "nothing");
        assert.equal(await change("UPDATE line SET line = 'x' WHERE id = 9"), 0);
        // In one commit: a transaction that changes nothing, and one that takes its row back.
        const refused = app.transaction((db) => {
          db.run(add, "refused");
          throw new RangeError("not this");
        });
        const [read] = await Promise.allSettled([count(), refused]);
        assert.deepEqual(read, { status: "fulfilled", value: 0 });
        assert.equal(await change(add, "one"), 1);
        assert.equal(await change("UPDATE line SET line = line"), 1);
        assert.equal(await count(), 1);
        assert.equal(app.engine.failure, undefined);
        assert.deepEqual(rows(app), ["one"]);
      }, { engine: { driver } }),
  );

  test(
    `${driver}: a function that throws at any position leaves no row and no message`,
    { skip },
    () =>
      withApp(async (app) => {
        await app.client.start(listener, { id: "old" });
        const events = () =>
          app.engine.sql("SELECT history_length AS n FROM workflow WHERE id = 'old'")[0]?.["n"];
        await until("the first task is done", () => events() === 4);
        const steps: ((db: Parameters<Parameters<App["transaction"]>[0]>[0]) => unknown)[] = [
          (db) => db.run(add, "row"),
          ({ workflows }) => workflows.start(listener, { id: "new" }),
          ({ workflows }) => workflows.signal("old", said, "x"),
          ({ workflows }) => workflows.signal("new", said, "x"),
          ({ workflows }) =>
            workflows.signalWithStart(listener, { id: "more", signal: said, signalArgs: ["x"] }),
          ({ workflows }) => workflows.cancel("old"),
          ({ workflows }) => workflows.broadcast(said, undefined, "x"),
          (db) => db.run(add, "row"),
        ];
        for (let n = 0; n <= steps.length; n++) {
          const thrown = app.transaction((db) => {
            for (const step of steps.slice(0, n)) step(db);
            throw new RangeError(`at ${n}`);
          });
          await assert.rejects(thrown, new RangeError(`at ${n}`));
        }
        assert.deepEqual(rows(app), []);
        assert.equal(await app.client.count(), 1);
        assert.equal(events(), 4);
        await app.transaction((db) => {
          for (const step of steps) step(db);
        });
        assert.equal(await app.client.count(), 3);
        assert.deepEqual(rows(app), ["row", "row"]);
      }, { engine: { driver } }),
  );
}

test("transactions of one moment share a commit, and one that throws does not concern the others", () =>
  withApp(async (app) => {
    await app.client.start(listener, { id: "a" });
    await until("the first task is done", () => !app.engine.busy);
    const { commits } = app.engine.stats();
    const ends = await Promise.allSettled(
      Array.from({ length: 100 }, (_, i) =>
        app.transaction((db, workflows) => {
          db.run(add, String(i));
          workflows.signal("a", said, String(i));
          if (i % 3 === 0) throw new Error("no");
          return i;
        })),
    );
    const kept = Array.from({ length: 100 }, (_, i) => i).filter((i) => i % 3 !== 0);
    assert.deepEqual(ends.flatMap((end) => end.status === "fulfilled" ? [end.value] : []), kept);
    assert.ok(app.engine.stats().commits - commits < 20, "they are batched");
    assert.deepEqual(rows(app), kept.map(String));
    await app.client.getHandle(listener, "a").signal(said, "end");
    assert.deepEqual(await app.client.getHandle(listener, "a").result(), kept.map(String));
  }));

test("an error of a message is thrown where it is sent, and catching it withdraws that message only", () =>
  withApp(async (app) => {
    await app.client.start(listener, { id: "taken" });
    const caught = await app.transaction((db, workflows) => {
      const errors: unknown[] = [];
      const attempt = (work: () => unknown) => {
        try {
          work();
        } catch (error) {
          errors.push(error);
        }
      };
      attempt(() => workflows.start(listener, { id: "taken" }));
      attempt(() => workflows.signal("missing", said, "x"));
      attempt(() => workflows.cancel("missing"));
      workflows.start(listener, { id: "fresh" });
      attempt(() => workflows.start(listener, { id: "fresh" }));
      workflows.signal("fresh", said, "kept");
      db.run(add, "kept");
      return errors;
    });
    assert.ok(caught[0] instanceof WorkflowExecutionAlreadyStartedError);
    assert.ok(
      caught[1] instanceof WorkflowNotFoundError && caught[2] instanceof WorkflowNotFoundError,
    );
    assert.ok(caught[3] instanceof WorkflowExecutionAlreadyStartedError);
    assert.equal(caught.length, 4);
    assert.deepEqual(await signalsOf(app, "fresh"), ["kept"]);
    assert.deepEqual(rows(app), ["kept"]);
  }));

test("a function that returns a promise is rejected and rolled back, and cannot send afterwards", () =>
  withApp(async (app) => {
    let late: unknown;
    const done = app.transaction(async (db, workflows) => {
      db.run(add, "async");
      workflows.start(listener, { id: "async" });
      await Promise.resolve();
      try {
        workflows.start(listener, { id: "late" });
      } catch (error) {
        late = error;
      }
    });
    await assert.rejects(
      done,
      (e: Error) => e instanceof TransactionError && /returned a promise/.test(e.message),
    );
    await until("the function has gone on", () => late !== undefined);
    assert.ok(late instanceof TransactionError && /has ended/.test(late.message));
    assert.deepEqual(rows(app), []);
    assert.equal(await app.client.count(), 0);
    await assert.rejects(app.transaction("x" as never), /needs a function/);
  }));

test("broadcasts, procedures and cancellations are part of the transaction", () =>
  withApp(async (app) => {
    await app.client.start(asks, { id: "asks" });
    for (const place of ["north", "south"]) {
      await app.client.start(hears, { id: place, args: [place] });
    }
    await app.client.start(listener, { id: "old" });
    await until(
      "the procedure and the subscriptions are there",
      () =>
        app.engine.sql("SELECT 1 FROM pending_procedure").length === 1 &&
        app.engine.sql("SELECT 1 FROM workflow_subscription").length === 2,
    );
    const rolledBack = app.transaction((_db, workflows) => {
      workflows.completeProcedure({ workflow: "asks", name: questions.ask }, "lost");
      workflows.broadcast(said, "north", "lost");
      throw new Error("no");
    });
    await assert.rejects(rolledBack, /^Error: no$/);
    const reached = await app.transaction((_db, workflows) => {
      workflows.completeProcedure({ workflow: "asks", name: questions.ask }, "first");
      assert.throws(
        () => workflows.completeProcedure({ workflow: "asks", name: questions.ask }, "twice"),
        { name: "ProcedureNotFoundError" },
      );
      workflows.cancel("old", "enough");
      const north = workflows.broadcast(said, "north", "a");
      const all = workflows.broadcast(said, undefined, "b");
      workflows.broadcast(said, undefined, "end");
      return [north, all];
    });
    assert.deepEqual(reached, [1, 2]);
    assert.deepEqual(await app.client.getHandle(hears, "north").result(), ["a", "b"]);
    assert.deepEqual(await app.client.getHandle(hears, "south").result(), ["b"]);
    await assert.rejects(app.client.getHandle(listener, "old").result());
    await until(
      "the second question is there",
      () => app.engine.sql("SELECT 1 FROM pending_procedure").length === 1,
    );
    await app.transaction((_db, workflows) =>
      workflows.failProcedure(
        { workflow: "asks", name: questions.ask },
        new RangeError("no answer"),
      )
    );
    await assert.rejects(app.client.getHandle(asks, "asks").result());
  }));

test("reducers send messages in the commit of their task, after its commands; errors withdraw them", () =>
  withApp(async (app) => {
    assert.deepEqual(await app.client.execute(sends, { id: "s", args: ["to"] }), [
      "not never",
      "WorkflowNotFoundError",
    ]);
    assert.deepEqual(await app.client.getHandle(listener, "to").result(), ["first", "second"]);
    assert.deepEqual(rows(app), ["second", "end"]);
    assert.deepEqual(await app.client.execute(orders, { id: "o", args: ["child"] }), [
      "by command",
      "by reducer",
    ]);
  }));

test("a message of a reducer that the commands of its task make impossible fails the task", () =>
  withApp(async (app) => {
    reducers.collisions.attempts = 0;
    assert.deepEqual(await app.client.execute(collides, { id: "c", args: ["id"] }), []);
    const { events } = await app.client.getHandle(collides, "c").fetchHistory();
    const failures = events.flatMap(({ attributes }) =>
      attributes.case === "workflowTaskFailedEventAttributes"
        ? [attributes.value.failure?.message]
        : []
    );
    assert.equal(failures.length, 1);
    assert.match(failures[0]!, /a message of a reducer was rejected .* already running/);
    assert.equal(reducers.collisions.attempts, 2);
    assert.equal(await app.client.count(), 2);
  }));

test("a failed commit rejects the transactions of its batch, and nothing of them is kept", async () => {
  const full = () => new StoreError("the disk is full");
  // Without rows a locked store is tried again; rows that were rolled back cannot be.
  const locked = () => new StoreBusyError("database is locked");
  for (
    const [inner, error] of [
      [new MemoryStore(), full],
      [await memory(), full],
      [await memory(), locked],
    ] as const
  ) {
    const failing = { next: false };
    const store = new Proxy(inner, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (name !== "commit") return typeof value === "function" ? value.bind(target) : value;
        return (...args: unknown[]) => {
          if (failing.next) {
            failing.next = false;
            throw error();
          }
          return Reflect.apply(value, target, args);
        };
      },
    });
    const app = await open({
      workflows,
      logger: silentLogger,
      ...(inner instanceof SqliteStore && { reducers, migrations }),
      engine: { store },
    });
    failing.next = true;
    const start = (id: string) =>
      app.transaction((db, workflows) => {
        if (inner instanceof SqliteStore) db.run(add, id);
        return workflows.start(listener, { id });
      });
    const lost = await Promise.allSettled([start("a"), start("b")]);
    for (const end of lost) {
      assert.ok(end.status === "rejected" && end.reason instanceof ServiceError);
      assert.match(end.reason.message, /was not recorded .*(?:the disk is full|is locked)/);
    }
    assert.equal(await app.client.count(), 0);
    assert.deepEqual(await Promise.all([start("a"), start("b")]), ["a", "b"]);
    assert.equal(await app.client.count(), 2);
    if (inner instanceof SqliteStore) assert.deepEqual(rows(app), ["a", "b"]);
    else {
      await assert.rejects(app.transaction((db) => db.run(add, "x")), /has no tables/);
    }
    await app.close();
    inner.close();
  }
});

async function memory() {
  const { openInMemory } = await import("../../../ts/engine/sqlite/in_memory.ts");
  return openInMemory();
}
