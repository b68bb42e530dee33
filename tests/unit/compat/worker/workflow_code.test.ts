// runtime: node
// Where workflow code of `Worker.create` comes from, and what is loaded into its realm: paths,
// CommonJS of tsc, bundles, converters, interceptors, sinks; and replays of what such a worker
// made.
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  bundleWorkflowCode,
  type InjectedSinks,
  ReplayError,
  Worker,
  type WorkerOptions,
} from "../../../../ts/compat/worker/mod.ts";
import { Client as CompatClient } from "../../../../ts/compat/client/mod.ts";
import { importDataConverter } from "../../../../ts/compat/client/load_data_converter.ts";
import {
  ApplicationFailure,
  type DataConverter,
  defineSearchAttributeKey,
} from "../../../../ts/compat/common/mod.ts";
import { Context } from "../../../../ts/compat/activity/mod.ts";
import { folderWith, lines, modulePath, project, setting } from "./support.ts";

const { client, connection, worker, close } = await setting();
after(close);
let count = 0;

/** Runs a workflow on a worker with these options; its result. */
async function run(
  options: Omit<WorkerOptions, "taskQueue" | "connection">,
  workflow: string,
  ...args: unknown[]
): Promise<unknown> {
  const taskQueue = `code-${++count}`;
  const made = await worker(taskQueue, options);
  return await made.runUntil(() => client.execute(workflow, { id: taskQueue, taskQueue, args }));
}

const LOGS = `import { log, sleep } from "@temporalio/workflow";
export async function logs(level) { log[level]("a line", { more: 1 }); await sleep(1); log.info("after the timer"); return level; }
`;

test("workflowsPath accepts a folder with an index and CommonJS output of tsc", async (t) => {
  const folder = folderWith(t, {
    "package.json": '{ "type": "commonjs" }',
    "index.js": `"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.greet = greet;
const workflow_1 = require("@temporalio/workflow");
const helper_1 = require("./helper");
async function greet(name) {
  await (0, workflow_1.sleep)(1);
  return (0, helper_1.hello)(name);
}
`,
    "helper.js": `"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.hello = void 0;
const hello = (name) => \`Hello, \${name}!\`;
exports.hello = hello;
`,
  });
  assert.equal(await run({ workflowsPath: folder }, "greet", "Ann"), "Hello, Ann!");
  assert.equal(await run({ workflowsPath: join(folder, "index") }, "greet", "Bob"), "Hello, Bob!");
});

test("a bundle of bundleWorkflowCode is accepted as text and as a file", async (t) => {
  const { code, sourceMap } = await bundleWorkflowCode({ workflowsPath: modulePath("calls") });
  assert.ok(JSON.parse(sourceMap).mappings.length > 0);
  const activities = { hello: (name: string) => `Hello, ${name}!` };
  assert.equal(
    await run({ workflowBundle: { code }, activities }, "call", "hello", "Ann"),
    "Hello, Ann!",
  );
  const codePath = join(folderWith(t, { "bundle.js": code }), "bundle.js");
  assert.equal(
    await run({ workflowBundle: { codePath }, activities }, "call", "hello", "Bob"),
    "Hello, Bob!",
  );
});

test("a bundle of the official SDK is rejected with the command to make a new one", async () => {
  const code =
    `var __TEMPORAL__;\n(() => { exports.importWorkflows = function importWorkflows() { return __webpack_require__("./a.ts"); } })();`;
  await assert.rejects(
    run({ workflowBundle: { code } }, "call"),
    /npx temporalex build --workflows/,
  );
});

