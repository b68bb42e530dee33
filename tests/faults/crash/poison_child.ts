// The process of the crash loop with poison. It says on standard output what was acknowledged; it
// is killed, or dies of a workflow. Arguments: store, round, "run" or "finish", and the type of a
// poison workflow to start ("-": none).
import process from "node:process";
import { delay } from "@std/async/delay";
import { open } from "../../../ts/mod.ts";
import * as activities from "./poison_activities.ts";

const [, , path, round, mode, poison] = process.argv as string[];
const say = (line: string) => void process.stdout.write(`${line}\n`);
const workflows = new URL(
  `./poison_workflows.${import.meta.url.endsWith(".js") ? "js" : "ts"}`,
  import.meta.url,
);
const silent = () => {};
const app = await open({
  path: path!,
  workflows,
  activities,
  serve: false,
  // A busy machine needs some seconds until V8 aborts.
  worker: { watchdogMs: 120_000 },
  logger: { debug: silent, info: silent, warn: silent, error: silent },
  engine: { synchronous: "NORMAL" },
});
say("open");
for (const { workflowId } of app.engine.heldRuns()) say(`held ${workflowId}`);

if (mode === "run") {
  if (poison !== "-") {
    const id = `poison ${round}`;
    await app.client.start(poison!, { id, args: [] });
    say(`poison ${id}`);
  }
  const lane = async (number: number) => {
    for (let n = 0;; n++) {
      const id = `steady ${round} ${number} ${n}`;
      const handle = await app.client.start("Steady", { id, args: [n] });
      say(`started ${id}`);
      if (number > 0) await handle.result();
      else await delay(5);
    }
  };
  await Promise.all([0, 1, 2].map(lane));
} else {
  const running = async () => {
    const ids: string[] = [];
    for await (const { workflowId } of app.client.list('ExecutionStatus = "Running"')) {
      ids.push(workflowId);
    }
    return ids;
  };
  for (;;) {
    const held = new Set(app.engine.heldRuns().map(({ workflowId }) => workflowId));
    if ((await running()).every((id) => held.has(id))) break;
    await delay(100);
  }
  for await (const { workflowId, status } of app.client.list('WorkflowType = "Steady"')) {
    say(
      `result ${status} ${
        status === "COMPLETED" ? await app.client.getHandle(undefined, workflowId).result() : "-"
      } ${workflowId}`,
    );
  }
  for (const { workflowId } of app.engine.heldRuns()) {
    const { status } = await app.client.getHandle(undefined, workflowId).describe();
    say(`described ${status} ${workflowId}`);
  }
  say("finished");
  await app.close();
}
