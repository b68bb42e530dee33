// runtime: node (rules of the server; other files cover the runtime)
// What a worker has to do right on a real Temporal dev server and users see only when it does not:
// updates that leave no trace, queries on both paths, histories and messages that grow too large,
// workflow code in several threads.
// takes: 25 s
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { Client, WorkflowFailedError } from "../../../ts/client/mod.ts";
import { type Logger, silentLogger } from "../../../ts/base/logger.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { WorkflowTaskFailedCause } from "../../../ts/messages/generated/temporal/api/enums/v1/failed_cause_pb.ts";
import {
  PollWorkflowTaskQueueResponseSchema,
  RespondWorkflowTaskCompletedResponseSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Worker, type WorkerOptions } from "../../../ts/worker/mod.ts";
import {
  activities,
  noreply,
  on,
  parallel,
  publishState,
  query,
  receive,
  reply,
  sideEffect,
  signal,
  sleep,
  stop,
  update,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { until } from "../../support/until.ts";
import { go, length, spins, talks } from "../../unit/worker/modules/flows.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

const add = update<[n: number], number>("add");
const note = signal<[n: number]>("note");
const done = signal("done");
const sum = query<number>("sum");
const adder = workflow("Adder", {
  queries: { sum: (published: number) => published },
  async run() {
    publishState(0);
    const publish = (n: number) => {
      publishState(n);
      return n;
    };
    return await receive(0, [
      on(add, ([n], now) => reply(now + n, publish(now + n)), {
        validate: ([n]) => {
          if (n < 0) throw new Error("only more");
        },
      }),
      on(note, ([n], now) => noreply(publish(now + n))),
      on(done, (_, now) => stop(now)),
    ]);
  },
});

let server: DevServer, service: GrpcService;
/** What the server sent: its responses to polls, and to completions. */
const seen = { legacyQueries: 0, queriesWithTask: 0, resets: 0 };
let watched: RawService;
let queues = 0;

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start([
    "limit.historyCount.error=200",
    "limit.historyCount.suggestContinueAsNew=20",
  ]);
  service = new GrpcService({ address: server.address });
  watched = {
    losesCancelledPolls: true,
    async call(method, request, options) {
      const response = await service.call(method, request, options);
      if (method === "pollWorkflowTaskQueue") {
        const task = fromBinary(PollWorkflowTaskQueueResponseSchema, response);
        if (task.query !== undefined) seen.legacyQueries++;
        if (Object.keys(task.queries).length > 0) seen.queriesWithTask++;
      } else if (method === "respondWorkflowTaskCompleted") {
        if (
          fromBinary(RespondWorkflowTaskCompletedResponseSchema, response).resetHistoryEventId > 0n
        ) seen.resets++;
      }
      return response;
    },
  };
});

after(async () => {
  service?.close();
  await server?.stop();
});

async function working<T>(
  options: Partial<WorkerOptions>,
  body: (client: Client) => Promise<T>,
): Promise<T> {
  const taskQueue = `rules-${++queues}`;
  const worker = await Worker.create({
    service: watched,
    taskQueue,
    logger: silentLogger,
    ...options,
  });
  return await worker.runUntil(() =>
    body(new Client({ service, taskQueue, logger: silentLogger }))
  );
}

for (const cachedWorkflows of [0, 1, 1000]) {
  test(`rejected updates of an idle run leave no events, with ${cachedWorkflows} cached`, {
    skip: noServer,
  }, async () => {
    const failed: string[] = [];
    const events = {
      workflowTaskFailed: ({ message }: { message: string }) => void failed.push(message),
    };
    const resetsBefore = seen.resets;
    await working({ workflows: [adder], cachedWorkflows, events }, async (client) => {
      const id = `rejected-${cachedWorkflows}`;
      const handle = await client.start(adder, { id });
      assert.equal(await handle.update(add, 1), 1);
      const before = (await handle.fetchHistory()).events.length;
      for (let i = 0; i < 5; i++) await assert.rejects(handle.update(add, -1), /only more/);
      await assert.rejects(handle.update("absent" as never), /absent/);
      assert.equal((await handle.fetchHistory()).events.length, before, "nothing was written");
      // Later commands continue where the server is, not where the worker was.
      assert.equal(await handle.update(add, 2), 3);
      await assert.rejects(handle.update(add, -1), /only more/);
      await handle.signal(note, 10);
      await assert.rejects(handle.update(add, -1), /only more/);
      assert.equal(await handle.update(add, 4), 17);
      assert.equal(await handle.query(sum), 17);
      // Accepted and rejected ones at once.
      const many = await Promise.allSettled(
        Array.from({ length: 10 }, (_, i) => handle.update(add, i % 2 === 0 ? 1 : -1)),
      );
      assert.deepEqual(
        many.map(({ status }) => status),
        many.map((_, i) => (i % 2 === 0 ? "fulfilled" : "rejected")),
      );
      await handle.signal(done);
      assert.equal(await handle.result(), 22);
      const { events } = await handle.fetchHistory();
      assert.deepEqual(events.map(({ eventId }) => Number(eventId)), events.map((_, i) => i + 1));
      assert.equal(
        events.filter((event) =>
          event.attributes.case === "workflowExecutionUpdateAcceptedEventAttributes"
        ).length,
        8,
      );
    });
    assert.deepEqual(failed, []);
    if (cachedWorkflows > 0) {
      assert.ok(seen.resets > resetsBefore, "the server told where to go back to");
    }
  });
}

