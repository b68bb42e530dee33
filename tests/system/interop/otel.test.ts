// runtime: node
// Traces through other people's code: the official SDK's client starts, our worker runs the
// workflow, the official SDK's worker runs an activity, and each reads the trace context that the
// other wrote. (The official worker is a native addon for Node.)
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "../../../ts/client/mod.ts";
import { openTelemetry } from "../../../ts/otel/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Connection } from "../../../ts/grpc/connection.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { activities, startChild, waitForSignal, workflow } from "../../../ts/workflow/mod.ts";
import { setUpTelemetry } from "../../support/otel.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, official } from "./support/official.ts";

const telemetry = setUpTelemetry();
const tracing = openTelemetry({ tracer: telemetry.tracer });
const mine = activities<{ here(): string }>({ startToClose: "20s" });
const theirs = activities<{ there(): unknown }>({ startToClose: "20s", taskQueue: "theirs" });
const workflows = [workflow("Between", async () => [await mine.here(), await theirs.there()])];

let server: DevServer;
let connection: Connection;

before(async () => {
  if (noServer !== false || noOfficial !== false) return;
  server = await DevServer.start();
  connection = await Connection.connect({ address: server.address });
});

after(async () => {
  await connection?.close();
  await server?.stop();
});

const skip = noServer || noOfficial;

test("our client, worker and activity on a cluster: one trace", { skip }, async () => {
  const worker = await Worker.create({
    service: connection,
    taskQueue: "ours",
    workflows: [workflow("Alone", async () => await mine.here())],
    activities: { here: () => "here" },
    logger: silentLogger,
    ...tracing.worker,
  });
  const client = new Client({
    service: connection,
    taskQueue: "ours",
    logger: silentLogger,
    ...tracing.client,
  });
  await worker.runUntil(async () => {
    assert.equal(await client.execute("Alone", { id: "alone" }), "here");
  });
  const names = [
    "StartWorkflow:Alone",
    "RunWorkflow:Alone",
    "StartActivity:here",
    "RunActivity:here",
  ];
  const spans = names.map((name) => telemetry.span(name));
  for (const [i, span] of spans.entries()) {
    assert.equal(span.spanContext().traceId, spans[0]!.spanContext().traceId);
    assert.equal(span.parentSpanContext?.spanId, spans[i - 1]?.spanContext().spanId);
  }
});

test("a child on a cluster, and a signal to it: one trace", { skip }, async () => {
  const greet = workflow("Greeted", async () => await waitForSignal("greet"));
  const parent = workflow("Greeter", async () => {
    const child = await startChild(greet);
    await child.signal("greet", "hello");
    return await child.result();
  });
  const settings = { service: connection, taskQueue: "families", logger: silentLogger };
  const worker = await Worker.create({
    ...settings,
    workflows: [greet, parent],
    ...tracing.worker,
  });
  const client = new Client({ ...settings, ...tracing.client });
  await worker.runUntil(async () => {
    assert.equal(await client.execute("Greeter", { id: "greeter" }), "hello");
  });
  const [start, run, child, childRun, signal] = [
    ...[
      "StartWorkflow:Greeter",
      "RunWorkflow:Greeter",
      "StartChildWorkflow:Greeted",
      "RunWorkflow:Greeted",
    ],
    "SignalWorkflow:greet",
  ].map((name) => telemetry.span(name));
  for (
    const [span, above] of [[run, start], [child, run], [childRun, child], [signal, run]] as const
  ) {
    assert.equal(span!.spanContext().traceId, start!.spanContext().traceId);
    assert.equal(span!.parentSpanContext?.spanId, above!.spanContext().spanId, span!.name);
  }
});

test(
  "the official client starts, our worker works, the official worker runs an activity: one trace",
  { skip },
  async () => {
    const { defaultPayloadConverter } = official("@temporalio/common");
    const { Client: OfficialClient, Connection: OfficialConnection } = official(
      "@temporalio/client",
    );
    const { NativeConnection, Worker: OfficialWorker } = official("@temporalio/worker");
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const carrier = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: "vendor=1" };
    const native = await NativeConnection.connect({ address: server.address });
    const seen: { traceparent?: string; tracestate?: string }[] = [];
    const officialWorker = await OfficialWorker.create({
      connection: native,
      taskQueue: "theirs",
      activities: { there: () => "there" },
      interceptors: {
        activity: [() => ({
          inbound: {
            // deno-lint-ignore no-explicit-any
            execute(input: any, next: any) {
              seen.push(defaultPayloadConverter.fromPayload(input.headers["_tracer-data"]));
              return next(input);
            },
          },
        })],
      },
    });
    const worker = await Worker.create({
      service: connection,
      taskQueue: "between",
      workflows,
      activities: { here: () => "here" },
      logger: silentLogger,
      ...tracing.worker,
    });
    const plain = await OfficialConnection.connect({ address: server.address });
    const client = new OfficialClient({
      connection: plain,
      interceptors: {
        workflow: [{
          // What its OpenTelemetry interceptor does.
          // deno-lint-ignore no-explicit-any
          start(input: any, next: any) {
            return next({
              ...input,
              headers: {
                ...input.headers,
                "_tracer-data": defaultPayloadConverter.toPayload(carrier),
              },
            });
          },
          // deno-lint-ignore no-explicit-any
          startWithDetails(input: any, next: any) {
            return next({
              ...input,
              headers: {
                ...input.headers,
                "_tracer-data": defaultPayloadConverter.toPayload(carrier),
              },
            });
          },
        }],
      },
    });
    try {
      await officialWorker.runUntil(worker.runUntil(async () => {
        const result = await client.workflow.execute("Between", {
          taskQueue: "between",
          workflowId: "between",
        });
        assert.deepEqual(result, ["here", "there"]);
      }));
    } finally {
      await plain.close();
      await native.close();
    }
    const run = telemetry.span("RunWorkflow:Between");
    assert.equal(run.spanContext().traceId, traceId);
    assert.equal(run.parentSpanContext?.spanId, "b7ad6b7169203331");
    const started = telemetry.span("StartActivity:there").spanContext();
    assert.equal(started.traceId, traceId);
    assert.deepEqual(seen, [{
      traceparent: `00-${traceId}-${started.spanId}-01`,
      tracestate: "vendor=1",
    }]);
    assert.equal(
      telemetry.spans().findLast((span) => span.name === "RunActivity:here")!.spanContext().traceId,
      traceId,
    );
    // A client without tracing reads the same history without any trouble.
    await new Client({ service: connection, logger: silentLogger }).getHandle("Between", "between")
      .describe();
  },
);
