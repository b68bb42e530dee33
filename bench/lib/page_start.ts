// The same way in a page, with the core from the page's own origin (temporalex/slim) and a bundled
// realm: `benchStart` is called in a fresh page. The page's own script has been loaded then; its
// parts are what an import takes.
import { memoryBytes } from "../../ts/core/half.ts";
import { type CoreSources, createInlineRealm, open, type Realm, useCore } from "temporalex/slim";
import * as programs from "./programs.ts";
import { firstTask } from "./tasks.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";

async function benchStart(
  { core, realmEntry }: { core: CoreSources; realmEntry: string },
): Promise<unknown> {
  const began = performance.now();
  useCore(core);
  const app = await open({ worker: { realmEntry } });
  const opened = performance.now();
  const result = await app.client.execute(programs.nothing, { id: "first", args: [] });
  const done = performance.now();
  await app.close();
  if (result !== 1) throw new Error(`the workflow returned ${result}`);
  return { openMs: opened - began, firstResultMs: done - opened, totalMs: done - began };
}

let realm: Realm | undefined;
let next = 0;
/**
 * So many more runs of a workflow that waits, each after its first task in the cache of an inline
 * realm; the core's memory then, bytes.
 */
async function benchIdle({ core, runs }: { core: CoreSources; runs: number }): Promise<number> {
  useCore(core);
  realm ??= await createInlineRealm({
    workflows: programs,
    cacheSize: 1_000_000,
    runOptions: { stickyQueue: "sticky" },
  });
  for (let i = 0; i < runs; i++) {
    const outcome = await realm.runTask(readWorkflowTask(firstTask("Idle", `run-${next++}`)));
    if (outcome.response?.$case !== "completed" || outcome.evict) {
      throw new Error(`the task failed: ${outcome.error?.message}`);
    }
  }
  return memoryBytes();
}

Object.assign(globalThis, { benchStart, benchIdle });