const CONVERTER =
  `import { CompositePayloadConverter, defaultPayloadConverter, UndefinedPayloadConverter } from "@temporalio/common";
import { encode, decode } from "@temporalio/common/lib/encoding";
class Reversing {
  encodingType = "test/reversed";
  toPayload(value) {
    if (typeof value !== "string") return undefined;
    return { metadata: { encoding: encode(this.encodingType) }, data: encode([...value].reverse().join("")) };
  }
  fromPayload(payload) { return [...decode(payload.data)].reverse().join(""); }
}
const own = new Reversing();
export const payloadConverter = new CompositePayloadConverter(new UndefinedPayloadConverter(), own, ...defaultPayloadConverter.converters.slice(1));
`;
const FAILURES = `import { DefaultFailureConverter } from "@temporalio/common";
class Marking extends DefaultFailureConverter {
  errorToFailure(err, converter, context) {
    const failure = super.errorToFailure(err, converter, context);
    failure.message = "marked: " + failure.message;
    return failure;
  }
}
export const failureConverter = new Marking();
`;
const SHOUT = `import { ApplicationFailure, proxyActivities } from "@temporalio/workflow";
const { upper, fail } = proxyActivities({ startToCloseTimeout: "1 minute", retry: { maximumAttempts: 1 } });
export async function shout(text) { return (await upper(text)) + "!"; }
export async function fails() { throw ApplicationFailure.nonRetryable("in the workflow"); }
export async function catches() { try { await fail(); } catch (error) { return error.cause.message; } }
`;

test("a class that workflows and their converter import is the same class", async (t) => {
  const folder = project(t, {
    "money.js": "export class Money { constructor(cents) { this.cents = cents; } }\n",
    "converter.js":
      `import { CompositePayloadConverter, defaultPayloadConverter, UndefinedPayloadConverter } from "@temporalio/common";
import { encode, decode } from "@temporalio/common/lib/encoding.js";
import { Money } from "./money.js";
const own = {
  encodingType: "json/money",
  toPayload: (value) =>
    value instanceof Money ? { metadata: { encoding: encode("json/money") }, data: encode(String(value.cents)) } : undefined,
  fromPayload: (payload) => new Money(Number(decode(payload.data))),
};
export const payloadConverter = new CompositePayloadConverter(new UndefinedPayloadConverter(), own, ...defaultPayloadConverter.converters.slice(1));
`,
    "workflows.js": `import { proxyActivities } from "@temporalio/workflow";
import { Money } from "./money.js";
const { twice } = proxyActivities({ startToCloseTimeout: "1 minute", retry: { maximumAttempts: 1 } });
export async function doubled(cents) {
  const answer = await twice(new Money(cents));
  return [answer instanceof Money, answer.cents];
}
`,
  });
  const { Money } = await import(join(folder, "money.js"));
  const options = {
    workflowsPath: join(folder, "workflows.js"),
    dataConverter: { payloadConverterPath: join(folder, "converter.js") },
    activities: {
      twice(money: { cents: number }) {
        assert.ok(money instanceof Money);
        return new Money(money.cents * 2);
      },
    },
  };
  assert.deepEqual(await run(options, "doubled", 21), [true, 42]);
});

test("a converter can be in the workflows' module, and can detect whether a run evaluates it", async (t) => {
  const folder = project(t, {
    "all.js": `import { inWorkflowContext } from "@temporalio/workflow";
import { ApplicationFailure, DefaultFailureConverter } from "@temporalio/common";
export const place = inWorkflowContext() ? "a run" : process.env.NO_SUCH_NAME ?? "the host";
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
export async function where(fails) {
  if (fails) throw ApplicationFailure.nonRetryable("a secret");
  return place;
}
`,
  });
  const options = {
    workflowsPath: join(folder, "all.js"),
    dataConverter: { failureConverterPath: join(folder, "all.js") },
  };
  assert.equal(await run(options, "where", false), "a run");
  const taskQueue = `code-${++count}`;
  const made = await worker(taskQueue, options);
  const history = await made.runUntil(async () => {
    const handle = await client.start("where", { id: taskQueue, taskQueue, args: [true] });
    await assert.rejects(handle.result());
    return await handle.historyJson();
  });
  assert.match(history, /Encoded failure/);
  assert.doesNotMatch(history, /a secret/);
});

