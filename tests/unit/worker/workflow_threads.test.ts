// Workers whose workflow code runs in several threads: the behavior is that of one thread, and
// losing a thread does not affect the others.
// takes: 7 s
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLogger } from "../../../ts/client/mod.ts";
import { Worker, WorkflowReplacementError } from "../../../ts/worker/mod.ts";
import { onBothStores, withEngine } from "../../support/services.ts";
import { until } from "../../support/until.ts";
import { go, length, spins, talks } from "./modules/flows.ts";

const workflows = new URL("./modules/flows.ts", import.meta.url);
const activities = { shout: (text: string) => text.toUpperCase() };

for (const cachedWorkflows of [0, 1, 1000]) {
  test(`two threads with ${cachedWorkflows} runs cached: signals, activities, queries of open and of closed runs`, () =>
    withEngine(
      "memory",
      {},
      (t) =>
        t.work({ workflows, activities, cachedWorkflows, workflowThreads: 2 }, async (worker) => {
          assert.ok(worker.workflowTypes.includes("Talks"));
          const handles = await Promise.all(
            Array.from(
              { length: 12 },
              (_, i) => t.client.start(talks, { id: `${i}`, args: [`${i}`] }),
            ),
          );
          for (const handle of handles) assert.equal(await handle.query(length), 7);
          await Promise.all(handles.map((handle) => handle.signal(go, "x")));
          assert.deepEqual(
            await Promise.all(handles.map((handle) => handle.result())),
            handles.map((_, i) => `${i} SAYS X`),
          );
          for (const handle of handles) assert.equal(await handle.query(length), 7);
        }),
    ));
}

test("only the workflow with an infinite loop fails; runs of both threads continue", () =>
  withEngine("memory", {}, async (t) => {
    const failed: string[] = [];
    const events = {
      workflowTaskFailed: ({ workflowId }: { workflowId: string }) => void failed.push(workflowId),
    };
    await t.work(
      { workflows, activities, events, watchdogMs: 2000, workflowThreads: 2 },
      async () => {
        const neighbors = await Promise.all(
          Array.from({ length: 10 }, (_, i) => t.client.start(talks, { id: `n${i}`, args: ["n"] })),
        );
        const spinning = await t.client.start(spins, { id: "spins" });
        for (const handle of neighbors) await handle.signal(go, "still here");
        assert.deepEqual(
          await Promise.all(neighbors.map((handle) => handle.result())),
          neighbors.map(() => "N SAYS STILL HERE"),
        );
        await until("the spinner was stopped", () => failed.length > 0);
        assert.ok(failed.every((id) => id === "spins"), `another task failed: ${failed}`);
        await spinning.terminate();
      },
    );
  }));

const waits = (before: string, ending: string) =>
  `import { activities, signal, sleep, waitForSignal, workflow } from "temporalex/workflow";
const acts = activities({ startToClose: "10s" });
export const waits = workflow("Waits", async (name) => { ${before} await acts.step(name); await waitForSignal(signal("go")); ${ending} });`;

onBothStores("new workflow code is checked and goes live in every thread", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-threads-"));
  const path = join(folder, "workflows.ts");
  try {
    writeFileSync(path, waits("", "return name + ' old';"));
    const steps: string[] = [];
    const step = (name: string) => void steps.push(name);
    await t.work({ workflows: path, activities: { step }, workflowThreads: 2 }, async (worker) => {
      const handles = await Promise.all(
        Array.from(
          { length: 10 },
          (_, i) => t.client.start("Waits", { id: `w${i}`, args: [`w${i}`] }),
        ),
      );
      await until("all have done their step", () => steps.length === 10);
      writeFileSync(path, waits("await sleep(1000);", "return 'never';"));
      await assert.rejects(worker.replaceWorkflows(), WorkflowReplacementError);
      writeFileSync(path, waits("", "return name + ' new';"));
      const { checkedRuns } = await worker.replaceWorkflows();
      assert.ok(checkedRuns >= 10);
      await Promise.all(handles.map((handle) => handle.signal("go")));
      assert.deepEqual(
        await Promise.all(handles.map((handle) => handle.result())),
        handles.map((_, i) => `w${i} new`),
      );
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("threads are rejected with an invalid number, with definitions, with an inline realm, and with a custom realm", () =>
  withEngine("memory", {}, async ({ service }) => {
    const create = (options: object) =>
      Worker.create({ service, taskQueue: "q", logger: silentLogger, ...options });
    for (const workflowThreads of [0, 1.5, 65]) {
      await assert.rejects(create({ workflows, workflowThreads }), {
        name: "RangeError",
        message:
          `the worker's workflowThreads must be a whole number from 1 to 64, not ${workflowThreads}`,
      });
    }
    for (const options of [{ workflows: [talks] }, { workflows, realm: "inline" }]) {
      await assert.rejects(
        create({ ...options, workflowThreads: 2 }),
        /workflowThreads is for realms in threads/,
      );
    }
  }));
