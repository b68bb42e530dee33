// The official TypeScript SDK, worker and client, against the server at an address: runs the
// scenarios of the other files in this folder and writes the results as one JSON document. The
// documents of two servers must be equal, so nothing in them may be random.
//   node scenarios.mjs --address 127.0.0.1:7233 --out results.json [--bundle file] [--cache 0]
//   [--pollers n] [--no-replay] [--all] [scenario...]
import { writeFileSync } from "node:fs";
import process from "node:process";
import { Worker } from "@temporalio/worker";
import * as activities from "./activities.mjs";
import {
  connection,
  handles,
  nativeConnection,
  options,
  sleep,
  taskQueue,
  told,
  wanted,
  workflowBundle,
} from "./stage.mjs";
import { scenarios as activitiesAndMessages } from "./activities_and_messages.mjs";
import { scenarios as lives } from "./lives.mjs";
import { scenarios as views } from "./views.mjs";
import { scenarios as families } from "./families.mjs";
import { engineScenarios, serverScenarios } from "./of_one_server.mjs";

const scenarios = { ...activitiesAndMessages, ...lives, ...views, ...families };
const results = {};

const worker = await Worker.create({
  connection: nativeConnection,
  taskQueue,
  workflowBundle,
  activities,
  shutdownGraceTime: 100,
  maxHeartbeatThrottleInterval: 100,
  ...(options.pollers !== undefined && {
    workflowTaskPollerBehavior: { type: "simple-maximum", maximum: Number(options.pollers) },
    activityTaskPollerBehavior: { type: "simple-maximum", maximum: Number(options.pollers) },
    maxConcurrentWorkflowTaskExecutions: 200,
    maxConcurrentActivityTaskExecutions: 200,
  }),
  ...(options.cache !== undefined && { maxCachedWorkflows: Number(options.cache) }),
});
await worker.runUntil(async () => {
  const every = { ...scenarios, ...serverScenarios, ...engineScenarios };
  const usual = Object.keys({ ...scenarios, ...(options.all && serverScenarios) });
  for (const name of wanted.length > 0 ? wanted : usual) {
    const began = Date.now();
    try {
      results[name] = await Promise.race([every[name](), sleep(150_000).then(() => "not in time")]);
    } catch (error) {
      results[name] = { thrown: told(error) };
    }
    if (process.env.SCENARIO_TIMES) console.error(name, Date.now() - began);
  }
});
const runs = {};
for (const [id, { handle, exact }] of handles) {
  const { firstExecutionRunId, signaledRunId } = handle;
  runs[id] = {
    runId: firstExecutionRunId ?? signaledRunId ?? (await handle.describe()).runId,
    exact,
  };
}
// Every history replays in the official worker, unless --no-replay is given.
async function* all() {
  for (const id of options["no-replay"] ? [] : Object.keys(runs)) {
    const history = await handles.get(id).handle.fetchHistory().catch(() => undefined);
    if (history !== undefined) yield { workflowId: id, history };
  }
}
const replayed = {};
for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, all())) {
  replayed[workflowId] = error === undefined ? "ok" : told(error);
}
writeFileSync(
  options.out,
  JSON.stringify({ results, runs, replayed }, (_, value) => value === undefined ? null : value, 1),
);
await connection.close();
await nativeConnection.close();
process.exit(0);