test("custom converters work in the realm and for activities", async (t) => {
  const folder = project(t, {
    "converter.js": CONVERTER.replace("lib/encoding", "lib/encoding.js"),
    "failures.js": FAILURES,
    "workflows.js": SHOUT,
  });
  const seen: string[] = [];
  const options = {
    workflowsPath: join(folder, "workflows.js"),
    dataConverter: {
      payloadConverterPath: join(folder, "converter.js"),
      failureConverterPath: join(folder, "failures.js"),
    },
    activities: {
      upper(text: string) {
        seen.push(text);
        return text.toUpperCase();
      },
      fail() {
        throw new Error("in the activity");
      },
    },
  };
  // The client is not the program's: what it sends is JSON, and what it gets is text in the
  // program's encoding.
  const taskQueue = `code-${++count}`;
  const made = await worker(taskQueue, options);
  const history = await made.runUntil(async () => {
    const handle = await client.start("shout", { id: taskQueue, taskQueue, args: ["abc"] });
    await assert.rejects(handle.result(), /test\/reversed/);
    return await handle.historyJson();
  });
  assert.deepEqual(seen, ["abc"]);
  const encoded = JSON.stringify(JSON.parse(history).events.map((event: object) => event));
  assert.ok(encoded.includes(btoa("!CBA")), "the result is encoded by the converter");
  await assert.rejects(run(options, "fails"), (error: Error) => {
    assert.equal((error.cause as Error).message, "marked: in the workflow");
    return true;
  });
  const only = {
    ...options,
    dataConverter: { failureConverterPath: options.dataConverter.failureConverterPath },
  };
  assert.equal(await run(only, "catches"), "marked: in the activity");
});

const OWNED = `import { DefaultPayloadConverter } from "@temporalio/common";
import { encode, decode } from "@temporalio/common/lib/encoding.js";
const ownerOf = (context) => JSON.stringify([context?.type, context?.workflowId, context?.activityId, context?.isLocal, context?.namespace]);
class Owned extends DefaultPayloadConverter {
  #owners = "owner";
  toPayload(value, context, hint) {
    const payload = super.toPayload(value, context, hint);
    return { ...payload, metadata: { ...payload.metadata, [this.#owners]: encode(ownerOf(context)) } };
  }
  fromPayload(payload, context, hint) {
    const owner = decode(payload.metadata[this.#owners]);
    if (owner !== ownerOf(context)) throw new TypeError("a payload of " + owner + " was read as one of " + ownerOf(context));
    return super.fromPayload(payload, context, hint);
  }
}
export const payloadConverter = new Owned();
`;
const OWNERS =
  `import { ApplicationFailure, condition, defineQuery, defineSignal, defineUpdate, executeChild, getExternalWorkflowHandle } from "@temporalio/workflow";
import { proxyActivities, proxyLocalActivities, setHandler, startChild, workflowInfo } from "@temporalio/workflow";
const options = { startToCloseTimeout: "1 minute", retry: { maximumAttempts: 1 } };
const { upper } = proxyActivities({ ...options, activityId: "named" });
const { fail, beat } = proxyActivities(options);
const { near } = proxyLocalActivities(options);
const poke = defineSignal("poke");
export async function child(text) {
  let poked = "";
  setHandler(poke, (text) => void (poked += text));
  await condition(() => poked.length === 2);
  return text + poked;
}
export async function broken(text) { throw ApplicationFailure.nonRetryable("broken", "Broken", text); }
export async function owners(text) {
  let changed = "";
  setHandler(defineUpdate("change"), (text) => changed = text);
  setHandler(defineQuery("changed"), (of) => of + changed);
  await condition(() => changed !== "");
  const { workflowId, memo } = workflowInfo();
  const handle = await startChild(child, { workflowId: workflowId + "-child", args: [text] });
  await handle.signal(poke, "1");
  await getExternalWorkflowHandle(handle.workflowId).signal(poke, "2");
  const failed = await executeChild(broken, { workflowId: workflowId + "-broken", args: [text] }).catch((e) => e.cause.details[0]);
  const details = await fail(text).catch((e) => e.cause.details[0]);
  return [memo.of, changed, await upper(text), await near(text), await beat(text), await handle.result(), failed, details];
}
`;

test("converters get the context of their values", async (t) => {
  const folder = project(t, { "owned.js": OWNED, "workflows.js": OWNERS });
  const dataConverter = { payloadConverterPath: join(folder, "owned.js") };
  const taskQueue = `code-${++count}`;
  const made = await worker(taskQueue, {
    workflowsPath: join(folder, "workflows.js"),
    dataConverter,
    activities: {
      upper: (text: string) => text.toUpperCase(),
      near: (text: string) => text + text,
      beat(text: string) {
        Context.current().heartbeat(text);
        return text;
      },
      fail(text: string) {
        throw ApplicationFailure.nonRetryable("failed", "Failed", text);
      },
    },
  });
  const of = new CompatClient({ connection, dataConverter }).workflow;
  const result = await made.runUntil(async () => {
    const handle = await of.start("owners", {
      workflowId: taskQueue,
      taskQueue,
      args: ["a"],
      memo: { of: "memo" },
    });
    assert.equal(await handle.executeUpdate("change", { args: ["c"] }), "c");
    assert.equal(await handle.query("changed", "is "), "is c");
    return await handle.result();
  });
  assert.deepEqual(result, ["memo", "c", "A", "aa", "a", "a12", "a", "a"]);
});

