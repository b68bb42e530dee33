// One trace from a client over a workflow to its activities: right parents, nothing twice on a
// replay.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { activityContext } from "../../../ts/activity/mod.ts";
import { Client } from "../../../ts/client/mod.ts";
import { ApplicationFailure } from "../../../ts/converter/failures.ts";
import { defaultPayloadConverter } from "../../../ts/converter/payload.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { openTelemetry, TRACE_HEADER } from "../../../ts/otel/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Worker, type WorkerOptions } from "../../../ts/worker/mod.ts";
import {
  activities,
  continueAsNew,
  executeChild,
  on,
  query,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  waitForSignal,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { setUpTelemetry } from "../../support/otel.ts";
import { until } from "../../support/until.ts";

const telemetry = setUpTelemetry();
const { client: clientTracing, worker: workerTracing } = openTelemetry({
  tracer: telemetry.tracer,
});
const acts = activities<{ greet(name: string): string; refuse(): void; carrier(): unknown }>({
  startToClose: "10s",
  retry: { maximumAttempts: 1 },
});
const go = signal("go");
const add = update<[number], number>("add");
const status = query<string>("status");

const workflows = [
  workflow("Greeting", async (name: string) => {
    const first = await acts.greet(name);
    await waitForSignal(go);
    await sleep("1ms");
    return `${first} ${await acts.greet("again")}`;
  }),
  workflow("Twice", async (n: number) => {
    await acts.greet(`${n}`);
    return n === 0 ? "done" : continueAsNew(n - 1);
  }),
  workflow("Parent", async () => await executeChild("Answer", { args: [] })),
  workflow("Answer", async () => 42),
  workflow("Refused", async () => await acts.refuse()),
  workflow("Messages", {
    queries: { status: () => "fine" },
    async run() {
      await receive(0, [
        on(add, ([n], sum) => reply(sum + n, sum + n)),
        on(go, (_, sum) => stop(sum)),
      ]);
      return await acts.carrier();
    },
  }),
];

const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
after(() => engine.close());
let runs = 0;

async function worker(
  more: Partial<WorkerOptions> = {},
): Promise<{ client: Client; taskQueue: string; worker: Worker }> {
  const taskQueue = `q${runs++}`;
  const made = await Worker.create({
    service: engine,
    taskQueue,
    workflows,
    activities: {
      greet(name: string) {
        // Activities see their span as the active one.
        trace.getSpan(context.active())?.setAttribute("seen", name);
        return `hello ${name}`;
      },
      refuse: () => Promise.reject(new ApplicationFailure("no")),
      carrier: () => defaultPayloadConverter.fromPayload(activityContext().headers[TRACE_HEADER]!),
    },
    logger: silentLogger,
    ...workerTracing,
    ...more,
  });
  return {
    client: new Client({ service: engine, taskQueue, logger: silentLogger, ...clientTracing }),
    taskQueue,
    worker: made,
  };
}

/** The spans that `body` creates, below a separate parent span. */
async function traced(name: string, body: () => Promise<void>): Promise<string[]> {
  const root = telemetry.tracer.startSpan(name);
  await context.with(trace.setSpan(context.active(), root), body);
  root.end();
  const { traceId } = root.spanContext();
  const mine = new Set(
    telemetry.spans().filter((span) => span.spanContext().traceId === traceId).map((span) =>
      span.spanContext().spanId
    ),
  );
  const names = new Map(telemetry.spans().map((span) => [span.spanContext().spanId, span.name]));
  return telemetry.spans().filter((span) =>
    mine.has(span.spanContext().spanId) && span.name !== name
  ).map((span) => `${names.get(span.parentSpanContext?.spanId ?? "") ?? "?"} > ${span.name}`)
    .sort();
}

for (const cachedWorkflows of [1000, 0]) {
  test(`one trace, with right parents, and a replay makes nothing twice (${cachedWorkflows} runs in memory)`, async () => {
    const { client, worker: one } = await worker({ cachedWorkflows });
    const spans = await traced("request", () =>
      one.runUntil(async () => {
        const handle = await client.start("Greeting", {
          id: `greeting-${cachedWorkflows}`,
          args: ["you"],
        });
        await handle.signal(go);
        assert.equal(await handle.result(), "hello you hello again");
      }));
    assert.deepEqual(spans, [
      "RunWorkflow:Greeting > StartActivity:greet",
      "RunWorkflow:Greeting > StartActivity:greet",
      "StartActivity:greet > RunActivity:greet",
      "StartActivity:greet > RunActivity:greet",
      "StartWorkflow:Greeting > RunWorkflow:Greeting",
      "request > SignalWorkflow:go",
      "request > StartWorkflow:Greeting",
    ]);
  });
}

test("ids and states of spans, and the activity's own context", async () => {
  const started = telemetry.spans().findLast((span) => span.name === "StartWorkflow:Greeting")!;
  const run = telemetry.spans().findLast((span) => span.name === "RunWorkflow:Greeting")!;
  const activity = telemetry.spans().findLast((span) => span.name === "RunActivity:greet")!;
  assert.equal(started.attributes["temporalWorkflowId"], "greeting-0");
  assert.match(String(started.attributes["run_id"]), /^[0-9a-f-]{36}$/);
  assert.equal(run.attributes["run_id"], started.attributes["run_id"]);
  assert.equal(activity.attributes["temporalActivityId"], "2");
  assert.equal(activity.attributes["seen"], "again");
  for (const span of [started, run, activity]) assert.equal(span.status.code, SpanStatusCode.OK);
});

test("a trace of a standalone activity has its id, and no id of a workflow", async () => {
  const { client, worker: one } = await worker();
  const spans = await traced("job", () =>
    one.runUntil(async () => {
      const handle = await client.activity.start("greet", { id: "job-1", args: ["you"] });
      assert.equal(await handle.result(), "hello you");
      await handle.describe();
    }));
  assert.deepEqual(spans, [
    "StartActivity:greet > RunActivity:greet",
    "job > DescribeActivity",
    "job > StartActivity:greet",
  ]);
  for (const name of ["StartActivity:greet", "DescribeActivity"]) {
    const { attributes } = telemetry.spans().findLast((span) => span.name === name)!;
    assert.deepEqual(
      [attributes["temporalActivityId"], attributes["temporalWorkflowId"]],
      ["job-1", undefined],
      name,
    );
  }
});

test("a trace continues in a child", async () => {
  const { client, worker: one } = await worker();
  const spans = await traced(
    "family",
    () =>
      one.runUntil(async () => void (await client.execute("Parent", { id: "parent", args: [] }))),
  );
  assert.deepEqual(spans, [
    "RunWorkflow:Parent > StartChildWorkflow:Answer",
    "StartChildWorkflow:Answer > RunWorkflow:Answer",
    "StartWorkflow:Parent > RunWorkflow:Parent",
    "family > StartWorkflow:Parent",
  ]);
});

test("a trace continues through continue-as-new", async () => {
  const { client, worker: one } = await worker();
  const spans = await traced("chain", () =>
    one.runUntil(async () => {
      await client.execute("Twice", { id: "twice", args: [1] });
    }));
  assert.deepEqual(spans, [
    "ContinueAsNew:Twice > RunWorkflow:Twice",
    "RunWorkflow:Twice > ContinueAsNew:Twice",
    "RunWorkflow:Twice > StartActivity:greet",
    "RunWorkflow:Twice > StartActivity:greet",
    "StartActivity:greet > RunActivity:greet",
    "StartActivity:greet > RunActivity:greet",
    "StartWorkflow:Twice > RunWorkflow:Twice",
    "chain > StartWorkflow:Twice",
  ]);
});

test("failures of activities and workflows set the status of their spans, and so do rejected client calls", async () => {
  const { client, worker: one } = await worker();
  await traced("failing", () =>
    one.runUntil(async () => {
      await assert.rejects(client.execute("Refused", { id: "refused" }));
      await assert.rejects(client.getHandle("Refused", "absent").signal(go));
    }));
  assert.equal(telemetry.span("RunActivity:refuse").status.code, SpanStatusCode.ERROR);
  assert.equal(telemetry.span("RunActivity:refuse").status.message, "no");
  assert.equal(telemetry.span("RunActivity:refuse").events[0]!.name, "exception");
  assert.equal(telemetry.span("RunWorkflow:Refused").status.code, SpanStatusCode.ERROR);
  assert.equal(
    telemetry.spans().findLast((span) => span.name === "SignalWorkflow:go")!.status.code,
    SpanStatusCode.ERROR,
  );
});

test("updates, queries and the carrier's form", async () => {
  const { client, worker: one } = await worker();
  let carrier: unknown;
  const spans = await traced("messages", () =>
    one.runUntil(async () => {
      const handle = await client.start("Messages", { id: "messages" });
      assert.equal(await handle.update(add, 2), 2);
      assert.equal(await handle.query(status), "fine");
      await handle.signal(go);
      carrier = await handle.result();
    }));
  assert.deepEqual(spans.filter((span) => span.startsWith("messages >")), [
    "messages > QueryWorkflow:status",
    "messages > SignalWorkflow:go",
    "messages > StartWorkflow:Messages",
    "messages > StartWorkflowUpdate:add",
  ]);
  // W3C's trace context in a JSON object, as Temporal's SDKs read it.
  const { traceparent } = carrier as { traceparent: string };
  const parent = telemetry.span("StartActivity:carrier").spanContext();
  assert.equal(traceparent, `00-${parent.traceId}-${parent.spanId}-01`);
});

test("a run whose worker stops is released, and its spans on another worker are children of its start", async () => {
  const first = await worker();
  const spans = await traced("restart", async () => {
    let id = "";
    await first.worker.runUntil(async () => {
      const handle = await first.client.start("Greeting", { id: "restarted", args: ["you"] });
      id = handle.workflowId;
      await until(
        "its first task is over",
        async () => (await handle.describe()).historyLength >= 10,
      );
    });
    const second = await Worker.create({
      service: engine,
      taskQueue: first.taskQueue,
      workflows,
      activities: { greet: (name: string) => `hello ${name}` },
      logger: silentLogger,
      ...workerTracing,
    });
    await second.runUntil(async () => {
      const handle = first.client.getHandle("Greeting", id);
      await handle.signal(go);
      await handle.result();
    });
  });
  assert.deepEqual(spans.filter((span) => !span.startsWith("restart")), [
    "RunWorkflow:Greeting > StartActivity:greet",
    "StartActivity:greet > RunActivity:greet",
    "StartActivity:greet > RunActivity:greet",
    "StartWorkflow:Greeting > RunWorkflow:Greeting",
    "StartWorkflow:Greeting > StartActivity:greet",
  ]);
});

test("an evicted run gets its trace back when its history is read", async () => {
  const asked: [string, boolean][] = [];
  const workflowTracer = {
    run({ workflowId, isNew }: { workflowId: string; isNew: boolean }) {
      asked.push([workflowId, isNew]);
      if (asked.length === 1) throw new Error("no span at this moment");
      return {
        command: ({ headers }: { headers: object }) => ({ headers: headers as never, done() {} }),
        end() {},
      };
    },
  };
  const { client, worker: one } = await worker({ cachedWorkflows: 1, workflowTracer });
  await one.runUntil(async () => {
    const waits = async (id: string) => {
      const handle = await client.start("Greeting", { id, args: ["you"] });
      await until(
        "it waits for its signal",
        async () => (await handle.describe()).historyLength >= 10,
      );
      return handle;
    };
    // The second one takes the only place in memory.
    const [first, second] = [await waits("left"), await waits("stays")];
    for (const handle of [first, second]) {
      await handle.signal(go);
      assert.equal(await handle.result(), "hello you hello again");
    }
  });
  assert.deepEqual(asked, [["left", true], ["stays", true], ["left", false]]);
});

test("a tracer that throws affects only the trace", async () => {
  const warned: string[] = [];
  const broken = () => {
    throw new Error("no spans today");
  };
  for (
    const workflowTracer of [
      { run: broken },
      { run: () => ({ command: broken, end: broken }) },
      { run: () => ({ command: () => ({ headers: {}, done: broken }), end: broken }) },
    ]
  ) {
    const taskQueue = `broken-${runs++}`;
    const one = await Worker.create({
      service: engine,
      taskQueue,
      workflows,
      activities: { greet: (name: string) => name },
      logger: { ...silentLogger, warn: (message) => void warned.push(message) },
      workflowTracer,
    });
    const client = new Client({ service: engine, taskQueue, logger: silentLogger });
    await one.runUntil(async () => {
      assert.equal(await client.execute("Twice", { id: taskQueue, args: [1] }), "done");
    });
  }
  assert.ok(warned.length >= 3);
  assert.deepEqual(new Set(warned), new Set(["a trace could not be created"]));
});

test("unreadable headers are ignored", async () => {
  const { client, worker: one } = await worker();
  const plain = new Client({
    service: engine,
    taskQueue: one.taskQueue,
    logger: silentLogger,
    interceptors: [{
      start(input, next) {
        input.headers[TRACE_HEADER] = {
          metadata: { encoding: new TextEncoder().encode("binary/odd") },
          data: new Uint8Array([1]),
        };
        return next(input);
      },
    }],
  });
  assert.ok(client);
  await one.runUntil(async () => {
    assert.equal(await plain.execute("Twice", { id: "odd", args: [0] }), "done");
  });
});
