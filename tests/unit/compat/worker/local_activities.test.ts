// Local activities that the worker does not have: the call throws a ReferenceError, as in the
// official SDK. That one records nothing and cannot replay the history; here a marker records it.
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Worker, type WorkerOptions } from "../../../../ts/compat/worker/mod.ts";
import { until } from "../../../support/until.ts";
import { modulePath, setting } from "./support.ts";

const { client, worker, close } = await setting();
after(close);

const workflowsPath = modulePath("absent");
const MESSAGE = "Local activity of type 'work' not registered on worker";
const CAUGHT = ["ReferenceError", MESSAGE, true];
const other = () => "other";

type History = Parameters<typeof Worker.runReplayHistory>[1];

/** The workflow's result, and its history. */
async function run(
  workflow: string,
  id: string,
  options: Partial<WorkerOptions>,
): Promise<{ result: unknown; history: History }> {
  const made = await worker(id, { workflowsPath, ...options });
  const result = await made.runUntil(() => client.execute(workflow, { id, taskQueue: id }));
  return { result, history: JSON.parse(await client.getHandle(undefined, id).historyJson()) };
}

const markersOf = (history: History): unknown[] =>
  (history as { events: { markerRecordedEventAttributes?: { failure?: unknown } }[] }).events
    .map((event) => event.markerRecordedEventAttributes).filter((marker) => marker !== undefined);

test("a local activity that the worker does not have throws a ReferenceError, live and on every replay", async () => {
  const { result, history } = await run("caught", "absent-caught", { activities: { other } });
  assert.deepEqual(result, [...CAUGHT, "other", "other"]);
  assert.equal(markersOf(history).length, 2);
  await Worker.runReplayHistory({ workflowsPath }, history, "absent-caught");
});

test("the run continues the same way without its cache, on a worker that has the activity", async () => {
  const id = "absent-moved";
  const without = await worker(id, { workflowsPath, activities: { second: other } });
  const handle = await client.start("caught", { id, taskQueue: id });
  // Its `other` activity waits: this worker has no function for it.
  await without.runUntil(() =>
    until(
      "a scheduled activity",
      async () => (await handle.historyJson()).includes("EVENT_TYPE_ACTIVITY_TASK_SCHEDULED"),
    )
  );
  const has = await worker(id, { workflowsPath, activities: { work: () => "worked", other } });
  assert.deepEqual(await has.runUntil(() => handle.result()), [...CAUGHT, "other", "other"]);
});

test("a worker without activities, and one with a `default` activity", async () => {
  const { result } = await run("thrown", "absent-none", {});
  assert.deepEqual(result, [
    "ReferenceError",
    "Local activity of type 'other' not registered on worker",
    true,
  ]);
  const { result: byDefault } = await run("uncaught", "absent-default", {
    activities: { default: () => "by default" },
  });
  assert.equal(byDefault, "by default");
});

test("an uncaught error fails the workflow task", async () => {
  const id = "absent-uncaught";
  const without = await worker(id, { workflowsPath, activities: { other } });
  const handle = await client.start("uncaught", { id, taskQueue: id });
  await without.runUntil(() =>
    until(
      "a failed workflow task",
      async () => (await handle.historyJson()).includes("EVENT_TYPE_WORKFLOW_TASK_FAILED"),
    )
  );
  const history = JSON.parse(await handle.historyJson());
  const [failed] = history.events.filter((event: object) =>
    "workflowTaskFailedEventAttributes" in event
  );
  const { failure } = failed.workflowTaskFailedEventAttributes;
  assert.equal(failure.message, MESSAGE);
  assert.deepEqual(markersOf(history), []);
  await handle.terminate();
});

test("a ReferenceError that an activity throws is the activity's failure", async () => {
  const { result } = await run("thrown", "absent-thrown", {
    activities: {
      other: () => {
        throw new ReferenceError(MESSAGE);
      },
    },
  });
  assert.deepEqual(result, ["ApplicationFailure", MESSAGE, false]);
});