test("missing converters are reported with their path", async (t) => {
  const folder = project(t, { "workflows.js": SHOUT, "empty.js": "export {};\n" });
  const workflowsPath = join(folder, "workflows.js");
  const given = (payloadConverterPath: string) =>
    run({ workflowsPath, dataConverter: { payloadConverterPath } }, "shout");
  await assert.rejects(
    given(join(folder, "none.js")),
    /Could not find a file at the specified payloadConverterPath: '.*none\.js'/,
  );
  await assert.rejects(
    given(join(folder, "empty.js")),
    /empty\.js does not have a `payloadConverter` named export/,
  );
});

test("clients and workers accept and reject the same converters", async (t) => {
  const folder = project(t, {
    "reversed.js": CONVERTER.replace("lib/encoding", "lib/encoding.js"),
    "default.js":
      'import { payloadConverter } from "./reversed.js";\nexport default { payloadConverter };\n',
    "empty.js": "export {};\n",
  });
  const given = (dataConverter: DataConverter) =>
    new CompatClient({ connection, dataConverter }).options.loadedDataConverter;
  for (const name of ["reversed.js", "default.js"]) {
    const payloadConverterPath = join(folder, name);
    const { payloadConverter } = given({ payloadConverterPath });
    assert.equal(new TextDecoder().decode(payloadConverter.toPayload("abc").data!), "cba", name);
    assert.equal(
      await importDataConverter({ payloadConverterPath }).then((c) => c.payloadConverter),
      payloadConverter,
      name,
    );
  }
  const wrong: [DataConverter, RegExp][] = [
    [
      { payloadConverterPath: join(folder, "none.js") },
      /Could not find a file at the specified payloadConverterPath: '.*none\.js'/,
    ],
    [
      { failureConverterPath: join(folder, "empty.js") },
      /empty\.js does not have a `failureConverter` named export/,
    ],
    [
      {
        payloadCodecs: [{
          encode: (payloads, _context) => Promise.resolve(payloads),
          decode: (payloads) => Promise.resolve(payloads),
        }],
      },
      /^TypeError: payloadCodecs\[0\] of a data converter takes a serialization context as its second parameter, which is not/,
    ],
    [
      { externalStorage: {} as never },
      /^TypeError: the option "externalStorage" of a data converter is not supported here; put/,
    ],
  ];
  for (const [dataConverter, message] of wrong) {
    assert.throws(() => given(dataConverter), message);
    await assert.rejects(importDataConverter(dataConverter), message);
  }
});

test("modules that workflow code imports without using them are not loaded", async (t) => {
  const folder = folderWith(t, {
    "workflows.mjs": `import { readFileSync } from "node:fs";
import got from "got";
import { sleep } from "@temporalio/workflow";
export const onHost = () => [readFileSync("x"), got];
export async function quick() { await sleep(1); return "done"; }
export async function reads() { return readFileSync("x"); }
`,
  });
  const workflowsPath = join(folder, "workflows.mjs");
  await assert.rejects(run({ workflowsPath }, "quick"), /"got"/);
  const ignoreModules = ["node:fs", "got"];
  assert.equal(await run({ workflowsPath, bundlerOptions: { ignoreModules } }, "quick"), "done");
  const bundle = await bundleWorkflowCode({ workflowsPath, ignoreModules });
  assert.equal(await run({ workflowBundle: bundle }, "quick"), "done");
});

