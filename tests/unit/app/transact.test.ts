// transact: reducers run in the transaction that commits the workflow task
// (docs/dev/semantics/database.md#transact).
// takes: 26 s
// promise: P2
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  type App,
  createWorkerRealm,
  MemoryStore,
  open,
  type OpenOptions,
  silentLogger,
  SqliteStore,
  StoreError,
} from "../../../ts/mod.ts";
import { WorkflowFailedError } from "../../../ts/client/mod.ts";
import type { ApplicationFailure } from "../../../ts/workflow/mod.ts";
import { refuseOwnTables } from "../../../ts/engine/tables/database.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import { until } from "../../support/until.ts";
import * as reducers from "./game/reducers.ts";
import {
  fight,
  forgets,
  go,
  many,
  needed,
  neededAtEnd,
  sleepy,
  survives,
  unheard,
  wrong,
} from "./game/workflows.ts";

const { migrations } = reducers;
const workflows = new URL("./game/workflows.ts", import.meta.url);

async function withApp(
  body: (app: App, path: string) => Promise<void>,
  more: OpenOptions = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-transact-"));
  const path = join(folder, "game.sqlite");
  try {
    const app = await open({
      path,
      workflows,
      reducers,
      migrations,
      logger: silentLogger,
      serve: false,
      ...more,
    });
    try {
      await body(app, path);
    } finally {
      await app.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const lines = (app: App): string[] =>
  app.engine.tables.all<{ line: string }>("SELECT line FROM combat_log ORDER BY id").map((
    { line },
  ) => line);

test("reducers run in the order of their commands, once, and their results are in history", () =>
  withApp(async (app, path) => {
    reducers.ran.length = 0;
    assert.equal(await app.client.execute(fight, { id: "fight", args: ["orc", [10, 20]] }), 70);
    assert.deepEqual(reducers.ran, ["spawn", "logLine", "applyDamage", "logLine", "applyDamage"]);
    assert.deepEqual(lines(app), ["orc is hit for 10", "orc is hit for 20"]);
    assert.deepEqual(app.engine.tables.all("SELECT name, hp FROM npc"), [{ name: "orc", hp: 70 }]);
    const { events } = await app.client.getHandle(fight, "fight").fetchHistory();
    const markers = events.flatMap((e) =>
      e.attributes.case === "markerRecordedEventAttributes" ? [e.attributes.value] : []
    );
    assert.deepEqual(markers.map((m) => m.markerName), [
      "Transact",
      "Transact",
      "Transact",
      "Transact",
      "Transact",
    ]);
    const text = (m: typeof markers[number], key: string) =>
      new TextDecoder().decode(m.details[key]?.payloads[0]?.data);
    assert.deepEqual(markers.map((m) => [text(m, "id"), text(m, "reducer"), text(m, "result")]), [
      ["1", '"spawn"', "1"],
      ["2", '"logLine"', ""],
      ["3", '"applyDamage"', '{"hp":90}'],
      ["4", '"logLine"', ""],
      ["5", '"applyDamage"', '{"hp":70}'],
    ]);
    assert.ok(path.length > 0);
  }));

test("an interrupted run continues after the next open, and replay runs no reducer", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-transact-"));
  const options = {
    path: join(folder, "game.sqlite"),
    workflows,
    reducers,
    migrations,
    logger: silentLogger,
    serve: false,
  };
  try {
    const first = await open(options);
    await first.client.start(forgets, { id: "f" });
    await until("both lines are there", () => lines(first).length === 2);
    await first.close();
    reducers.ran.length = 0;
    const second = await open(options);
    const handle = second.client.getHandle(forgets, "f");
    await handle.signal(go);
    assert.equal(await handle.result(), "gone");
    assert.deepEqual(reducers.ran, []);
    assert.deepEqual(lines(second), ["one", "two"]);
    await second.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("an awaited reducer rejects with its error, and its writes are rolled back; other reducers of the task stay", () =>
  withApp(async (app) => {
    assert.equal(await app.client.execute(survives, { id: "s" }), "TypeError: not today: never");
    assert.deepEqual(lines(app), ["before", "after"]);
  }));

test("a reducer that throws and is not awaited fails the task: its writes are rolled back, and the task is retried", () =>
  withApp(async (app) => {
    await app.client.execute(unheard, { id: "u" });
    assert.deepEqual(lines(app), ["try 2"]);
    const { events } = await app.client.getHandle(unheard, "u").fetchHistory();
    const failed = events.flatMap((e) =>
      e.attributes.case === "workflowTaskFailedEventAttributes" ? [e.attributes.value] : []
    );
    assert.deepEqual(failed.map((f) => f.failure?.message), ["a bad start"]);
  }));

test("if a commit fails at any point, the task runs again and each reducer is applied once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-transact-"));
  try {
    let commits = Infinity;
    for (let failing = 1; failing <= commits; failing++) {
      const store = SqliteStore.open(join(folder, `${failing}.sqlite`), { synchronous: "NORMAL" });
      let n = 0;
      const failingStore = new Proxy(store, {
        get(target, name) {
          const value = Reflect.get(target, name, target) as unknown;
          if (typeof value !== "function") return value;
          if (name !== "commit") return value.bind(target);
          return (writes: Parameters<SqliteStore["commit"]>[0]) => {
            if (++n === failing) throw new StoreError("this commit fails");
            target.commit(writes);
          };
        },
      });
      const engine = { store: failingStore, onError: () => {} };
      const app = await open({ workflows, reducers, migrations, engine, logger: silentLogger });
      try {
        assert.equal(
          await app.client.execute(fight, { id: "fight", args: ["orc", [10, 20]] }),
          70,
          `commit ${failing}`,
        );
        assert.deepEqual(
          lines(app),
          ["orc is hit for 10", "orc is hit for 20"],
          `commit ${failing}`,
        );
        assert.deepEqual(app.engine.tables.all("SELECT name, hp FROM npc"), [{
          name: "orc",
          hp: 70,
        }], `commit ${failing}`);
        const { events } = await app.client.getHandle(fight, "fight").fetchHistory();
        assert.equal(
          events.filter((e) => e.attributes.case === "markerRecordedEventAttributes").length,
          5,
          `commit ${failing}`,
        );
      } finally {
        await app.close();
        store.close();
      }
      // The last round has no commit left that fails.
      if (n < failing) commits = failing;
    }
    assert.ok(commits > 8 && commits < 100, `${commits} commits`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("an error of transact.required ends the run, awaited or not, and keeps the other rows", () =>
  withApp(async (app) => {
    for (const how of ["caught", "forgotten", "parallel"] as const) {
      const handle = await app.client.start(needed, { id: how, args: [how] });
      await assert.rejects(handle.result(), (error) => {
        assert.ok(error instanceof WorkflowFailedError);
        const { message, type } = error.cause as ApplicationFailure;
        assert.deepEqual([message, type], ["not today: never", "TypeError"], how);
        return true;
      });
      const kinds = (await handle.fetchHistory()).events.map(({ attributes }) => attributes.case);
      assert.equal(kinds.at(-1), "workflowExecutionFailedEventAttributes");
      assert.ok(!kinds.includes("workflowTaskFailedEventAttributes"), "no task is retried");
    }
    assert.deepEqual(lines(app), ["caught before", "forgotten before", "parallel before"]);
  }));

test("a required reducer that fails in the task that completes the run fails that task", () =>
  withApp(async (app) => {
    const before = reducers.failures;
    const result = await app.client.execute(neededAtEnd, { id: "e", args: [before + 1] });
    assert.equal(result, "at last");
    assert.deepEqual(lines(app), [`at the end ${before + 1}`]);
  }));

test("many reducers of one task, and of concurrent tasks", () =>
  withApp(async (app) => {
    const runs = Array.from({ length: 20 }, (_, i) =>
      app.client.execute(many, { id: `m-${i}`, args: [10] }));
    for (const result of await Promise.all(runs)) {
      assert.deepEqual(
        result,
        Array.from({ length: 10 }, (_, i) =>
          i),
      );
    }
    assert.deepEqual(app.engine.tables.get("SELECT count(*) AS n, sum(hp) AS hp FROM npc"), {
      n: 200,
      hp: 20 * 45,
    });
  }));

test("async reducers and reducers that write the engine's tables are rejected by name", () =>
  withApp(async (app) => {
    const ask = (which: "waits" | "writesEngine") =>
      app.client.execute(wrong, { id: which, args: [which] });
    assert.match(
      await ask("waits"),
      /reducer "waits" returned a promise: reducers must be synchronous/,
    );
    assert.match(
      await ask("writesEngine"),
      /a statement uses a table of the engine .*: UPDATE runs/,
    );
    assert.deepEqual(lines(app), []);
  }));

test("a missing reducer fails the task, awaited or not, and the run continues in an engine that has the reducer", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-transact-"));
  const options = {
    path: join(folder, "game.sqlite"),
    workflows,
    migrations,
    logger: silentLogger,
    serve: false,
  };
  try {
    const older = await open({ ...options, reducers });
    const handle = await older.client.start(wrong, { id: "w", args: ["unknown"] });
    const failures = async () =>
      (await handle.fetchHistory()).events.flatMap((e) =>
        e.attributes.case === "workflowTaskFailedEventAttributes"
          ? [e.attributes.value.failure?.message ?? ""]
          : []
      );
    await until("the task has failed", async () => (await failures()).length > 0);
    assert.match(
      (await failures())[0]!,
      /unknown reducer "unknown"; known reducers: "applyDamage", /,
    );
    assert.equal((await handle.describe()).status, "RUNNING");
    await older.close();
    const newer = await open({ ...options, reducers: { ...reducers, unknown: () => 7 } });
    assert.equal(await newer.client.getHandle(wrong, "w").result(), "nothing");
    await newer.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("no form of SQL reaches the engine's tables", () => {
  const writes = [
    "UPDATE runs SET status = 2",
    "update OR ignore runs set status = 2",
    'UPDATE "runs" SET status = 2',
    "UPDATE[runs] SET status = 2",
    "UPDATE `main`.`runs` SET status = 2",
    'DELETE FROM "main" . "history"',
    "DELETE/**/FROM/* here */items",
    "UPDATE search_attributes SET value = 1",
    "DELETE FROM main.waits",
    "INSERT INTO main.store (id) VALUES (2)",
    "REPLACE INTO migrations VALUES (9, 'x', 0)",
    "WITH x AS (SELECT 1) DELETE FROM runs",
    "INSERT INTO npc SELECT * FROM runs",
    "DROP TABLE IF EXISTS runs",
    "ALTER TABLE table_migrations RENAME TO t",
    "DROP INDEX runs_by_id",
    "DROP INDEX IF EXISTS main.runs_ready",
    "WITH x AS (SELECT '--') DELETE FROM runs",
    "/* ' */ DELETE FROM runs -- '",
    "WITH x AS (SELECT '/*') DELETE FROM runs WHERE '*/' = ''",
    `WITH x AS (SELECT 1 AS "--") DELETE FROM runs`,
    "WITH x AS (SELECT 1 AS [/*]) DELETE FROM runs",
    "CREATE TRIGGER t AFTER INSERT ON history BEGIN SELECT 1; END",
  ];
  for (const sql of writes) {
    assert.throws(() => refuseOwnTables(sql), { name: "DatabaseError" }, sql);
  }
  const others = [
    "UPDATE npc SET name = 'from runs' WHERE id = 1",
    "INSERT INTO runs_of_today (n) VALUES (1)",
    "DELETE FROM my_items",
    "UPDATE npc SET hp = 1 -- runs",
    "UPDATE npc SET name = 'it''s from runs' /* from runs */",
    "CREATE INDEX npc_by_name ON npc (name)",
    "CREATE TABLE stores (id INTEGER)",
  ];
  for (const sql of others) refuseOwnTables(sql);
});

test("the application reads its tables, and does not write them outside of a task", () =>
  withApp(async (app) => {
    const { tables } = app.engine;
    assert.throws(
      () => tables.run("INSERT INTO combat_log (line) VALUES ('x')"),
      /only reducers and transactions can write/,
    );
    for (
      const sql of [
        "WITH x AS (SELECT '--') DELETE FROM runs",
        "BEGIN",
        "COMMIT",
        "/* SELECT */ PRAGMA user_version",
        "PRAGMA journal_mode = DELETE",
        "ATTACH 'x' AS x",
        "DROP TABLE npc",
        "VACUUM",
        "",
      ]
    ) {
      assert.throws(() => tables.run(sql), { name: "DatabaseError" }, sql);
    }
    assert.deepEqual(tables.get("SELECT ';' AS text;"), { text: ";" });
    await Promise.resolve();
  }));

/** BEGIN and END of a trigger's body, and of a CASE, do not belong to a transaction. */
const TRIGGER = `CREATE TRIGGER hurt AFTER UPDATE OF hp ON npc WHEN new.hp < old.hp BEGIN
  INSERT INTO combat_log (line) VALUES (CASE WHEN new.hp = 0 THEN 'dead' ELSE 'hurt' END);
  UPDATE npc SET name = name WHERE id = new.id;
END;`;

test("migrations run in order, and an applied migration must not change", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-transact-"));
  const path = join(folder, "game.sqlite");
  const opened = async (steps: OpenOptions["migrations"]) => {
    const app = await open({
      path,
      workflows,
      reducers,
      migrations: steps!,
      logger: silentLogger,
      serve: false,
    });
    const tables = app.engine.tables.all<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE name IN ('npc', 'combat_log', 'loot')",
    );
    await app.close();
    return tables.map(({ name }) => name).sort();
  };
  try {
    assert.deepEqual(await opened(migrations.slice(0, 1)), ["npc"]);
    assert.deepEqual(await opened(migrations), ["combat_log", "npc"]);
    const [first, second] = migrations;
    const cases: readonly (readonly [OpenOptions["migrations"], RegExp])[] = [
      [
        [first!],
        /the file has step "002 log" of tables, which is missing in the option migrations/,
      ],
      [[second!, first!], /step 1 of migrations is "002 log", but the file has "001 npcs" there/],
      [
        [first!, { ...second!, sql: `${second!.sql};` }],
        /step "002 log" of migrations has changed since it was applied/,
      ],
      [
        [...migrations, { name: "003 bad", sql: "CREATE TABLE loot (id INTEGER); CREATE TABL x" }],
        /step "003 bad" of migrations failed: .*syntax error/,
      ],
      [[...migrations, { name: "003 own", sql: "DROP TABLE runs" }], /a table of the engine/],
      [
        [...migrations, { name: "003 commit", sql: "CREATE TABLE loot (id INTEGER); COMMIT" }],
        /has COMMIT: the engine opens the transaction/,
      ],
      ...["END", "end transaction", "-- done\nEND;", "BEGIN; CREATE TABLE more (id INTEGER)"].map((
        sql,
      ) =>
        [
          [...migrations, { name: "003 end", sql: `CREATE TABLE loot (id INTEGER); ${sql}` }],
          /step "003 end" of migrations has (?:END|BEGIN): the engine opens the transaction/,
        ] as const
      ),
      [
        [...migrations, { name: "003 trigger", sql: `${TRIGGER} END` }],
        /step "003 trigger" of migrations has END: the engine opens the transaction/,
      ],
      [[...migrations, first!], /two migrations are named "001 npcs"/],
    ];
    for (const [steps, message] of cases) await assert.rejects(opened(steps), message);
    assert.deepEqual(
      await opened(migrations),
      ["combat_log", "npc"],
      "a step that fails leaves nothing",
    );
    assert.deepEqual(await opened([...migrations, { name: "003 trigger", sql: TRIGGER }]), [
      "combat_log",
      "npc",
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("code that calls another reducer or none diverges, and the message names the reducer and the line", () =>
  withApp(async (app) => {
    await app.client.execute(fight, { id: "fight", args: ["orc", [10]] });
    const history = toBinary(
      HistorySchema,
      await app.client.getHandle(fight, "fight").fetchHistory(),
    );
    const text = readFileSync(workflows, "utf8").replace(
      /from "[^"]*workflow\/mod.[jt]s"/,
      'from "temporalex/workflow"',
    );
    const sentence = async (changed: string) => {
      assert.notEqual(changed, text);
      const realm = await createWorkerRealm({
        workflows: "/game/workflows.ts",
        sources: { "/game/workflows.ts": changed },
      });
      try {
        return (await realm.replay("fight", history)).error?.sentence ?? "";
      } finally {
        await realm.dispose();
      }
    };
    assert.match(
      await sentence(text.replace("game.logLine, `", "game.logRow, `")),
      /runs reducer logRow where history has reducer logLine \(event 9\)/,
    );
    assert.match(
      await sentence(text.replace(/transact\(game\.logLine, `[^\n]*/, "")),
      /skips reducer logLine, which history recorded \(event 9\)/,
    );
  }));

test("without a path the tables are in memory, and a test environment supports them in virtual time", async () => {
  const app = await open({ workflows, reducers, migrations, logger: silentLogger });
  assert.equal(await app.client.execute(fight, { id: "fight", args: ["orc", [10]] }), 90);
  assert.deepEqual(lines(app), ["orc is hit for 10"]);
  await app.close();
  const env = await TestEnvironment.create({ reducers, migrations, logger: silentLogger });
  try {
    await env.runWorker({ workflows }, async () => {
      const began = env.now();
      assert.equal(await env.client.execute(sleepy, { id: "sleepy", args: [] }), 3);
      assert.ok(env.now() - began >= 3 * 86_400_000);
    });
    assert.deepEqual(env.engine.tables.all("SELECT line FROM combat_log"), [{ line: "day 0" }, {
      line: "day 1",
    }, {
      line: "day 2",
    }]);
  } finally {
    await env.dispose();
  }
});

test("reducers are rejected on a store without tables", async () => {
  const engine = { store: new MemoryStore() };
  await assert.rejects(
    open({ workflows, reducers, engine, logger: silentLogger }),
    /reducers and migrations need a store in SQLite/,
  );
});
