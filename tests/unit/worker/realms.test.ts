// Workers whose workflows run in a thread: loading, log lines, a spinning neighbor, nothing left
// behind.
// takes: 6 s
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { liveHandles } from "../../../ts/core/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import type { LogFields } from "../../../ts/base/logger.ts";
import { onBothStores, withEngine } from "../../support/services.ts";
import { until } from "../../support/until.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { go, length, sleeps, spins, talks } from "./modules/flows.ts";
import { markedConverter } from "./modules/marked_converter.ts";

const workflows = new URL("./modules/flows.ts", import.meta.url);
const activities = { shout: (text: string) => text.toUpperCase() };

onBothStores("workflows run in a thread; their log lines reach the worker's logger", async (t) => {
  const lines: [string, LogFields | undefined][] = [];
  const logger = {
    ...silentLogger,
    info: (message: string, fields?: LogFields) => void lines.push([message, fields]),
  };
  await t.work({ workflows, activities, logger }, async () => {
    const handle = await t.client.start(talks, { id: "1", args: ["ada"] });
    assert.equal(await handle.query(length), 7);
    await handle.signal(go, "hi");
    assert.equal(await handle.result(), "ADA SAYS HI");
    assert.equal(lines.length, 1, "replays are silent");
    const [message, fields] = lines[0]!;
    assert.equal(message, "hello");
    assert.equal(fields!["name"], "ada");
    assert.equal(fields!["workflowId"], "1");
    assert.ok(Math.abs(Date.parse(String(fields!["workflowTime"])) - Date.now()) < 60_000);
  });
});

for (const cachedWorkflows of [0, 1, 1000]) {
  test(`in a thread with ${cachedWorkflows} cached`, () =>
    withEngine("memory", {}, (t) =>
      t.work({ workflows, activities, cachedWorkflows }, async () => {
        const handles = await Promise.all(
          Array.from(
            { length: 8 },
            (_, i) => t.client.start(talks, { id: `${i}`, args: [`${i}`] }),
          ),
        );
        for (const handle of handles) assert.equal(await handle.query(length), 7);
        await Promise.all(handles.map((handle) => handle.signal(go, "x")));
        assert.deepEqual(
          await Promise.all(handles.map((handle) => handle.result())),
          handles.map((_, i) => `${i} SAYS X`),
        );
      })));
}

test("a workflow with an infinite loop is stopped, and the others continue", () =>
  withEngine("memory", {}, async (t) => {
    const failed: string[] = [];
    const events = {
      workflowTaskFailed: ({ workflowId }: { workflowId: string }) => void failed.push(workflowId),
    };
    await t.work({ workflows, activities, events, watchdogMs: 2000 }, async () => {
      const neighbors = await Promise.all(
        Array.from({ length: 5 }, (_, i) => t.client.start(talks, { id: `n${i}`, args: ["n"] })),
      );
      const spinning = await t.client.start(spins, { id: "spins" });
      for (const handle of neighbors) await handle.signal(go, "still here");
      assert.deepEqual(
        await Promise.all(neighbors.map((handle) => handle.result())),
        neighbors.map(() => "N SAYS STILL HERE"),
      );
      await until("the spinner was stopped", () => failed.length > 0);
      assert.equal((await spinning.describe()).status, "RUNNING");
      assert.ok(failed.every((id) => id === "spins"), "no other task failed");
      await spinning.terminate();
    });
  }));

test("a module that does not load or exports no workflow is rejected with its name", () =>
  withEngine("memory", {}, async (t) => {
    const missing = new URL("./modules/nowhere.ts", import.meta.url);
    await assert.rejects(t.work({ workflows: missing }, () => Promise.resolve()), /nowhere/);
    const none = new URL("./modules/computing.ts", import.meta.url);
    await assert.rejects(
      t.work({ workflows: none }, () => Promise.resolve()),
      (error: Error) => /computing|workflow/.test(error.message),
    );
    await assert.rejects(
      t.work({ workflows: [talks], realm: "worker" }, () => Promise.resolve()),
      /give the URL of their module/,
    );
    await assert.rejects(t.work({ realm: "inline" }, () => Promise.resolve()), /needs workflows/);
    await assert.rejects(t.work({ workflows: [] }, () => Promise.resolve()), /not an empty list/);
  }));

test("modules can run inline, and a stopped worker leaves no run in the core", () =>
  withEngine("memory", {}, async (t) => {
    const before = liveHandles();
    await t.work({ workflows, realm: "inline", activities }, async () => {
      const handles = await Promise.all(
        Array.from({ length: 5 }, (_, i) => t.client.start(talks, { id: `${i}`, args: [`${i}`] })),
      );
      await handles[0]!.query(length);
      await Promise.all(handles.map((handle) => handle.signal(go, "x")));
      await handles[0]!.result();
      assert.ok(liveHandles() >= before);
    });
    assert.equal(liveHandles(), before);
  }));

test("other startup work runs while the realm's thread starts", () =>
  withEngine("memory", {}, async (t) => {
    let give!: (service: typeof t.service) => void;
    const service = new Promise<typeof t.service>((resolve) => give = resolve);
    let told = 0;
    // Without the call there would never be a service.
    const worker = await Worker.create({
      ...{ service, taskQueue: t.taskQueue, workflows, logger: silentLogger },
      realmStarting() {
        told++;
        give(t.service);
      },
    });
    await worker.shutdown();
    assert.equal(told, 1);
  }));

test("virtual time skips sleeps of workflows in a thread", async () => {
  const env = await TestEnvironment.create({ startTime: 0, logger: silentLogger });
  await env.runWorker({ workflows }, async () => {
    assert.equal(await env.client.execute(sleeps, { id: "1" }), 7 * 86_400_000);
  });
  assert.ok(env.now() < 7 * 86_400_000 + 1000);
  await env.dispose();
});

test("workflows can be given as source text", () =>
  withEngine("memory", {}, (t) => {
    const sources = {
      "/flows/twice.ts": `import { workflow } from "temporalex/workflow";
        import { double } from "./double.ts";
        export const twice = workflow("Twice", { run: async (n: number) => double(n) });`,
      "/flows/double.ts": "export const double = (n: number): number => n * 2;",
    };
    return t.work({ workflows: "/flows/twice.ts", sources }, async () => {
      assert.equal(await t.client.execute("Twice", { id: "1", args: [21] }), 42);
    });
  }));

test("a realm entry of the application runs its workflows with its converter", () =>
  withEngine("memory", {}, (t) => {
    const realmEntry = new URL("./modules/own_entry.ts", import.meta.url);
    return t.work({ realmEntry, activities, converter: markedConverter }, async () => {
      const client = new Client({
        service: t.service,
        taskQueue: t.taskQueue,
        converter: markedConverter,
      });
      const handle = await client.start(talks, { id: "1", args: ["ada"] });
      await handle.signal(go, "hi");
      assert.equal(await handle.result(), "ADA SAYS HI");
      const text = new TextDecoder().decode(await handle.historyBytes());
      assert.match(text, /marked "ada"/);
      assert.match(text, /marked "ADA SAYS HI"/, "the workflow's result");
    });
  }));
