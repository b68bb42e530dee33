// A separate process for the size bench: so many runs of a workflow that waits for messages, each
// after its first task in the cache of an inline realm. Prints what they take of the JavaScript
// heap, of the core's memory and of the process.
import process from "node:process";
import { memoryBytes } from "../../ts/core/half.ts";
import { createInlineRealm } from "../../ts/realm/mod.ts";
import * as programs from "./programs.ts";
import { firstTask } from "./tasks.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";

const { gc } = globalThis as { gc?: () => void };
const workflows = Number(process.argv[2]);
const realm = await createInlineRealm({
  workflows: programs,
  cacheSize: workflows + 1000,
  runOptions: { stickyQueue: "sticky" },
});
let next = 0;
async function run(): Promise<void> {
  const outcome = await realm.runTask(readWorkflowTask(firstTask("Idle", `run-${next++}`)));
  if (outcome.response?.$case !== "completed" || outcome.evict) {
    throw new Error(`the task failed: ${outcome.error?.message}`);
  }
}
/** After a moment in which promises and buffers of the last tasks are released. */
async function used(): Promise<{ heap: number; wasm: number; rss: number }> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc?.();
  }
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed, wasm: memoryBytes(), rss };
}
for (let i = 0; i < 200; i++) await run();
const before = await used();
for (let i = 0; i < workflows; i++) await run();
const after = await used();
process.stdout.write(JSON.stringify({
  workflows,
  heapBytes: after.heap - before.heap,
  wasmBytes: after.wasm - before.wasm,
  rssBytes: after.rss - before.rss,
}));
await realm.dispose();
