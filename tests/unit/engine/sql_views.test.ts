// The views of workflows: the document's columns and statements, at each state of a workflow's
// life.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type App, open, silentLogger } from "../../../ts/mod.ts";
import type { SqliteStore } from "../../../ts/engine/sqlite/store.ts";
import {
  ApplicationFailure,
  continueAsNew,
  defineSearchAttributeKey,
  procedure,
  signal,
  timer,
  upsertSearchAttributes,
  waitForSignal,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { until } from "../../support/until.ts";
import { inFolder } from "./support/stores.ts";

const go = signal<[n: number]>("go");
const subscription = defineSearchAttributeKey("WorkflowSubscription", "KEYWORD_LIST");

const waits = workflow("waits", async (n: number): Promise<unknown> => {
  if (n > 0) return continueAsNew(n - 1);
  void timer("arrival", "1 hour");
  return await waitForSignal(go);
});
const buff = workflow("buff", async () => {
  upsertSearchAttributes([{
    key: subscription,
    value: ["enemy_killed:", "enemy_killed:orc", "item:", "item:a:b", "stand_down"],
  }]);
  return await procedure<number>("compute_damage", [7, { power: 3 }]);
});
const asksLong = workflow("asksLong", (text: string) => procedure<string>("review", [text]));
const fails = workflow("fails", async () => {
  await waitForSignal(go);
  throw new ApplicationFailure("no");
});

const bug = workflow("bug", () => {
  throw new TypeError("not fixed yet");
});

/** As the document has them. */
const DOCUMENTS = [
  "SELECT * FROM workflow WHERE entity_id = 42;",
  "SELECT * FROM workflow\nWHERE entity_id = 42\nAND workflow_type = 'buff'\nAND status IN ('Running', 'Suspended');",
  "SELECT id FROM workflow WHERE correlation_id = 'spell-uuid-here';",
];

async function withApp(body: (app: App, store: SqliteStore) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    const path = join(folder, "game.sqlite");
    const app = await open({
      path,
      workflows: { waits, buff, asksLong, fails, bug },
      logger: silentLogger,
      serve: false,
    });
    try {
      await body(app, app.engine.store as SqliteStore);
    } finally {
      await app.close();
    }
  });
}

test("the statements of the document return what it states", () =>
  withApp(async ({ client }, store) => {
    const belonging = { entityId: "42", correlationId: "spell-uuid-here" };
    await client.start(buff, { id: "buff-1", args: [], ...belonging });
    await client.start(waits, { id: "waits-1", args: [0], ...belonging });
    await client.start(waits, { id: "waits-2", args: [0], entityId: "43" });
    const ids = (sql: string) => store.sql(sql).map((row) => row["id"]).sort();
    await until(
      "all wait",
      () => store.sql("SELECT 1 FROM workflow WHERE status = 'suspended'").length === 3,
    );
    assert.deepEqual(DOCUMENTS.map(ids), [["buff-1", "waits-1"], ["buff-1"], [
      "buff-1",
      "waits-1",
    ]]);
    assert.deepEqual(ids("SELECT id FROM workflow WHERE entity_id = '43'"), ["waits-2"]);
    assert.deepEqual(ids("SELECT id FROM workflow WHERE entity_id IN (42, 43)"), [
      "buff-1",
      "waits-1",
      "waits-2",
    ]);
  }));

const here = fileURLToPath(new URL("../../..", import.meta.url));
// Compiled tests run in dist.
const root = basename(here) === "dist" ? dirname(here) : here;
const document = join(root, "../shared/seeds/database-workflow-engine.md");
test("the tested statements are those of the document", {
  skip: existsSync(document) ? false : "no document here",
}, () => {
  const text = readFileSync(document, "utf8");
  for (const sql of DOCUMENTS) assert.ok(text.includes(sql.split("\n")[0]!), sql);
  assert.equal(text.match(/^SELECT /gm)?.length, DOCUMENTS.length);
});