test("queries arrive as separate tasks and with other tasks, while messages arrive", {
  skip: noServer,
}, async () => {
  await working({ workflows: [adder] }, async (client) => {
    const handle = await client.start(adder, { id: "queried" });
    assert.equal(await handle.query(sum), 0);
    const before = { ...seen };
    let added = 0;
    for (let round = 0; round < 30 && seen.queriesWithTask === before.queriesWithTask; round++) {
      const counts = await Promise.all([
        handle.signal(note, 1),
        ...Array.from({ length: 5 }, () => handle.query(sum)),
        handle.update(add, 1),
        ...Array.from({ length: 5 }, () => handle.query(sum)),
      ]);
      added += 2;
      assert.ok(
        counts.every((count) => count === undefined || (count >= added - 2 && count <= added)),
        `${counts}`,
      );
      assert.equal(await handle.query(sum), added);
    }
    assert.ok(seen.queriesWithTask > before.queriesWithTask, "queries that came with a task");
    await handle.signal(done);
    assert.equal(await handle.result(), added);
    assert.equal(await handle.query(sum), added, "of a closed run");
    assert.ok(seen.legacyQueries > before.legacyQueries, "a query alone");
  });
});

const acts = activities<{ take(text: string): Promise<number> }>({ startToClose: "10s" });
const sends = (count: number, bytes: number) =>
  workflow("Sends", async () => {
    await parallel(Array.from({ length: count }, () => () => acts.take("x".repeat(bytes))));
  });
const corrected = workflow("Sends", async () => "a reference to it");

for (
  const { id, large, cause, says } of [
    {
      id: "many",
      large: sends(30, 200_000),
      cause: "GRPC_MESSAGE_TOO_LARGE" as const,
      says: /exceeds the size limit of the service/,
    },
    // The server itself would end the run for good.
    {
      id: "one",
      large: sends(1, 3_000_000),
      cause: "PAYLOADS_TOO_LARGE" as const,
      says: /activity "take" \(id "1"\): input takes 3000/,
    },
  ]
) {
  test(
    `commands that are too large (${id}) fail the task by name, and a corrected version continues`,
    { skip: noServer },
    async () => {
      const logged: string[] = [];
      const logger: Logger = { ...silentLogger, error: (message) => void logged.push(message) };
      const handle = await working({ workflows: [large], logger }, async (client) => {
        // Only a first attempt is reported, and a later one ends with its time.
        const handle = await client.start("Sends", { id: `sends-${id}`, taskTimeout: "5s" });
        await until(
          "the task has failed",
          async () =>
            (await handle.fetchHistory()).events.some(({ attributes }) =>
              attributes.case === "workflowTaskFailedEventAttributes" &&
              attributes.value.cause === WorkflowTaskFailedCause[cause]
            ),
        );
        assert.equal((await handle.describe()).status, "RUNNING");
        assert.ok(
          logged.some((message) => says.test(message)),
          `${logged}`,
        );
        return handle;
      });
      queues--;
      await working(
        { workflows: [corrected] },
        async () => assert.equal(await handle.result(), "a reference to it"),
      );
    },
  );
}

test("values just below the limits are accepted", { skip: noServer }, async () => {
  const text = "x".repeat(2_090_000);
  const notes = workflow("Notes", async () => sideEffect(() => text).length);
  const many = workflow("Many", async () => {
    for (let i = 0; i < 20; i++) sideEffect(() => text.slice(0, 200_000));
    return "taken";
  });
  await working({ workflows: [notes, many] }, async (client) => {
    assert.equal(await client.execute(notes, { id: "one-nearly" }), text.length);
    assert.equal(await client.execute(many, { id: "many-nearly" }), "taken");
  });
});

test(
  "a run whose history is too long is closed with the server's message",
  { skip: noServer },
  async () => {
    const endless = workflow("Endless", async () => {
      for (;;) {
        for (let i = 0; i < 150; i++) sideEffect(() => i);
        await sleep(1);
      }
    });
    await working({ workflows: [endless] }, async (client) => {
      await assert.rejects(client.execute(endless, { id: "endless" }), (error: Error) => {
        assert.ok(error instanceof WorkflowFailedError);
        assert.match(error.message, /terminated.*history count exceeds limit/i);
        return true;
      });
    });
  },
);

test(
  "workflow code in two threads: messages, queries of open and closed runs, a run with an infinite loop",
  { skip: noServer },
  async () => {
    const failed = new Set<string>();
    await working({
      workflows: new URL("../../unit/worker/modules/flows.ts", import.meta.url),
      activities: { shout: (text: string) => text.toUpperCase() },
      workflowThreads: 2,
      watchdogMs: 6000,
      events: { workflowTaskFailed: ({ workflowId }) => void failed.add(workflowId) },
    }, async (client) => {
      const handles = await Promise.all(
        Array.from(
          { length: 12 },
          (_, i) => client.start(talks, { id: `talks-${i}`, args: [`t${i}`] }),
        ),
      );
      const spinning = await client.start(spins, { id: "spins" });
      for (const handle of handles) assert.equal(await handle.query(length), 7);
      await Promise.all(handles.map((handle) => handle.signal(go, "hi")));
      assert.deepEqual(
        await Promise.all(handles.map((handle) => handle.result())),
        handles.map((_, i) => `T${i} SAYS HI`),
      );
      for (const handle of handles) assert.equal(await handle.query(length), 7);
      await until("the spinner was stopped", () => failed.size > 0);
      assert.deepEqual([...failed], ["spins"]);
      await spinning.terminate();
    });
  },
);
