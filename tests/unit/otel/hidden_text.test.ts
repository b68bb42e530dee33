// Spans follow the rule of the worker's log: with encodeCommonAttributes they have no message and
// no stack of an error, and text that came encoded stays out of them on workers and clients without
// the option, too.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { SpanStatusCode } from "@opentelemetry/api";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client } from "../../../ts/client/mod.ts";
import { ApplicationFailure } from "../../../ts/converter/failures.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { openTelemetry } from "../../../ts/otel/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import {
  activities,
  on,
  query,
  receive,
  reply,
  signal,
  stop,
  update,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { invertingCodec } from "../../support/codecs.ts";
import { setUpTelemetry } from "../../support/otel.ts";

const MARK = "PLAINMARK";
const telemetry = setUpTelemetry();
const tracing = openTelemetry({ tracer: telemetry.tracer });
const acts = activities<{ refuse(): void }>({ startToClose: "10s", retry: { maximumAttempts: 1 } });
const end = signal("end");
const add = update<[number], number>("add");
const status = query<string>("status");

const workflows = [
  workflow("Refused", async () => await acts.refuse()),
  workflow("Messages", {
    queries: {
      status: () => {
        throw new ApplicationFailure(`${MARK} query`);
      },
    },
    async run() {
      const refuse = () => {
        throw new ApplicationFailure(`${MARK} validator`);
      };
      await receive(0, [
        on(add, ([n], sum) => reply(n, sum), { validate: refuse }),
        on(end, (_, sum) => stop(sum)),
      ]);
    },
  }),
];

const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
after(() => engine.close());
let queues = 0;

/** What the spans of `Refused` and `Messages` hold, as text. */
async function spansWith(worker: boolean, client: boolean): Promise<string> {
  const before = telemetry.spans().length;
  const common = {
    service: engine,
    taskQueue: `q${queues++}`,
    codec: invertingCodec(),
    logger: silentLogger,
  };
  const made = await Worker.create({
    ...common,
    ...tracing.worker,
    encodeCommonAttributes: worker,
    workflows,
    activities: {
      refuse: () => Promise.reject(new ApplicationFailure(`${MARK} activity`, { type: "Refused" })),
    },
  });
  const called = new Client({ ...common, ...tracing.client, encodeCommonAttributes: client });
  await made.runUntil(async () => {
    await assert.rejects(
      called.execute("Refused", { id: `refused-${common.taskQueue}` }),
      /PLAINMARK activity/,
    );
    const handle = await called.start("Messages", { id: `messages-${common.taskQueue}` });
    await assert.rejects(handle.query(status), /PLAINMARK query/);
    await assert.rejects(handle.update(add, 1), /PLAINMARK validator/);
    await handle.signal(end);
    await handle.result();
  });
  const spans = telemetry.spans().slice(before);
  for (const name of ["RunActivity:refuse", "QueryWorkflow:status"]) {
    const span = spans.find((span) => span.name === name)!;
    assert.equal(span.status.code, SpanStatusCode.ERROR, name);
    assert.equal(span.events[0]!.name, "exception", name);
  }
  return JSON.stringify(
    spans.map(({ name, attributes, status, events }) => ({ name, attributes, status, events })),
  );
}

test("with encodeCommonAttributes spans contain the types of errors but no messages", async () => {
  const spans = await spansWith(true, true);
  assert.ok(!spans.includes(MARK), spans);
  assert.ok(!spans.includes("hidden_text.test"), "no frames");
  assert.match(spans, /"message":"Refused"/);
  assert.match(spans, /"message":"QueryFailedError"/);
});

test("a client without the option does not show encoded texts", async () => {
  const spans = await spansWith(true, false);
  assert.ok(!spans.includes(MARK), spans);
});

test("without the option spans have message and stack", async () => {
  const spans = await spansWith(false, false);
  for (const text of ["activity", "query"]) assert.ok(spans.includes(`${MARK} ${text}`), text);
});
