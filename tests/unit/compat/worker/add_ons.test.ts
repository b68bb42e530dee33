// What only Temporal's own add-on packages (streams, traces) use: handlers and sinks under reserved
// names, several interceptors of Nexus operations, stubs of the SDK for workers, and clocks for
// libraries that measure.
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import type { WorkerPlugin } from "../../../../ts/compat/worker/mod.ts";
import { folderWith, setting } from "./support.ts";

const { client, worker, close } = await setting();
after(close);

const WORKFLOWS = `
import { condition, defineQuery, defineSignal, defineUpdate, proxySinks, setDefaultSignalHandler, setHandler } from "@temporalio/workflow";
const PUBLISH = "__temporal_workflow_stream_publish", POLL = "__temporal_workflow_stream_poll", OFFSET = "__temporal_workflow_stream_offset";
export async function stream() {
  const items = [];
  setDefaultSignalHandler((name, item) => void items.push(name, item));
  setHandler(defineSignal(PUBLISH), (item) => void items.push(item));
  setHandler(defineUpdate(POLL), async (from) => { await condition(() => items.length > from); return items.slice(from); });
  setHandler(defineQuery(OFFSET), () => ({ offset: items.length }));
  await condition(() => items.includes("last"));
  const { __temporal_langsmith: langsmith, __temporal_openai_agents_tracing: agents } = proxySinks();
  langsmith.told(items.length);
  agents.told(items.length);
  return items;
}
export async function refused() {
  const wrong = [
    defineQuery(PUBLISH), defineSignal(POLL), defineUpdate(OFFSET), defineSignal("__temporal_other"), defineQuery("__stack_trace"),
    defineSignal("__temporal_langsmith"),
  ];
  return wrong.map((definition) => {
    try { setHandler(definition, () => {}); return "taken"; } catch (error) { return error.message; }
  });
}
`;
/** Says in each object that it was here. */
const CONVERTER = `
export const payloadConverter = {
  toPayload: (value) => ({
    metadata: { encoding: new TextEncoder().encode("json/plain") },
    data: new TextEncoder().encode(JSON.stringify(value?.offset === undefined ? value ?? null : { ...value, by: "own" })),
  }),
  fromPayload: ({ data }) => JSON.parse(new TextDecoder().decode(data)),
};`;

test("handlers and sinks of add-on packages keep their reserved names", async (t) => {
  const folder = folderWith(t, { "workflows.mjs": WORKFLOWS, "converter.mjs": CONVERTER });
  const told: string[] = [];
  const sink = (name: string) => ({
    told: { fn: (_info: unknown, count: number) => void told.push(`${name} ${count}`) },
  });
  const made = await worker("add-ons", {
    workflowsPath: `${folder}/workflows.mjs`,
    dataConverter: { payloadConverterPath: `${folder}/converter.mjs` },
    sinks: {
      __temporal_langsmith: sink("langsmith"),
      __temporal_openai_agents_tracing: sink("agents"),
    },
  });
  await made.runUntil(async () => {
    const handle = await client.start("stream", { id: "stream", taskQueue: "add-ons" });
    await handle.signal("__temporal_workflow_stream_publish", "first");
    assert.deepEqual(await handle.update("__temporal_workflow_stream_poll", 0), ["first"]);
    assert.deepEqual(await handle.query("__temporal_workflow_stream_offset"), {
      offset: 1,
      by: "own",
    });
    await handle.signal("__temporal_workflow_stream_publish", "last");
    assert.deepEqual(await handle.result(), ["first", "last"]);
    assert.deepEqual(await client.execute("refused", { id: "refused", taskQueue: "add-ons" }), [
      "Cannot use query name: '__temporal_workflow_stream_publish', with reserved prefix: '__temporal_'",
      "Cannot use signal name: '__temporal_workflow_stream_poll', with reserved prefix: '__temporal_'",
      "Cannot use update name: '__temporal_workflow_stream_offset', with reserved prefix: '__temporal_'",
      "Cannot use signal name: '__temporal_other', with reserved prefix: '__temporal_'",
      "Cannot use query name: '__stack_trace', which is a reserved name",
      "Cannot use signal name: '__temporal_langsmith', with reserved prefix: '__temporal_'",
    ]);
  });
  assert.deepEqual(told, ["langsmith 2", "agents 2"]);
  const sinks = { __temporal_workflow_stream_publish: sink("wrong") };
  await assert.rejects(
    worker("add-ons", { workflowsPath: `${folder}/workflows.mjs`, sinks }),
    /Cannot use sink name: '__temporal_workflow_stream_publish', with reserved prefix/,
  );
});

