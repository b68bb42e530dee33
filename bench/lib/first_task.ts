// A separate process for the size bench: imports the executor and a workflow, runs the first task
// of one run in an inline realm, and prints how long that took. The module that the task's bytes
// come from is imported before the clock starts.
import process from "node:process";
import { firstTask } from "./tasks.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";

const bytes = firstTask("Nothing", "run-1");
const began = performance.now();
const [{ createInlineRealm }, programs] = await Promise.all([
  import("../../ts/realm/mod.ts"),
  import("./programs.ts"),
]);
const imported = performance.now();
const realm = await createInlineRealm({ workflows: programs });
const outcome = await realm.runTask(readWorkflowTask(bytes));
const done = performance.now();
if (outcome.response?.$case !== "completed") {
  throw new Error(`the task failed: ${outcome.error?.message}`);
}
await realm.dispose();
process.stdout.write(
  JSON.stringify({
    importMs: imported - began,
    firstTaskMs: done - began,
    sinceProcessStartMs: done,
  }),
);
