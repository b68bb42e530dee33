// Arguments and results of reducers that exceed the limit of payloads.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { createInlineRealm } from "../../../ts/realm/mod.ts";
import { type App, open, type OpenOptions, silentLogger } from "../../../ts/mod.ts";
import { type ApplicationFailure, reducers, transact, workflow } from "../../../ts/workflow/mod.ts";
import type { Database } from "../../../ts/engine/tables/database.ts";
import { until } from "../../support/until.ts";

const rows = {
  fill(database: Database, size: number, _ballast = ""): string {
    database.run("INSERT INTO filled (size) VALUES (?)", size);
    return "x".repeat(size);
  },
};
const { fill } = reducers<typeof rows>();

const filling = workflow("filling", async (size: number, ballast: number) => {
  try {
    return (await transact(fill, size, "y".repeat(ballast))).length;
  } catch (error) {
    return [(error as ApplicationFailure).type, (error as Error).message] as const;
  }
});
const forgetting = workflow("forgetting", (size: number, ballast = 0) => {
  void transact(fill, size, "y".repeat(ballast));
  return Promise.resolve("done");
});

async function withApp(body: (app: App) => Promise<void>, more: OpenOptions = {}): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-limits-"));
  const app = await open({
    path: join(folder, "app.sqlite"),
    workflows: { filling, forgetting },
    reducers: rows,
    migrations: [{ name: "filled", sql: "CREATE TABLE filled (size INTEGER)" }],
    logger: silentLogger,
    serve: false,
    ...more,
  });
  try {
    await body(app);
  } finally {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Handle = Pick<Awaited<ReturnType<App["client"]["start"]>>, "fetchHistory" | "workflowId">;

const taskFailures = async (handle: Handle) =>
  (await handle.fetchHistory()).events.flatMap(({ attributes }) =>
    attributes.case === "workflowTaskFailedEventAttributes"
      ? [attributes.value.failure?.message ?? ""]
      : []
  );

async function replays(handle: Handle) {
  const realm = await createInlineRealm({ workflows: { filling } });
  try {
    const history = toBinary(HistorySchema, await handle.fetchHistory());
    return await realm.replay(handle.workflowId, history);
  } finally {
    await realm.dispose();
  }
}

const sizes = (app: App) =>
  app.engine.tables.all<{ size: number }>("SELECT size FROM filled").map(({ size }) => size);

test("a result over the limit names the reducer, is caught where it is awaited, and keeps no row", () =>
  withApp(async (app) => {
    const execute = (id: string, size: number, ballast = 0) =>
      app.client.execute(filling, { id, args: [size, ballast] });
    assert.equal(await execute("fits", 2_000_000), 2_000_000);
    const [type, message] = await execute("large", 3_000_000) as readonly [string, string];
    assert.equal(type, "ReducerError");
    assert.match(message, /^the result of reducer "fill" has 30000\d\d bytes, at most 20\d{5}: /);
    assert.match(message, /2097152 \(limits\.payloadBytes\) less its arguments/);
    // Arguments and result share the limit of a marker.
    const shared = await execute("shared", 1_100_000, 1_100_000) as readonly [string, string];
    assert.match(shared[1], /^the result of reducer "fill" has 1100\d{3} bytes, at most 99\d{4}: /);
    assert.deepEqual(sizes(app), [2_000_000]);
  }));

test("every result up to the configured limit is recorded or rejected by name", () =>
  withApp(async (app) => {
    const outcomes = new Set<string>();
    for (let size = 3_700; size <= 4_100; size += 10) {
      const result = await app.client.execute(filling, { id: `${size}`, args: [size, 0] });
      outcomes.add(typeof result === "number" ? "recorded" : result[0]!);
    }
    assert.deepEqual([...outcomes], ["recorded", "ReducerError"]);
  }, { engine: { limits: { payloadBytes: 4_096 } } }));

test("an argument over the limit names reducer and argument, and is caught where it is awaited", () =>
  withApp(async (app) => {
    for (const size of [3_000_000, 9_000_000]) {
      const handle = await app.client.start(filling, { id: `${size}`, args: [1, size] });
      const [type, message] = await handle.result() as readonly [string, string];
      assert.equal(type, "ReducerError");
      assert.match(message, /^argument 2 of reducer "fill" has [39]0000\d\d bytes; /);
      assert.match(message, /together have at most 2097152 \(limits\.payloadBytes\)/);
      const replayed = await replays(handle);
      assert.equal(replayed.verdict, "ok", replayed.error?.message);
    }
    assert.deepEqual(sizes(app), []);
    const stuck = await app.client.start(forgetting, { id: "stuck", args: [1, 3_000_000] });
    await until("the task has failed", async () => (await taskFailures(stuck)).length > 0);
    assert.match(
      (await taskFailures(stuck))[0]!,
      /^argument 2 of reducer "fill" has 30000\d\d bytes/,
    );
  }));

test("a result over the limit that has no awaiting code fails its task with the reducer's name", () =>
  withApp(async (app) => {
    const handle = await app.client.start(forgetting, { id: "f", args: [3_000_000] });
    await until("the task has failed", async () => (await taskFailures(handle)).length > 0);
    assert.match(
      (await taskFailures(handle))[0]!,
      /the result of reducer "fill" has 3000\d{3} bytes/,
    );
    assert.deepEqual(sizes(app), []);
  }));
