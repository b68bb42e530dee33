// Mistakes around reducers: a task that the engine rejects is not retried at once for ever, and is
// logged once; a statement gets only the values of that call.
// takes: 20 s
// promise: P7
import assert from "node:assert/strict";
import { test } from "node:test";
import { join } from "node:path";
import { type Database, open, silentLogger, type SqlValue } from "../../../ts/mod.ts";
import { type OpenFile, openFile } from "../../../ts/engine/sqlite/open.ts";
import { MIGRATIONS } from "../../../ts/engine/sqlite/schema.ts";
import { SqliteStore } from "../../../ts/engine/sqlite/store.ts";
import { reducers as named, transact, workflow } from "../../../ts/workflow/mod.ts";
import { inFolder, sqliteDrivers } from "../engine/support/stores.ts";
import { until } from "../../support/until.ts";

const migrations = [{ name: "1", sql: "CREATE TABLE seat (name TEXT PRIMARY KEY, who TEXT)" }];
const INSERT = "INSERT INTO seat (name, who) VALUES (?, ?)";

const booking = {
  book: (database: Database, ...values: SqlValue[]): number => database.run(INSERT, ...values),
  reads: (database: Database, sql: string, ...values: SqlValue[]): number =>
    database.all(sql, ...values).length,
};
const { book, reads, absent } = named<typeof booking & { absent(database: Database): void }>();

const missing = workflow("Missing", async () => await transact(absent));
const answer = workflow("Answer", async (values: SqlValue[]) => {
  try {
    return await transact(book, ...values);
  } catch (error) {
    return (error as Error).message;
  }
});
const asks = workflow("Asks", async (sql: string, values: SqlValue[]) => {
  try {
    return await transact(reads, sql, ...values);
  } catch (error) {
    return (error as Error).message;
  }
});

