// Runs of a workflow type without code: they stay open, report why they wait, block nothing else,
// and continue when the code is back.
// takes: 4 s
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { MemoryStore } from "../../../ts/engine/memory_store.ts";
import { open, silentLogger } from "../../../ts/mod.ts";
import { run } from "../cli/support/run.ts";
import { until } from "../../support/until.ts";

const HERE = `export const here = workflow("Here", async () => "here");`;
const GONE = `export const gone = workflow("Gone", async (n) => {
  await sleep("10ms");
  return n * 2;
});`;
const source = (...workflows: string[]) =>
  [`import { sleep, workflow } from "temporalex/workflow";`, ...workflows].join("\n");

async function withModule(
  body: (path: string, write: (...workflows: string[]) => void) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-unknown-"));
  const path = join(folder, "workflows.ts");
  try {
    await body(path, (...workflows) => writeFileSync(path, source(...workflows)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("a run of an unknown type waits and is reported; it continues when the application is opened with its code", () =>
  withModule(async (path, write) => {
    const store = new MemoryStore();
    const options = { workflows: path, logger: silentLogger, engine: { store } };
    write(HERE);
    let app = await open(options);
    const handle = await app.client.start("Gone", { id: "g", args: [21] });
    await until(
      "its task has failed once",
      async () => ((await handle.describe()).pendingWorkflowTask?.attempt ?? 1) > 1,
    );
    assert.equal(await app.client.execute("Here", { id: "h" }), "here", "others are not held up");
    const { status, historyLength } = await handle.describe();
    assert.deepEqual([status, historyLength], ["RUNNING", 4], "its history grows no further");
    assert.match(
      await handle.historyJson(),
      /workflow type \\"Gone\\" is not known to this worker; it has \\"Here\\"/,
    );
    await app.close();
    write(HERE, GONE);
    app = await open(options);
    assert.equal(await app.client.getHandle(undefined, "g").result(), 42);
    await app.close();
  }));

test("reloading a module resumes runs whose code is back; runs without code keep waiting", () =>
  withModule(async (path, write) => {
    write(HERE);
    const app = await open({ workflows: path, logger: silentLogger });
    const handle = await app.client.start("Gone", { id: "g", args: [4], taskTimeout: "1s" });
    await until(
      "its task has failed once",
      async () => ((await handle.describe()).pendingWorkflowTask?.attempt ?? 1) > 1,
    );
    write(HERE, `export const other = workflow("Other", async () => "other");`);
    assert.deepEqual((await app.worker.replaceWorkflows()).workflowTypes, ["Here", "Other"]);
    assert.equal(
      await app.client.execute("Other", { id: "o" }),
      "other",
      "a new type is known from its first use on",
    );
    assert.equal((await handle.describe()).status, "RUNNING");
    write(HERE, GONE);
    await app.worker.replaceWorkflows();
    assert.equal(await handle.result(), 8);
    await app.close();
  }));

test("a reload does not remove code that has open runs", () =>
  withModule(async (path, write) => {
    write(HERE, GONE.replace("10ms", "10 days"));
    const app = await open({ workflows: path, logger: silentLogger });
    const handle = await app.client.start("Gone", { id: "g", args: [1] });
    await until("it sleeps", async () => (await handle.describe()).historyLength >= 5);
    write(HERE);
    await assert.rejects(app.worker.replaceWorkflows(), /Gone/);
    await app.close();
  }));

test("workflow result for a run without code fails after its timeout with the advice to start a worker with its code", () =>
  withModule(async (path, write) => {
    write(HERE);
    const store = join(dirname(path), "app.sqlite");
    const app = await open({ path: store, workflows: path, logger: silentLogger, serve: true });
    try {
      await app.served;
      const handle = await app.client.start("Gone", { id: "g", args: [21] });
      await until(
        "its task has failed once",
        async () => ((await handle.describe()).pendingWorkflowTask?.attempt ?? 1) > 1,
      );
      const { code, err } = await run([
        "workflow",
        "result",
        "--store",
        store,
        "-w",
        "g",
        "--timeout",
        "500ms",
      ]);
      assert.notEqual(code, 0);
      assert.match(
        err,
        /workflow type "Gone" is not known to this worker; .*Start a worker that has it; the workflow then continues/,
      );
    } finally {
      await app.close();
    }
  }));

test("workflow list marks only runs that wait for their code, as text and as JSON", () =>
  withModule(async (path, write) => {
    write(HERE, `export const sleeps = workflow("Sleeps", async () => await sleep("10 days"));`);
    const store = join(dirname(path), "app.sqlite");
    const app = await open({ path: store, workflows: path, logger: silentLogger, serve: true });
    const list = async (...more: string[]) => {
      const { code, out, err } = await run(["workflow", "list", "--store", store, ...more]);
      assert.equal(code, 0, err);
      return out;
    };
    try {
      await app.served;
      await app.client.start("Sleeps", { id: "s" });
      await app.client.execute("Here", { id: "h" });
      const handle = await app.client.start("Gone", { id: "g", args: [21] });
      await until(
        "its task has failed once",
        async () => ((await handle.describe()).pendingWorkflowTask?.attempt ?? 1) > 1,
      );
      const text = await list();
      assert.match(text, /^Running +g +Gone \(waits for its code: no worker knows it\) /m);
      assert.match(text, /^Running +s +Sleeps +\S/m);
      assert.equal(text.match(/waits for its code/g)?.length, 1);
      const listed = JSON.parse(await list("--json")) as {
        workflowId: string;
        waitsForCode?: boolean;
        workflowTaskFailure?: object;
      }[];
      assert.deepEqual(
        listed.map(({ workflowId, waitsForCode }) => [workflowId, waitsForCode]).sort(),
        [
          ["g", true],
          ["h", undefined],
          ["s", undefined],
        ],
      );
      const told = listed.find(({ workflowId }) => workflowId === "g")!.workflowTaskFailure as {
        message: string;
      };
      assert.match(
        told.message,
        /^workflow type "Gone" is not known to this worker; it has "Here", "Sleeps"/,
      );
    } finally {
      await app.close();
    }
    // No process has the store: what was recorded says it, too.
    assert.match(await list(), /^Running +g +Gone \(waits for its code/m);
  }));
