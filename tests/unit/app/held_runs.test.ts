// A run on which the process died twice in a row: held, shown as such, and released. The note next
// to the store reports the deaths; tests/unit/engine/poison.test.ts has real ones.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type App, open } from "../../../ts/mod.ts";
import { waitForSignal, workflow } from "../../../ts/workflow/mod.ts";
import { run } from "../cli/support/run.ts";
import { until } from "../../support/until.ts";

const go = { kind: "signal", name: "go" } as const;
const waits = workflow("Waits", async () => await waitForSignal<[string]>(go));
const calm = workflow("Calm", () => Promise.resolve("calm"));

type Line = {
  readonly level: string;
  readonly message: string;
  readonly fields: { readonly [name: string]: unknown };
};

async function started(path: string, lines: Line[] = []): Promise<App> {
  const log = (level: string) => (message: string, fields = {}) =>
    void lines.push({ level, message, fields });
  const logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  return await open({ path, workflows: [{ waits, calm }], logger });
}

async function inFolder(body: (store: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-held-"));
  try {
    await body(join(folder, "store.db"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As a process leaves it that dies while a task of this run, and of no other, is running. */
const dies = (store: string, workflowId: string, runId: string) =>
  writeFileSync(
    `${store}-tasks`,
    `${JSON.stringify({ runs: [[workflowId, runId, "Waits"]], ms: 500 })}\n`,
    { mode: 0o600 },
  );

const held = (body: (store: string, app: App, lines: Line[], runId: string) => Promise<void>) =>
  inFolder(async (store) => {
    let app = await started(store);
    const { runId } = await app.client.start(waits, { id: "cart 1", args: [] });
    await app.close();
    assert.ok(!existsSync(`${store}-tasks`), "an end in order leaves nothing");
    for (let death = 1; death <= 2; death++) {
      dies(store, "cart 1", runId!);
      const lines: Line[] = [];
      app = await started(store, lines);
      try {
        const told = lines.find(({ message }) => message.startsWith("the previous process ended"));
        assert.deepEqual(told?.fields["runs"], [`Waits "cart 1" (run ${runId})`]);
        if (death === 2) await body(store, app, lines, runId!);
      } finally {
        await app.close();
      }
    }
  });

test("a held run is logged at the start, described and listed as paused, and does nothing; others continue", () =>
  held(async (store, app, lines, runId) => {
    const line = lines.find(({ message }) => message.startsWith("held: "));
    assert.deepEqual([line?.level, line?.fields["workflowId"], line?.fields["runId"]], [
      "error",
      "cart 1",
      runId,
    ]);
    assert.deepEqual(app.engine.heldRuns().map((run) => [run.workflowId, run.deaths]), [[
      "cart 1",
      2,
    ]]);

    const handle = app.client.getHandle(waits, "cart 1");
    const refused = /held: the process died.* temporalex workflow release --workflow-id 'cart 1'/;
    await assert.rejects(handle.with({ timeout: "60s" }).query("__stack_trace"), refused);
    await handle.signal(go as never, "ada");
    // Its task is given and waits now, and a query would go with it.
    await until("a task that waits", async () => {
      const { pendingWorkflowTask } = await handle.describe();
      return (pendingWorkflowTask?.attempt ?? 0) > 1;
    });
    await assert.rejects(handle.with({ timeout: "60s" }).query("__stack_trace"), refused);
    await assert.rejects(
      app.client.getHandle(waits, "cart 1", runId).with({ timeout: "60s" }).query("__stack_trace"),
      refused,
    );
    assert.equal(await app.client.execute(calm, { id: "other", args: [] }), "calm");
    assert.equal((await app.client.getHandle(calm, "other").describe()).status, "COMPLETED");
    const description = await handle.describe();
    assert.equal(description.status, "PAUSED");
    assert.match(
      description.paused!.reason,
      /^held: the process died 2 times .* workflow release --workflow-id 'cart 1'$/,
    );
    const listed: { [id: string]: string } = {};
    for await (const { workflowId, status } of app.client.list()) listed[workflowId] = status;
    assert.deepEqual(listed, { "cart 1": "PAUSED", other: "COMPLETED" });
    const { events } = await handle.fetchHistory();
    const failed = events.find(({ attributes }) =>
      attributes.case === "workflowTaskFailedEventAttributes"
    );
    assert.match(
      (failed?.attributes.value as { failure: { message: string } }).failure.message,
      /^held: /,
      "the history says why",
    );

    const text = await run(["workflow", "describe", "-w", "cart 1", "--store", store]);
    assert.match(text.out, /Status +Paused[\s\S]*Paused +held: the process died 2 times/, text.err);
    const json = await run([
      "workflow",
      "list",
      "--store",
      store,
      "--query",
      'WorkflowType = "Waits"',
      "--json",
    ]);
    assert.equal(JSON.parse(json.out).status ?? JSON.parse(json.out)[0].status, "PAUSED");
  }));

test("the command releases a held run while its process runs; then the run continues", () =>
  held(async (store, app) => {
    const handle = app.client.getHandle(waits, "cart 1");
    await handle.signal(go as never, "ada");
    const wrong = await run(["workflow", "release", "-w", "cart-2", "--store", store]);
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /workflow cart-2 is not held in .*; held are cart 1/);
    const cluster = await run(["workflow", "release", "-w", "cart 1", "--address", "localhost:1"]);
    assert.equal(cluster.code, 2);
    const released = await run(["workflow", "release", "-w", "cart 1", "--store", store, "--json"]);
    assert.equal(released.code, 0, released.err);
    assert.equal(JSON.parse(released.out).released.length, 1);
    assert.deepEqual(await handle.with({ timeout: "60s" }).result(), "ada");
    assert.equal((await handle.describe()).status, "COMPLETED");
  }));

test("the API releases a held run, and a run that closes is no longer held", () =>
  held(async (_store, app) => {
    assert.deepEqual(app.engine.release("another"), []);
    assert.equal(app.engine.release("cart 1").length, 1);
    assert.deepEqual(app.engine.heldRuns(), []);
    const handle = app.client.getHandle(waits, "cart 1");
    await handle.signal(go as never, "bob");
    assert.deepEqual(await handle.with({ timeout: "60s" }).result(), "bob");
  }));

for (const name of ["tasks", "held"]) {
  test(`something else called <store>-${name} is in the way, and is not touched`, () =>
    inFolder(async (store) => {
      const path = `${store}-${name}`;
      writeFileSync(path, "- buy milk\n");
      await assert.rejects(
        started(store).then((app) => app.close()),
        /-(?:tasks|held) blocks the store .* Move it, or choose another name/,
      );
      assert.equal(readFileSync(path, "utf8"), "- buy milk\n");
      rmSync(path);
      mkdirSync(path);
      await assert.rejects(started(store).then((app) => app.close()), /blocks the store/);
      rmSync(path, { recursive: true });
      // What a power failure leaves of a note.
      writeFileSync(path, "\0\0\0");
      await (await started(store)).close();
    }));
}

test("a file that appears with the name of a note while the store is open is not changed", () =>
  inFolder(async (store) => {
    const app = await started(store);
    try {
      writeFileSync(`${store}-tasks`, "- buy milk\n");
      assert.equal(await app.client.execute(calm, { id: "w", args: [] }), "calm");
    } finally {
      await app.close();
    }
    assert.equal(readFileSync(`${store}-tasks`, "utf8"), "- buy milk\n");
  }));