test("views contain states, timers, procedures and subscriptions while they exist", () =>
  withApp(async ({ client }, store) => {
    const rows = (sql: string) => store.sql(sql);
    const status = (id: string) =>
      rows(`SELECT status, cause FROM workflow WHERE id = '${id}' AND next_run_id IS NULL`)[0];
    const later = await client.start(waits, { id: "later", args: [0], startDelay: "1 hour" });
    assert.deepEqual(status("later"), { status: "Created", cause: null });
    await later.terminate();
    const handle = await client.start(waits, { id: "w", args: [1] });
    await until(
      "it has continued as new",
      () => rows("SELECT 1 FROM workflow_timer WHERE workflow_id = 'w'").length === 1,
    );
    await client.getHandle(waits, "w").signal(go, 5);
    assert.equal(await handle.result(), 5);
    assert.deepEqual(
      rows(
        "SELECT status, cause, next_run_id IS NULL AS last FROM workflow WHERE id = 'w' ORDER BY last",
      ),
      [
        { status: "Completed", cause: "continued as new", last: 0 },
        { status: "Completed", cause: null, last: 1 },
      ],
    );
    assert.deepEqual(rows("SELECT * FROM workflow_timer"), [], "a closed run has none");

    await client.start(waits, { id: "t", args: [0] });
    const procedures = await client.start(buff, { id: "b", args: [] });
    await until(
      "both wait",
      () => rows("SELECT 1 FROM workflow WHERE status = 'SUSPENDED'").length === 2,
    );
    const [timer] = rows("SELECT workflow_id, name, fires_ms FROM workflow_timer");
    assert.deepEqual({ ...timer, fires_ms: 0 }, { workflow_id: "t", name: "arrival", fires_ms: 0 });
    assert.ok(Math.abs(Number(timer!["fires_ms"]) - Date.now() - 3_600_000) < 600_000);
    assert.deepEqual(rows("SELECT workflow_id, name, args FROM pending_procedure"), [
      { workflow_id: "b", name: "compute_damage", args: '[7,{"power":3}]' },
    ]);
    assert.deepEqual(
      rows(
        "SELECT workflow_id, signal_name, filter FROM workflow_subscription ORDER BY signal_name",
      ),
      [
        { workflow_id: "b", signal_name: "enemy_killed", filter: "orc" },
        { workflow_id: "b", signal_name: "item", filter: "a:b" },
        { workflow_id: "b", signal_name: "stand_down", filter: null },
      ],
    );
    assert.deepEqual(rows("SELECT id FROM last_workflow_id"), [{ id: "b" }]);

    await client.completeProcedure({ workflow: "b", name: "compute_damage" }, 12);
    assert.equal(await procedures.result(), 12);
    assert.deepEqual(rows("SELECT * FROM pending_procedure"), []);
    assert.deepEqual(rows("SELECT * FROM workflow_subscription"), []);
    // The engine stores long arguments apart from the rest.
    const text = "x".repeat(10_000);
    const long = await client.start(asksLong, { id: "l", args: [text] });
    const asked = () =>
      rows(
        "SELECT name, args FROM pending_procedure WHERE workflow_id = 'l'",
      );
    await until("the long procedure is pending", () => asked().length === 1);
    assert.deepEqual(asked(), [{ name: "review", args: JSON.stringify([text]) }]);
    await client.completeProcedure({ workflow: "l", name: "review" }, "good");
    assert.equal(await long.result(), "good");
    assert.deepEqual(asked(), []);
    const failing = await client.start(fails, { id: "f", args: [] });
    await failing.signal(go, 1);
    await assert.rejects(failing.result());
    assert.deepEqual(status("f"), { status: "Failed", cause: null });
    await client.getHandle(waits, "t").terminate();
    assert.deepEqual(status("t"), { status: "Failed", cause: "terminated" });
    const cancelled = await client.start(waits, { id: "c", args: [0] });
    await cancelled.cancel();
    await assert.rejects(cancelled.result());
    assert.deepEqual(status("c"), { status: "Cancelled", cause: null });
    assert.deepEqual(store.check(), []);
  }));

test("a run is Running from the start of its first task, also while that task keeps failing", () =>
  withApp(async ({ client }, store) => {
    const statuses = () =>
      store.sql("SELECT id FROM workflow WHERE status IN ('Running', 'Suspended')").map((row) =>
        row["id"]
      );
    await client.start(waits, { id: "no-worker", args: [0], taskQueue: "unserved" });
    await client.start(bug, { id: "bug", args: [] });
    await until("the failing run is open", () => statuses().length > 0);
    // Between two attempts it is Running as well.
    const attempts = () =>
      client.getHandle(bug, "bug").describe().then((run) => run.pendingWorkflowTask?.attempt ?? 0);
    let last = 0;
    while (last < 2) {
      last = await attempts();
      assert.deepEqual(statuses(), ["bug"]);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }));