test("modules of the host that are not used: of the SDK, by the path of a file, put in place by a program, extended", async (t) => {
  const folder = folderWith(t, {
    "workflows.cjs": `const client = require("@temporalio/client");
const path = require("node:path");
const activities = require("./activities.cjs");
const { sleep } = require("@temporalio/workflow");
client.Given = class { text = "given"; };
class Own extends client.Client {}
class Two extends client.Given {}
exports.quick = async () => { await sleep(1); return new Two().text; };
exports.joins = async () => path.join("a", "b");
exports.calls = async () => activities.deeper();
exports.makes = async () => new Own();
`,
    "activities.cjs": 'throw new Error("this file is not for workflow code");',
  });
  const workflowsPath = join(folder, "workflows.cjs");
  const ignoreModules = ["@temporalio/client", "path", join(folder, "activities.cjs")];
  assert.equal(await run({ workflowsPath, bundlerOptions: { ignoreModules } }, "quick"), "given");
  const bundle = await bundleWorkflowCode({ workflowsPath, ignoreModules });
  assert.equal(await run({ workflowBundle: bundle }, "quick"), "given");
});

test("workflow interceptors, sinks and log lines work", async (t) => {
  const folder = folderWith(t, {
    "workflows.mjs": `${LOGS}
import { proxySinks } from "@temporalio/workflow";
const { events } = proxySinks();
export async function notifies(name) { events.told(name, { n: 1 }); await sleep(1); return "told"; }
`,
    "interceptors.mjs": `export const interceptors = () => ({
  inbound: [{ async execute(input, next) { return \`(\${await next({ ...input, args: input.args.map((arg) => arg.toLowerCase()) })})\`; } }],
  outbound: [{ getLogAttributes: (input, next) => next({ ...input, tenant: "t" }) }],
});
`,
  });
  const told: unknown[] = [];
  const sinks: InjectedSinks<{ events: { told(name: string, more: object): void } }> = {
    events: {
      told: { fn: ({ workflowType }, name, more) => void told.push([workflowType, name, more]) },
    },
  };
  const options = {
    workflowsPath: join(folder, "workflows.mjs"),
    interceptors: { workflowModules: [join(folder, "interceptors.mjs")] },
    sinks,
    // Each task replays the run: sink calls of earlier tasks are not repeated.
    maxCachedWorkflows: 0,
  };
  assert.equal(await run(options, "notifies", "Ann"), "(told)");
  assert.deepEqual(told, [["notifies", "ann", { n: 1 }]]);
  const { code } = await bundleWorkflowCode({
    workflowsPath: options.workflowsPath,
    workflowInterceptorModules: options.interceptors.workflowModules,
  });
  assert.equal(
    await run({ workflowBundle: { code }, sinks }, "notifies", "Bob"),
    "(told)",
    "interceptors of a bundle",
  );
  assert.deepEqual(told.splice(1), [["notifies", "bob", { n: 1 }]]);
  assert.equal(await run(options, "logs", "WARN"), "(warn)");
  const [line, ...again] = lines.filter(({ message }) => message === "a line");
  assert.deepEqual(again, []);
  const { tenant, more, sdkComponent, workflowType, taskQueue } = line!.meta as {
    [name: string]: unknown;
  };
  assert.deepEqual({ level: line!.level, tenant, more, sdkComponent, workflowType, taskQueue }, {
    ...{
      level: "WARN",
      tenant: "t",
      more: 1,
      sdkComponent: "workflow",
      workflowType: "logs",
      taskQueue: `code-${count}`,
    },
  });
});

