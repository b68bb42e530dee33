// Functions of transactions that do what a transaction does not offer: the error states it, nothing of
// the function is kept, and the engine continues (docs/database.md#application-transactions).
import { create, toBinary } from "@bufbuild/protobuf";
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  type App,
  Client,
  DatabaseError,
  DeadlineExceededError,
  open,
  ServiceError,
  silentLogger,
  SqliteStore,
  StoreError,
  type Transaction,
  TransactionError,
} from "../../../ts/mod.ts";
import { StoreBusyError } from "../../../ts/engine/store_errors.ts";
import { PollActivityTaskQueueRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { FUNCTION_PATH } from "../../../ts/service/functions.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import { ObservedService } from "../../../ts/testing/observed_service.ts";
import { until } from "../../support/until.ts";
import { invertingCodec } from "../../support/codecs.ts";
import { inFolder } from "../engine/support/stores.ts";
import { migrations } from "./transactions/reducers.ts";
import { listener } from "./transactions/workflows.ts";

const add = (db: Transaction, line: string) => db.run("INSERT INTO line (line) VALUES (?)", line);
const functions = {
  add,
  *lazy(db: Transaction) {
    yield add(db, "lazy");
  },
  busy(db: Transaction) {
    add(db, "busy");
    throw new StoreBusyError("mine");
  },
};
const withApp = async (body: (app: App) => Promise<void>) => {
  const app = await open({
    ...{ workflows: { listener }, functions, migrations },
    logger: silentLogger,
  });
  try {
    await body(app);
  } finally {
    await app.close();
  }
};
const rows = ({ engine }: Pick<App, "engine">): string[] =>
  engine.tables.all<{ line: string }>("SELECT line FROM line ORDER BY id").map(({ line }) => line);

test("what would end the open transaction is rejected in it", () =>
  withApp(async (app) => {
    const { engine } = app;
    const closedBefore = Date.now() + 1e9;
    const calls: { readonly [doing: string]: () => unknown } = {
      purging: () => engine.purge({ closedBefore }),
      "registering search attributes in": () => engine.addSearchAttributes({ customer: "Keyword" }),
      copying: () => engine.backup("never.sqlite"),
      shrinking: () => (engine.store as SqliteStore).shrink(),
      "importing into": () => (engine.store as SqliteStore).adopt([]),
      close: () => engine.close(),
    };
    for (const [doing, call] of Object.entries(calls)) {
      let asked: unknown;
      await app.transaction((db) => {
        add(db, doing);
        try {
          asked = call();
        } catch (error) {
          asked = Promise.reject(error);
        }
        (asked as Promise<unknown>).catch(() => {});
        throw new RangeError("rolled back");
      }).catch((error) => assert.ok(error instanceof RangeError, String(error)));
      await assert.rejects(asked as Promise<unknown>, (error: unknown) => {
        assert.ok(error instanceof DatabaseError, String(error));
        const text = /^(.*?)(?: :memory:)? is not possible inside a transaction or reducer/;
        assert.ok(text.exec(error.message)?.[1]?.startsWith(doing), error.message);
        return true;
      });
    }
    assert.equal(existsSync("never.sqlite"), false);
    await app.transaction((db) => add(db, "kept"));
    assert.deepEqual(rows(app), ["kept"]);
    assert.equal(await engine.purge({ closedBefore }), 0);
  }));

test("generators and asynchronous generators are rejected, and their bodies do not run", () =>
  withApp(async (app) => {
    let ran = false;
    const works = [
      function* (db: Transaction) {
        yield ran = add(db, "x") > 0;
      },
      async function* (db: Transaction) {
        yield ran = add(db, "x") > 0;
      },
    ];
    for (const work of works) {
      await assert.rejects(app.transaction<unknown>(work), (error: unknown) => {
        assert.ok(error instanceof TransactionError);
        assert.match(error.message, /returned a generator and was rolled back/);
        return true;
      });
    }
    await assert.rejects(app.client.call("lazy"), (error: unknown) => {
      assert.ok(error instanceof ServiceError && error.code === 9, String(error));
      assert.equal(error.reason, "TransactionError");
      return true;
    });
    assert.equal(ran, false);
    assert.deepEqual(rows(app), []);
  }));

test("a lazy promise that a function returns is not started after the rollback", () =>
  withApp(async (app) => {
    let started = 0;
    const lazy = { then: () => void started++ };
    class LazyPromise extends Promise<void> {
      override then(): never {
        started++;
        throw new Error("started");
      }
    }
    for (const value of [lazy, new LazyPromise(() => {})]) {
      const done = app.transaction((db) => {
        add(db, "lazy");
        return { value };
      });
      await done;
    }
    assert.deepEqual(rows(app), ["lazy", "lazy"]);
    for (const value of [lazy, new LazyPromise(() => {})]) {
      await assert.rejects(app.transaction<unknown>((): unknown => value), /returned a promise/);
    }
    await Promise.resolve();
    assert.equal(started, 0);
  }));

test("a StoreError that the function itself throws is its own: no second run, no failed store", () =>
  withApp(async (app) => {
    for (const error of [new StoreBusyError("mine"), new StoreError("mine")]) {
      let runs = 0;
      const failed = app.transaction((db) => {
        runs++;
        add(db, "mine");
        throw error;
      });
      const [lost, kept] = await Promise.allSettled([
        failed,
        app.transaction((db) => add(db, "y")),
      ]);
      assert.ok(lost.status === "rejected" && lost.reason === error);
      assert.equal(kept.status, "fulfilled");
      assert.equal(runs, 1);
    }
    await assert.rejects(
      app.client.call("busy"),
      /function "busy" failed and was rolled back: mine/,
    );
    assert.deepEqual(rows(app), ["y", "y"]);
  }));

test("commits of rows only are counted, and end the wait for a locked store", () =>
  withApp(async (app) => {
    await until("the engine is idle", () => !app.engine.busy);
    const { commits } = app.engine.stats();
    const { begin } = SqliteStore.prototype;
    SqliteStore.prototype.begin = function () {
      SqliteStore.prototype.begin = begin;
      throw new StoreBusyError("database is locked");
    };
    await app.transaction((db) => add(db, "a"));
    assert.equal(SqliteStore.prototype.begin, begin);
    assert.equal(app.engine.stats().commits, commits + 1);
    const poll = create(PollActivityTaskQueueRequestSchema, {
      namespace: "default",
      taskQueue: { name: "unpolled" },
    });
    const bytes = toBinary(PollActivityTaskQueueRequestSchema, poll);
    await assert.rejects(
      app.engine.call("pollActivityTaskQueue", bytes, { timeoutMs: 5 }),
      /^ServiceError: pollActivityTaskQueue timed out after 5 ms$/,
    );
  }));

test("functions with an asynchronous codec are rejected before a file is created", () =>
  inFolder(async (folder) => {
    const path = join(folder, "none.sqlite");
    const codec = invertingCodec();
    await assert.rejects(
      open({ path, workflows: { listener }, functions, codec, logger: silentLogger }),
      /functions with a codec need its synchronous form/,
    );
    assert.equal(existsSync(path), false);
  }));

/** Runs `body` while every store is locked. */
async function whileLocked(body: () => Promise<void>): Promise<void> {
  const { begin } = SqliteStore.prototype;
  SqliteStore.prototype.begin = () => {
    throw new StoreBusyError("database is locked");
  };
  try {
    await body();
  } finally {
    SqliteStore.prototype.begin = begin;
  }
}

test("a call in the same process has the client's deadline and signal; what it gave up does not run", async () => {
  const app = await open({
    ...{ workflows: { listener }, functions, migrations },
    logger: silentLogger,
  });
  const environment = await TestEnvironment.create({ functions, migrations });
  const services = [app.engine, new ObservedService(environment.engine, () => {})];
  try {
    for (const [i, { engine, client }] of [app, environment].entries()) {
      const service = services[i]!;
      const aborted = new AbortController();
      await whileLocked(async () => {
        const hasty = new Client({ service, timeout: "20ms", logger: silentLogger });
        await assert.rejects(hasty.call("add", "late"), DeadlineExceededError);
        const { signal } = aborted;
        const call = service.callOther(FUNCTION_PATH, new Uint8Array(0), { signal });
        aborted.abort();
        await assert.rejects(call, /canceled by the caller/);
      });
      await client.call("add", "after");
      assert.deepEqual(rows({ engine }), ["after"]);
    }
  } finally {
    await app.close();
    await environment.dispose();
  }
});