test("a task that the engine keeps rejecting is retried at its timeouts and logged once", async () => {
  const told: { level: string; message: string; fields: Record<string, unknown> }[] = [];
  const log = (level: string) => (message: string, fields = {}) =>
    void told.push({ level, message, fields });
  const logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  const app = await open({ workflows: [missing], reducers: booking, migrations, logger });
  try {
    const handle = await app.client.start(missing, { id: "m", taskTimeout: "1s" });
    const refused = () =>
      told.filter(({ message }) => message.startsWith("a workflow task failed"));
    await until(
      "the second attempt is refused",
      async () => ((await handle.describe()).pendingWorkflowTask?.attempt ?? 0) >= 3,
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { pendingWorkflowTask } = await handle.describe();
    assert.equal(pendingWorkflowTask?.attempt, 3, "it waits for its timeout");
    const errors = refused().filter(({ level }) => level === "error");
    assert.equal(errors.length, 1, JSON.stringify(errors.map(({ fields }) => fields["attempt"])));
    assert.match(
      String((errors[0]!.fields["error"] as Error).message),
      /unknown reducer "absent"; known reducers: "book", "reads"/,
    );
    // After the timeout it is tried again.
    const before = refused().length;
    await until("it is tried again", () => refused().length > before);
  } finally {
    await app.close();
  }
});

test("a statement needs one value per parameter and never uses a value of an earlier call", async () => {
  const app = await open({ workflows: [answer, asks], reducers: booking, migrations });
  try {
    const ask = (id: string, values: SqlValue[]) =>
      app.client.execute(answer, { id, args: [values] });
    assert.equal(await ask("all", ["a1", "ada"]), 1);
    assert.match(
      String(await ask("few", ["a2"])),
      /^2 values belong to this statement, and 1 was given \(INSERT INTO seat/,
    );
    assert.match(
      String(await ask("many", ["a3", "b", "c"])),
      /^2 values belong to this statement, and 3 were given/,
    );
    assert.deepEqual(app.engine.tables.all("SELECT * FROM seat"), [{ name: "a1", who: "ada" }]);
    const reading = (id: string, sql: string, values: SqlValue[]) =>
      app.client.execute(asks, { id, args: [sql, values] });
    // Question marks in strings, quoted names and comments are not parameters; a number is the same
    // parameter each time.
    assert.equal(
      await reading("texts", `SELECT '?', name AS "?" /* ? */ FROM seat WHERE name = ? -- ?`, [
        "a1",
      ]),
      1,
    );
    assert.equal(
      await reading("numbers", "SELECT 1 FROM seat WHERE name = ?1 OR who = ?1", ["ada"]),
      1,
    );
    assert.equal(
      await reading("json", `SELECT '{"a": 1}' ->> '$.a' FROM seat WHERE name = ?`, ["a1"]),
      1,
    );
    assert.match(
      String(await reading("none", "SELECT 1 FROM seat WHERE name = ?", [])),
      /^1 value belongs to this statement, and 0 were given/,
    );
  } finally {
    await app.close();
  }
});

const odd = {
  /** Runs each statement under a separate name, and returns the outcomes. */
  tries: (
    database: Database,
    how: "run" | "get" | "all",
    sql: string,
    values: readonly unknown[],
  ): unknown => {
    const given = values.map((value) =>
      VALUES.has(value as string) ? VALUES.get(value as string) : value
    ) as SqlValue[];
    return database[how](sql, ...given);
  },
  fills: (database: Database, rows: number, catches: boolean): number => {
    try {
      for (let i = 0; i < rows; i++) {
        database.run("INSERT INTO heap (data) VALUES (?)", new Uint8Array(50_000));
      }
    } catch (error) {
      if (!catches) throw new Error("it could not be written", { cause: error });
      database.run("INSERT INTO heap (data) VALUES (?)", new Uint8Array(1));
    }
    return database.get<{ n: number }>("SELECT count(*) AS n FROM heap")!.n;
  },
};
/** What no payload can carry. */
const VALUES = new Map<string, unknown>([
  ...[true, undefined, 2n ** 64n, new Date(0), { a: 1 }, () => {}].map((value, i) =>
    [`odd ${i}`, value] as [string, unknown]
  ),
  ["nul", "a\0b"],
]);
const { tries, fills } = named<typeof odd>();
const trying = workflow(
  "Trying",
  async (how: "run" | "get" | "all", sql: string, values: unknown[]) => {
    try {
      return await transact(tries, how, sql, values);
    } catch (error) {
      return (error as Error).message;
    }
  },
);
const filling = workflow("Filling", async (rows: number, catches: boolean) => {
  try {
    return await transact(fills, rows, catches);
  } catch (error) {
    return (error as Error).message;
  }
});

for (const { driver, skip } of sqliteDrivers) {
  const onStore = (
    name: string,
    body: (app: Awaited<ReturnType<typeof open>>, file: OpenFile) => Promise<void>,
  ) =>
    test(`${driver}: ${name}`, { skip }, () =>
      inFolder(async (folder) => {
        const file = openFile(join(folder, "seats.sqlite"), { driver }, MIGRATIONS);
        const store = SqliteStore.over(file);
        const app = await open({
          workflows: [trying, filling],
          reducers: odd,
          migrations: [...migrations, { name: "2", sql: "CREATE TABLE heap (data BLOB)" }],
          engine: { store, onError: () => {} },
          logger: silentLogger,
        });
        try {
          await body(app, file);
        } finally {
          await app.close();
          store.close();
        }
      }));

  onStore("run() accepts a statement that returns rows, and the engine continues", async (app) => {
    let count = 0;
    const ask = (how: "run" | "get" | "all", sql: string, ...values: unknown[]) =>
      app.client.execute(trying, {
        id: `t${++count}`,
        args: [how, sql, values],
        signal: AbortSignal.timeout(5000),
      });
    const TWO = "INSERT INTO seat (name) VALUES (?), (?) RETURNING name";
    assert.equal(await ask("run", TWO, "a1", "a2"), 2);
    assert.deepEqual(await ask("get", TWO, "b1", "b2"), { name: "b1" });
    assert.deepEqual(await ask("all", TWO, "c1", "c2"), [{ name: "c1" }, { name: "c2" }]);
    assert.equal(await ask("run", "SELECT name FROM seat"), 0);
    assert.equal(
      await ask("run", "UPDATE seat SET who = 'ada' WHERE name < 'b' RETURNING name"),
      2,
    );
    assert.equal(
      await ask(
        "run",
        "WITH n AS (SELECT 'd1' AS name) INSERT INTO seat (name) SELECT name FROM n",
      ),
      1,
    );
    assert.equal(app.engine.tables.all("SELECT 1 FROM seat").length, 7);
    // A function of that name writes nothing.
    assert.deepEqual(
      app.engine.tables.all(
        "WITH t AS (SELECT 'aba' AS a) SELECT replace(a, 'a', 'c') AS r FROM t",
      ),
      [{
        r: "cbc",
      }],
    );
  });

  onStore(
    "values that some SQLite libraries cannot bind are rejected by name, and the engine continues",
    async (app) => {
      const ask = (id: string, value: string) =>
        app.client.execute(trying, {
          id,
          args: ["get", "SELECT ? AS v", [value]],
          signal: AbortSignal.timeout(5000),
        });
      const said = [];
      for (const [i, value] of [...VALUES.keys()].entries()) said.push(await ask(`v${i}`, value));
      assert.deepEqual(said, [
        "value 1 is true, and SQLite has no booleans: pass 1 or 0 (SELECT ? AS v)",
        "value 1 is undefined: pass null (SELECT ? AS v)",
        "value 1 is a bigint of more than 64 bits: pass it as a string (SELECT ? AS v)",
        "value 1 is a Date: pass a string, a number, null or a Uint8Array (SELECT ? AS v)",
        "value 1 is an object: pass a string, a number, null or a Uint8Array (SELECT ? AS v)",
        "value 1 is a function: pass a string, a number, null or a Uint8Array (SELECT ? AS v)",
        "value 1 is a string with a NUL character, where some libraries truncate it: pass a Uint8Array (SELECT ? AS v)",
      ]);
      assert.throws(
        () => app.engine.sql("SELECT ? AS v", true as unknown as number),
        /value 1 is true, and SQLite has no booleans/,
      );
      assert.throws(
        () => app.engine.tables.all(undefined as unknown as string),
        /a statement must be a string, not undefined/,
      );
    },
  );

  onStore("a statement that would end the engine's transaction is rejected", async (app) => {
    const sql = "INSERT OR ROLLBACK INTO seat (name) VALUES ('a')";
    for (const id of ["1", "2"]) {
      assert.match(
        String(
          await app.client.execute(trying, {
            id,
            args: ["run", sql, []],
            signal: AbortSignal.timeout(5000),
          }),
        ),
        /^OR ROLLBACK would end the engine's transaction: use OR ABORT \(INSERT OR ROLLBACK/,
      );
    }
  });

  onStore(
    "a full disk does not fail a workflow, whatever its reducer does with the error; it continues when there is space",
    async (app, file) => {
      const limit = (pages: number) =>
        void file.database.prepare(`PRAGMA max_page_count=${pages}`).get([]);
      const pages = Number(file.database.prepare("PRAGMA page_count").get([])!["page_count"]);
      limit(pages + 40);
      const handles = [
        await app.client.start(filling, { id: "throws", args: [20, false] }),
        await app.client.start(filling, { id: "catches", args: [20, true] }),
      ];
      await new Promise((resolve) => setTimeout(resolve, 500));
      for (const handle of handles) assert.equal((await handle.describe()).status, "RUNNING");
      assert.equal(app.engine.tables.all("SELECT 1 FROM heap").length, 0, "nothing of it is kept");
      limit(1_000_000);
      assert.deepEqual(
        (await Promise.all(handles.map((handle) => handle.result({ timeout: "20s" })))).sort(),
        [20, 40],
      );
    },
  );
}