test("a sink gets every key of the run's info, and its typed search attributes", async (t) => {
  const folder = folderWith(t, {
    "workflows.mjs": `import { proxySinks, upsertSearchAttributes } from "@temporalio/workflow";
import { defineSearchAttributeKey } from "@temporalio/common";
const { events } = proxySinks();
export async function marks() {
  upsertSearchAttributes([{ key: defineSearchAttributeKey("CustomKeywordField", "KEYWORD"), value: "north" }]);
  events.told();
}
`,
  });
  const key = defineSearchAttributeKey("CustomKeywordField", "KEYWORD");
  const told: unknown[] = [];
  const keys: string[] = [];
  const sinks: InjectedSinks<{ events: { told(): void } }> = {
    events: {
      told: {
        fn: (info) => {
          const { typedSearchAttributes } = info;
          keys.push(...Object.keys(info));
          told.push(typedSearchAttributes.get(key), typedSearchAttributes.getAll());
        },
      },
    },
  };
  await run({ workflowsPath: join(folder, "workflows.mjs"), sinks }, "marks");
  // Those of @temporalio/workflow 1.24, whether they have a value or not.
  const official = `attempt continueAsNewSuggested continuedFromExecutionRunId cronSchedule
    cronScheduleToScheduleInterval currentBuildId currentDeploymentVersion executionExpirationTime
    executionTimeoutMs firstExecutionRunId historyLength historySize lastFailure lastResult memo
    namespace originalExecutionRunId parent priority retryPolicy root runId runStartTime runTimeoutMs
    searchAttributes startTime suggestedContinueAsNewReasons targetWorkerDeploymentVersionChanged
    taskQueue taskTimeoutMs typedSearchAttributes unsafe workflowId workflowType`;
  assert.deepEqual(keys.sort(), official.split(/\s+/));
  assert.deepEqual(told, ["north", [{
    key: { name: "CustomKeywordField", type: "KEYWORD" },
    value: "north",
  }]]);
});

test("replays accept a matching history, reject a diverged one, and report code that throws", async (t) => {
  const written = (text: string) => join(folderWith(t, { "workflows.mjs": text }), "workflows.mjs");
  const old = written(
    `import { sleep } from "@temporalio/workflow";\nexport async function two() { await sleep(1); await sleep(2); return 2; }`,
  );
  const id = `code-${count + 1}`;
  assert.equal(await run({ workflowsPath: old }, "two"), 2);
  const history = JSON.parse(await client.getHandle(undefined, id).historyJson());
  await Worker.runReplayHistory({ workflowsPath: old }, history);
  const changed = written(`import { proxyActivities } from "@temporalio/workflow";
const { a } = proxyActivities({ startToCloseTimeout: 1000 });
export async function two() { await a(); return 2; }`);
  await assert.rejects(Worker.runReplayHistory({ workflowsPath: changed }, history), {
    name: "DeterminismViolationError",
    message: /^Replay failed with a nondeterminism error\. .* Details: .*workflows\.mjs:3/s,
  });
  const broken = written("export async function two() { throw new TypeError('broken'); }");
  const histories = [{ workflowId: "a", history }, { workflowId: "b", history }];
  const results = [];
  for await (const result of Worker.runReplayHistories({ workflowsPath: broken }, histories)) {
    results.push(result);
  }
  assert.deepEqual(
    results.map(({ workflowId, error }) => [workflowId, error instanceof ReplayError]),
    [["a", true], [
      "b",
      true,
    ]],
  );
  assert.match(
    results[0]!.error!.message,
    /^Replay failed due workflow task failure\. Details: .*broken/s,
  );
  await assert.rejects(
    Worker.runReplayHistory({}, history),
    /must contain workflowsPath or workflowBundle/,
  );
});

test("workflowFailureErrorTypes fails runs for errors with these names, live and replayed", async (t) => {
  const text = `export async function pay() { throw new RangeError("too much"); }`;
  const workflowsPath = join(folderWith(t, { "workflows.mjs": text }), "workflows.mjs");
  const workflowFailureErrorTypes = { "*": ["TypeError"], pay: ["RangeError"] };
  const id = `code-${count + 1}`;
  await assert.rejects(run({ workflowsPath, workflowFailureErrorTypes }, "pay"), (error: Error) => {
    const cause = error.cause as ApplicationFailure;
    assert.deepEqual([cause.type, cause.message], ["RangeError", "too much"]);
    return true;
  });
  const history = JSON.parse(await client.getHandle(undefined, id).historyJson());
  await Worker.runReplayHistory({ workflowsPath, workflowFailureErrorTypes }, history);
  await assert.rejects(Worker.runReplayHistory({ workflowsPath }, history), /too much/);
});

test("showStackTraceSources is ignored with a warning", async () => {
  const workflowsPath = modulePath("calls");
  lines.length = 0;
  await (await worker("sources", { workflowsPath, showStackTraceSources: true })).runUntil(
    Promise.resolve(),
  );
  const warned = lines.filter(({ level }) => level === "WARN").map(({ message }) => message);
  assert.deepEqual(warned, [
    "Ignoring WorkerOptions.showStackTraceSources: stack traces have files and lines, and no sources",
  ]);
});
