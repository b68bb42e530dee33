// Eager activities and eager starts on the embedded engine: no poll is needed, each task runs once,
// and what was handed out is recorded.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { Client } from "../../../ts/client/mod.ts";
import { EmbeddedEngine } from "../../../ts/engine/embedded_engine.ts";
import { MemoryStore } from "../../../ts/engine/memory_store.ts";
import {
  PollActivityTaskQueueResponseSchema,
  RespondWorkflowTaskCompletedResponseSchema,
  StartWorkflowExecutionResponseSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { open, silentLogger } from "../../../ts/mod.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { typedService } from "../../../ts/service/typed.ts";
import { EagerStarts } from "../../../ts/worker/eager_starts.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { activities, parallel, workflow } from "../../../ts/workflow/mod.ts";

const { echo } = activities<{ echo(value: number): number }>({ startToClose: "10s" });

/** Five at once, then three one after the other. */
const eight = workflow("Eight", async () => {
  const first = await parallel([0, 1, 2, 3, 4].map((i) => () => echo(i)));
  let sum = first.reduce((total, result) => total + ("value" in result ? result.value : NaN), 0);
  for (const i of [5, 6, 7]) sum += await echo(i);
  return sum;
});

const doubles = workflow("Doubles", async (value: number) => await echo(value) * 2);

/** Counts tasks by the way that they came. */
function watchTasks(engine: EmbeddedEngine) {
  const came = { polled: 0, eager: 0, started: 0 };
  const service: RawService = {
    async call(method, request, options) {
      const response = await engine.call(method, request, options);
      if (method === "pollActivityTaskQueue") {
        const { taskToken } = fromBinary(PollActivityTaskQueueResponseSchema, response);
        if (taskToken.length > 0) came.polled++;
      } else if (method === "respondWorkflowTaskCompleted") {
        const { activityTasks } = fromBinary(RespondWorkflowTaskCompletedResponseSchema, response);
        came.eager += activityTasks.length;
      } else if (method === "startWorkflowExecution") {
        const started = fromBinary(StartWorkflowExecutionResponseSchema, response);
        if (started.eagerWorkflowTask !== undefined) came.started++;
      }
      return response;
    },
  };
  return { came, service };
}

test("activities come with the response to the report that schedules them, at most three of a report", async () => {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const { came, service } = watchTasks(engine);
  const ran: number[] = [];
  const worker = await Worker.create({
    service,
    taskQueue: "eager",
    workflows: [eight],
    activities: {
      echo: (value: number) => {
        ran.push(value);
        return value;
      },
    },
    logger: silentLogger,
  });
  const client = new Client({ service: engine, taskQueue: "eager", logger: silentLogger });
  const sum = await worker.runUntil(() => client.execute(eight, { id: "w" }));
  assert.equal(sum, 28);
  assert.deepEqual(ran.sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(came, { polled: 2, eager: 6, started: 0 });
  await engine.close();
});

/** The first events of a run, and whether its start was eager. */
async function firstEvents(service: RawService, workflowId: string) {
  const { history } = await typedService(service).getWorkflowExecutionHistory({
    namespace: "default",
    execution: { workflowId },
  });
  const [started, , taken] = history!.events;
  assert.equal(started!.attributes.case, "workflowExecutionStartedEventAttributes");
  return {
    isEager: started!.attributes.value.eagerExecutionAccepted,
    takenBy: taken?.attributes.case === "workflowTaskStartedEventAttributes"
      ? taken.attributes.value.identity
      : undefined,
  };
}

test("open() starts its workflows eagerly; other task queues and busy workers get ordinary starts", async () => {
  let finish!: (value: number) => void;
  const finished = new Promise<number>((resolve) => finish = resolve);
  const app = await open({
    workflows: [doubles],
    activities: { echo: (value: number) => value === 0 ? finished : value },
    logger: silentLogger,
    client: { identity: "the client" },
  });
  try {
    assert.equal(await app.client.execute(doubles, { id: "one", args: [21] }), 42);
    assert.deepEqual(await firstEvents(app.engine, "one"), {
      isEager: true,
      takenBy: "the client",
    });
    await app.client.start(doubles, { id: "elsewhere", args: [1], taskQueue: "elsewhere" });
    assert.equal((await firstEvents(app.engine, "elsewhere")).isEager, false);
    const waiting = await app.client.start(doubles, { id: "waits", args: [0] });
    const many = await Promise.all(
      Array.from(
        { length: 40 },
        (_, i) => app.client.execute(doubles, { id: `many-${i}`, args: [i + 1] }),
      ),
    );
    assert.deepEqual(many, Array.from({ length: 40 }, (_, i) => 2 * (i + 1)));
    finish(3);
    assert.equal(await waiting.result(), 6);
  } finally {
    await app.close();
  }
  await assert.rejects(app.client.start(doubles, { id: "late", args: [1] }));
});

test("a start without a free slot of a worker is an ordinary one", async () => {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const { came, service } = watchTasks(engine);
  const starts = new EagerStarts();
  const client = new Client({
    service: starts.around(service, true),
    taskQueue: "q",
    logger: silentLogger,
  });
  const released: string[] = [];
  const ran: Uint8Array[] = [];
  let free = 1;
  const leave = starts.add("default", "q", () => {
    if (free === 0) return undefined;
    free--;
    return {
      deploymentOptions: undefined,
      release: () => void released.push("released"),
      run: (task) => void ran.push(task),
    };
  });
  await client.start("Any", { id: "first" });
  assert.deepEqual([came.started, ran.length, released.length], [1, 1, 1]);
  await client.start("Any", { id: "no slot" });
  free = 1;
  await assert.rejects(client.start("Any", { id: "first" }), /already exists/);
  assert.deepEqual(
    [came.started, ran.length, released.length],
    [1, 1, 2],
    "the slot is free again",
  );
  leave();
  free = 1;
  await client.start("Any", { id: "no worker" });
  assert.deepEqual([came.started, free], [1, 1]);
  for (
    const [id, isEager] of [["first", true], ["no slot", false], ["no worker", false]] as const
  ) {
    assert.equal((await firstEvents(engine, id)).isEager, isEager, id);
  }
  await engine.close();
});
