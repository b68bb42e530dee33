// Plugins: of clients, connections, workers, bundles and replays, each asked at its place, in the
// official order.
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Client, Connection } from "../../../../ts/compat/client/mod.ts";
import {
  type BundleOptions,
  bundleWorkflowCode,
  NativeConnection,
  Worker,
  type WorkerPlugin,
} from "../../../../ts/compat/worker/mod.ts";
import { folderWith, modulePath, setting } from "./support.ts";

const { client, worker, close, connection } = await setting();
after(close);
const { address } = connection.options;
let count = 0;
const queue = () => `plugins-${++count}`;
const activities = { hello: (name: string) => Promise.resolve(`hello ${name}`) };

const says = (taskQueue: string) =>
  client.execute("call", { id: taskQueue, taskQueue, args: ["hello", "Ann"] });
/** Puts another module in the place of the one that is named. */
const moves = (to: string) => ({
  name: "moves",
  configureBundler: (options: BundleOptions): BundleOptions => ({ ...options, workflowsPath: to }),
});

test("a worker's plugins change its workflow code like plugins of a bundle", async () => {
  const taskQueue = queue();
  const made = await worker(taskQueue, {
    workflowsPath: "replaced",
    activities,
    plugins: [moves(modulePath("calls"))],
  });
  assert.equal(await made.runUntil(() => says(taskQueue)), "hello Ann");
});

test("plugins of a connection apply to its workers and clients", async () => {
  const taskQueue = queue();
  const plugin = {
    ...moves(modulePath("calls")),
    configureClient: (options: object) => ({ ...options, identity: "plugged" }),
  };
  const native = await NativeConnection.connect({ address: address!, plugins: [plugin] });
  const plain = await Connection.connect({ address: address!, plugins: [plugin] });
  try {
    const made = await Worker.create({
      connection: native,
      taskQueue,
      workflowsPath: "replaced",
      activities,
    });
    assert.equal(await made.runUntil(() => says(taskQueue)), "hello Ann");
    assert.deepEqual([native, plain].map((to) => new Client({ connection: to }).options.identity), [
      "plugged",
      "plugged",
    ]);
  } finally {
    await native.close();
    await plain.close();
  }
});

test("a client's own plugins come before those of its connection", async () => {
  const adds = (name: string) => ({
    name,
    configureClient: (options: { identity?: string }) => ({
      ...options,
      identity: `${options.identity ?? ""}${name}`,
    }),
  });
  const plain = await Connection.connect({ address: address!, plugins: [adds("c")] });
  try {
    const { options } = new Client({ connection: plain, plugins: [adds("a"), adds("b")] });
    assert.equal(options.identity, "abc");
    assert.equal((options.plugins ?? []).length, 3);
  } finally {
    await plain.close();
  }
});

test("a plugin can ignore modules and add interceptors and converters", async (t) => {
  const folder = folderWith(t, {
    "workflows.mjs":
      'import { readFileSync } from "node:fs"; export async function w() { return [globalThis.seen, typeof readFileSync]; }',
    "interceptors.mjs": 'globalThis.seen = "intercepted"; export const interceptors = () => ({});',
    "converter.cjs": `const { DefaultPayloadConverter } = require("@temporalio/common");
const own = new DefaultPayloadConverter();
exports.payloadConverter = { toPayload: (value) => own.toPayload(Array.isArray(value) ? [...value, "converted"] : value), fromPayload: (p) => own.fromPayload(p) };`,
  });
  const plugin: WorkerPlugin = {
    name: "adds",
    configureBundler: (options) => ({
      ...options,
      ignoreModules: [...options.ignoreModules ?? [], "fs"],
      workflowInterceptorModules: [
        ...options.workflowInterceptorModules ?? [],
        `${folder}/interceptors.mjs`,
      ],
      payloadConverterPath: `${folder}/converter.cjs`,
    }),
  };
  const taskQueue = queue();
  const made = await worker(taskQueue, {
    workflowsPath: `${folder}/workflows.mjs`,
    plugins: [plugin],
  });
  const result = await made.runUntil(() =>
    client.execute("w", { id: taskQueue, taskQueue, args: [] })
  );
  assert.deepEqual(result, ["intercepted", "function", "converted"]);
});

test("bundles and replays call plugins; webpack options are rejected from any source", async () => {
  const plugin = moves(modulePath("calls"));
  const path = modulePath("calls");
  const { code } = await bundleWorkflowCode({ workflowsPath: "replaced", plugins: [moves(path)] });
  const taskQueue = queue();
  const made = await worker(taskQueue, { workflowBundle: { code }, activities, plugins: [plugin] });
  assert.equal(await made.runUntil(() => says(taskQueue)), "hello Ann");
  const history: unknown = await new Client({ connection }).workflow.getHandle(taskQueue)
    .fetchHistory();
  await Worker.runReplayHistory({ workflowsPath: "replaced", plugins: [plugin] }, history);
  const webpack: WorkerPlugin = {
    name: "webpack",
    configureBundler: (options) => ({
      ...options,
      webpackConfigHook: (config) => ({ ...config, target: "node" }),
    }),
  };
  await assert.rejects(
    worker(queue(), { workflowsPath: path, plugins: [webpack] }),
    /^TypeError: webpackConfigHook changes "target"/,
  );
});
