// The process that is killed while all runs wait in a local activity: `waiting_child STORE RUNS`.
import { writeSync } from "node:fs";
import process from "node:process";
import { activityContext, sleep } from "../../../ts/activity/mod.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import { open } from "../../../ts/mod.ts";

const [path, runs] = process.argv.slice(2) as [string, string];
const say = (line: string) => void writeSync(1, `${line}\n`);
const workflows = new URL(
  `./waiting_workflows.${import.meta.url.endsWith(".js") ? "js" : "ts"}`,
  import.meta.url,
);
let running = 0;
const activities = {
  async wait() {
    say(`waits ${++running}`);
    await sleep("10 minutes");
    return activityContext().info.workflowId;
  },
};
const app = await open({ path, workflows, activities, logger: silentLogger, serve: false });
for (let i = 0; i < Number(runs); i++) {
  await app.client.start("Waiting", {
    id: `waiting-${i}`,
    args: [],
    idConflictPolicy: "USE_EXISTING",
  });
}
say("open");
const began = performance.now();
const result = await app.client.execute("Fast", {
  id: `fast-${process.pid}-${Date.now()}`,
  args: [1],
});
say(`fast ${Math.round(performance.now() - began)} ${result}`);
say(`held ${app.engine.heldRuns().length}`);
