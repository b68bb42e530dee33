// Mistakes around reducers: a task that the engine refuses is not tried again at once for ever, and is told once; a statement gets the values
// that were given for it, and no others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Database, open, type SqlValue } from "../../ts/mod.ts";
import { reducers as named, transact, workflow } from "../../ts/workflow/mod.ts";
import { until } from "../support/until.ts";

const migrations = [{ name: "1", sql: "CREATE TABLE seat (name TEXT PRIMARY KEY, who TEXT)" }];
const INSERT = "INSERT INTO seat (name, who) VALUES (?, ?)";

const booking = {
  book: (database: Database, ...values: SqlValue[]): number => database.run(INSERT, ...values),
  reads: (database: Database, sql: string, ...values: SqlValue[]): number => database.all(sql, ...values).length,
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

test("a task that the engine refuses again and again is tried at its timeouts, and told once", async () => {
  const told: { level: string; message: string; fields: Record<string, unknown> }[] = [];
  const log = (level: string) => (message: string, fields = {}) => void told.push({ level, message, fields });
  const logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  const app = await open({ workflows: [missing], reducers: booking, migrations, logger });
  try {
    const handle = await app.client.start(missing, { id: "m", taskTimeout: "1s" });
    const refused = () => told.filter(({ message }) => message.startsWith("a workflow task failed"));
    await until("the second attempt is refused", async () => ((await handle.describe()).pendingWorkflowTask?.attempt ?? 0) >= 3);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { pendingWorkflowTask } = await handle.describe();
    assert.equal(pendingWorkflowTask?.attempt, 3, "it waits for its timeout");
    const errors = refused().filter(({ level }) => level === "error");
    assert.equal(errors.length, 1, JSON.stringify(errors.map(({ fields }) => fields["attempt"])));
    assert.match(
      String((errors[0]!.fields["error"] as Error).message),
      /no reducer is named "absent"; there are "book", "reads"/,
    );
    // After the timeout it is tried again.
    const before = refused().length;
    await until("it is tried again", () => refused().length > before);
  } finally {
    await app.close();
  }
});

test("a statement takes as many values as it has places, and none of an earlier call", async () => {
  const app = await open({ workflows: [answer, asks], reducers: booking, migrations });
  try {
    const ask = (id: string, values: SqlValue[]) => app.client.execute(answer, { id, args: [values] });
    assert.equal(await ask("all", ["a1", "ada"]), 1);
    assert.match(String(await ask("few", ["a2"])), /^2 values belong to this statement, and 1 was given \(INSERT INTO seat/);
    assert.match(String(await ask("many", ["a3", "b", "c"])), /^2 values belong to this statement, and 3 were given/);
    assert.deepEqual(app.engine.tables.all("SELECT * FROM seat"), [{ name: "a1", who: "ada" }]);
    const reading = (id: string, sql: string, values: SqlValue[]) => app.client.execute(asks, { id, args: [sql, values] });
    // What stands in texts, names in quotes and comments is no place; a number is the same place each time.
    assert.equal(await reading("texts", `SELECT '?', name AS "?" /* ? */ FROM seat WHERE name = ? -- ?`, ["a1"]), 1);
    assert.equal(await reading("numbers", "SELECT 1 FROM seat WHERE name = ?1 OR who = ?1", ["ada"]), 1);
    assert.equal(await reading("json", `SELECT '{"a": 1}' ->> '$.a' FROM seat WHERE name = ?`, ["a1"]), 1);
    assert.match(
      String(await reading("none", "SELECT 1 FROM seat WHERE name = ?", [])),
      /^1 value belongs to this statement, and 0 were given/,
    );
  } finally {
    await app.close();
  }
});
