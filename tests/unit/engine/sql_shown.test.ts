// What runs show of themselves in SQL: `phase` and `state` of the view `workflow`.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { open, type OpenOptions, silentLogger } from "../../../ts/mod.ts";
import { MOST_STATE_BYTES } from "../../../ts/executor/program/run_shown.ts";
import {
  continueAsNew,
  publishState,
  signal,
  sleep,
  waitForSignal,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { invertingCodec } from "../../support/codecs.ts";
import { until } from "../../support/until.ts";
import { downgradeFile } from "./support/older_files.ts";
import { randomViews } from "./support/random_views.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

const go = signal<[state: unknown]>("go");
/** Publishes the values of its signals. */
const told = workflow("told", async (awaits: number): Promise<unknown> => {
  for (let i = 0; i < awaits; i++) await sleep(1);
  for (let n = 0;; n++) {
    const state = [await waitForSignal(go)].flat()[0];
    if (state === "end") return n;
    if (state === "again") return continueAsNew(0);
    if (state === "long") publishState("x".repeat(MOST_STATE_BYTES));
    else if (state === "bytes") publishState(new Uint8Array([1, 2]));
    else publishState(state);
  }
});

type Rows = (where?: string) => { phase: number | null; state: string | null }[];

async function withApp(
  path: string,
  body: (app: Awaited<ReturnType<typeof open>>, rows: Rows) => Promise<void>,
  options: Partial<OpenOptions> = {},
): Promise<void> {
  const app = await open({
    path,
    workflows: { told },
    logger: silentLogger,
    serve: false,
    ...options,
  });
  const rows = (where = "1") =>
    app.engine.sql(
      `SELECT phase, state FROM workflow WHERE ${where} ORDER BY started_ms, run_id`,
    ) as ReturnType<Rows>;
  try {
    await body(app, rows);
  } finally {
    await app.close();
  }
}

test("phase is the number of awaits that a run has passed, state is its last published value as JSON", () =>
  inFolder(async (folder) => {
    const path = join(folder, "game.sqlite");
    await withApp(path, async ({ client }, rows) => {
      const handle = await client.start(told, { id: "w", args: [3] });
      await until("three awaits", () => rows()[0]?.phase === 3);
      assert.deepEqual(rows(), [{ phase: 3, state: null }]);
      await handle.signal(go, { hp: 7, at: ["here"] });
      await until("it is shown", () => rows()[0]?.state !== null);
      assert.deepEqual(rows(), [{ phase: 4, state: '{"hp":7,"at":["here"]}' }]);
    });
    // Another process resumes from history, and publishes the same.
    await withApp(path, async ({ client, engine }, rows) => {
      assert.deepEqual(rows(), [{ phase: 4, state: '{"hp":7,"at":["here"]}' }]);
      const handle = client.getHandle(told, "w");
      await handle.signal(go, null);
      await until("null", () => rows()[0]?.state === "null");
      assert.equal(rows()[0]?.phase, 5);
      await handle.signal(go, { hp: 6 });
      await until("six", () => rows()[0]?.phase === 6);
      const [hp] = engine.sql("SELECT state ->> '$.hp' AS hp FROM workflow WHERE phase >= 6");
      assert.deepEqual(hp, { hp: 6 });
      await handle.signal(go, "end");
      await handle.result();
      assert.deepEqual(
        rows("status = 'completed'"),
        [{ phase: 7, state: '{"hp":6}' }],
        "it stays behind the end",
      );
    });
  }));

test("a state that is not JSON or is too long is not published; the next valid one is", () =>
  inFolder((folder) =>
    withApp(join(folder, "game.sqlite"), async ({ client }, rows) => {
      const handle = await client.start(told, { id: "w", args: [0] });
      for (
        const [state, seen] of [["a", '"a"'], ["long", null], ["b", '"b"'], ["bytes", null], [
          1.5,
          "1.5",
        ]] as const
      ) {
        const phase = rows()[0]?.phase ?? 0;
        await handle.signal(go, state);
        await until("the task is done", () => rows()[0]?.phase === phase + 1);
        assert.equal(rows()[0]?.state, seen, String(state));
      }
    })
  ));

test("phase and state start again in the run after continue-as-new", () =>
  inFolder((folder) =>
    withApp(join(folder, "game.sqlite"), async ({ client }, rows) => {
      const handle = await client.start(told, { id: "w", args: [0] });
      await handle.signal(go, "before");
      await handle.signal(go, "again");
      await until("the next run waits", () =>
        rows("status = 'suspended' AND phase = 0").length === 1);
      assert.deepEqual(rows("cause = 'continued as new'"), [{ phase: 2, state: '"before"' }]);
      assert.deepEqual(rows("status = 'suspended'"), [{ phase: 0, state: null }]);
    })
  ));

test("with a codec the tables contain no value", () =>
  inFolder((folder) =>
    withApp(join(folder, "game.sqlite"), async ({ client }, rows) => {
      const handle = await client.start(told, { id: "w", args: [0] });
      await handle.signal(go, "secret");
      await until("the task is done", () => rows()[0]?.phase === 1);
      assert.deepEqual(rows(), [{ phase: 1, state: null }]);
    }, { codec: invertingCodec() })
  ));

test("a removed run leaves no state behind", () =>
  inFolder((folder) =>
    withApp(join(folder, "game.sqlite"), async ({ client, engine }) => {
      const handle = await client.start(told, { id: "w", args: [0] });
      await handle.signal(go, "a");
      await handle.signal(go, "end");
      await handle.result();
      assert.equal(engine.sql("SELECT 1 FROM run_states").length, 1);
      assert.equal(await engine.purge({ closedBefore: Date.now() + 1000 }), 1);
      assert.deepEqual(engine.sql("SELECT * FROM run_states"), []);
    })
  ));

for (const { driver, skip } of sqliteDrivers) {
  test(
    `older files get the new columns at opening: ${driver}`,
    { skip },
    () =>
      inFolder(async (folder) => {
        const path = join(folder, "game.sqlite");
        const all =
          "SELECT id, run_id, status, cause, entity_id, correlation_id, history_length FROM workflow ORDER BY run_id";
        const timers = "SELECT workflow_id, timer_id, fires_ms FROM workflow_timer";
        let before: unknown[] = [];
        const sqlite = { engine: { driver } } as Partial<OpenOptions>;
        await withApp(path, async ({ client, engine }, rows) => {
          await client.start(told, { id: "waits", args: [2], entityId: "42", correlationId: "c" });
          const done = await client.start(told, { id: "done", args: [0] });
          await done.signal(go, "end");
          await done.result();
          await until(
            "both are known",
            () => rows("phase = 2 OR status = 'completed'").length === 2,
          );
          before = [engine.sql(all), engine.sql(timers)];
        }, sqlite);
        downgradeFile(path, driver, 2);
        await withApp(path, async ({ client, engine }, rows) => {
          assert.deepEqual([engine.sql(all), engine.sql(timers)], before);
          assert.deepEqual(
            rows(),
            [{ phase: null, state: null }, { phase: null, state: null }],
            "nothing is published yet",
          );
          await client.getHandle(told, "waits").signal(go, "now");
          await until(
            "the next task publishes",
            () => rows("phase = 3 AND state = '\"now\"'").length === 1,
          );
        }, sqlite);
      }),
  );
}

test("after random operations the views agree with lists, descriptions and queries", () =>
  inFolder(async (folder) => {
    const { comparisons, rows } = await randomViews({
      path: join(folder, "views.sqlite"),
      operations: 400,
      slice: 50,
      seed: 7,
    });
    assert.equal(comparisons, 8);
    assert.ok(rows > 100, `${rows} rows`);
  }));