test("interceptors of Nexus operations can be combined with others, and are not called without services", async (t) => {
  const folder = folderWith(t, { "workflows.mjs": "export async function w() { return 1; }" });
  const plugin: WorkerPlugin = {
    name: "traces",
    configureWorker: (options) => ({
      ...options,
      interceptors: { nexus: [() => ({ inbound: {} })] },
    }),
  };
  const made = await worker("nexus", {
    workflowsPath: `${folder}/workflows.mjs`,
    plugins: [plugin],
  });
  assert.equal(
    await made.runUntil(() => client.execute("w", { id: "nexus", taskQueue: "nexus" })),
    1,
  );
});

interface Completed {
  readonly sdkMetadata?: { readonly langUsedFlags?: readonly number[] };
}

/**
 * Interceptors as those of the OpenTelemetry package: of a module of stubs, with a clock that is
 * there in sandboxes alone.
 */
const TRACES = "node_modules/@temporalio/interceptors-opentelemetry-v2/";
const TRACING: { readonly [file: string]: string } = {
  "package.json": '{ "name": "@temporalio/interceptors-opentelemetry-v2", "version": "1.24.0" }',
  "lib/workflow/workflow-imports.js":
    "exports.workflowInfo = () => { throw new Error('a stub'); };",
  "lib/workflow/workflow-imports-impl.js": `
exports.workflowInfo = require("@temporalio/workflow").workflowInfo;
exports.SdkFlags = require("@temporalio/workflow/lib/flags").SdkFlags;
exports.getActivator = require("@temporalio/workflow/lib/global-attributes").getActivator;`,
  "lib/workflow/clock.js": `
if ("__webpack_module_cache__" in globalThis && typeof performance === "undefined") {
  const now = () => globalThis.__TEMPORAL_ACTIVATOR__.now;
  globalThis.performance = { timeOrigin: now(), now() { return now() - this.timeOrigin; } };
}`,
  "lib/workflow/index.js": `
require("./clock");
const clock = performance;
const { getActivator, SdkFlags, workflowInfo } = require("./workflow-imports");
exports.interceptors = () => ({
  inbound: [{
    async execute(input, next) {
      const result = await next(input);
      if (!getActivator().hasFlag(SdkFlags.OpenTelemetryInterceporsAvoidsExtraYields)) await Promise.resolve();
      const late = clock.timeOrigin + clock.now() - Date.now();
      return [...result, \`traced \${workflowInfo().workflowType}, late by \${late}\`];
    },
  }],
});`,
};

test("interceptors of the OpenTelemetry package use the SDK instead of its stubs and workflow time, and run once each", async (t) => {
  const folder = folderWith(t, {
    "workflows.mjs":
      'import { sleep } from "@temporalio/workflow"; export async function w() { await sleep(20); return ["ran"]; }',
  });
  mkdirSync(`${folder}/${TRACES}lib/workflow`, { recursive: true });
  for (const [file, text] of Object.entries(TRACING)) {
    writeFileSync(`${folder}/${TRACES}${file}`, text);
  }
  const module = `${folder}/${TRACES}lib/workflow/index.js`;
  const added = (modules: string[] | undefined) => [...modules ?? [], module];
  // As a SimplePlugin does it, which is asked for both.
  const plugin: WorkerPlugin = {
    name: "traces",
    configureWorker: (options) => ({
      ...options,
      interceptors: { workflowModules: added(options.interceptors?.workflowModules) },
    }),
    configureBundler: (options) => ({
      ...options,
      workflowInterceptorModules: added(options.workflowInterceptorModules),
    }),
  };
  const made = await worker("traces", {
    workflowsPath: `${folder}/workflows.mjs`,
    plugins: [plugin],
  });
  const history = await made.runUntil(async () => {
    const handle = await client.start("w", { id: "traces", taskQueue: "traces" });
    assert.deepEqual(await handle.result(), ["ran", "traced w, late by 0"]);
    return JSON.parse(await handle.historyJson()) as {
      events: { workflowTaskCompletedEventAttributes?: Completed }[];
    };
  });
  // What the interceptors ask for is recorded, so that the official worker replays it alike.
  const completed = history.events.flatMap((event) =>
    event.workflowTaskCompletedEventAttributes ?? []
  );
  assert.deepEqual(completed[0]!.sdkMetadata?.langUsedFlags, [1, 2, 3, 4, 5, 6]);
});
