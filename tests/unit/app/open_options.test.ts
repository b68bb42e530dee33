// Options of open(): each is honored, or refused by a message that names it, the given value and
// what is expected. Nothing is opened then.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  Client,
  EmbeddedEngine,
  jsonPayloadConverter,
  MemoryStore,
  open,
  type OpenOptions,
  silentLogger,
  Worker,
} from "../../../ts/mod.ts";
import { open as openTab } from "../../../ts/browser/mod.ts";
import { workflow } from "../../../ts/workflow/mod.ts";

const greet = workflow("greet", async (name: string) => `hello ${name}`);
const url = new URL("./workflows/order.ts", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "temporalex-options-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, "never.sqlite");

const MODULES =
  'the URL of a module (new URL("./workflows.ts", import.meta.url)), a list of them, or definitions ({ order })';
const ACTIVITIES = "an object of functions, such as a module namespace, or a list of such objects";
const TABLE = "an object of functions, such as a module namespace";
const STEPS = "a list of { name, sql }";
const LOGGER = "an object with the functions debug, info, warn and error, like console";
const text = "a non-empty string";
const name = "a non-empty string without lone surrogates";
async function helper() {}

/** What is given, and the whole message. */
const REFUSED: readonly [given: { readonly [name: string]: unknown }, message: string][] = [
  [{ workflows: 5 }, `workflows must be ${MODULES}, not 5`],
  [{ workflows: true }, `workflows must be ${MODULES}, not true`],
  [{ workflows: null }, `workflows must be ${MODULES}, not null`],
  [{ workflows: "" }, `workflows must be ${MODULES}, not ""`],
  [{ workflows: [] }, `workflows must be ${MODULES}, not an empty list`],
  [{ workflows: helper }, `workflows must be ${MODULES}, not a function helper`],
  [{ workflows: [helper] }, `workflows must be ${MODULES}, not a list with a function helper`],
  [
    { workflows: [url, greet] },
    `workflows must be ${MODULES}, not a list of modules and definitions`,
  ],
  [{ workflows: greet }, `workflows must be ${MODULES}, not a workflow: write { greet }`],
  [{ workflows: [greet, 5] }, `workflows must be ${MODULES}, not a list with 5`],
  [
    { workflows: import("./workflows/order.ts") },
    `workflows must be ${MODULES}, not a promise: await it`,
  ],
  [{ activities: url }, `activities must be ${ACTIVITIES}, not a URL`],
  [{ activities: "./activities.ts" }, `activities must be ${ACTIVITIES}, not "./activities.ts"`],
  [{ activities: 5 }, `activities must be ${ACTIVITIES}, not 5`],
  [{ activities: helper }, `activities must be ${ACTIVITIES}, not a function helper`],
  [{ activities: [helper] }, `activities must be ${ACTIVITIES}, not a list with a function helper`],
  [{ activities: null }, `activities must be ${ACTIVITIES}, not null`],
  [
    { activities: Promise.resolve({}) },
    `activities must be ${ACTIVITIES}, not a promise: await it`,
  ],
  [{ taskQueue: 5 }, `taskQueue must be ${name}, not 5`],
  [{ taskQueue: "" }, `taskQueue must be ${name}, not ""`],
  [{ path: new URL("file:///tmp/a.sqlite") }, `path must be ${text}, not a URL`],
  [{ path: "" }, `path must be ${text}, not ""`],
  [{ path: null }, `path must be ${text}, not null`],
  [{ reducers: url }, `reducers must be ${TABLE}, not a URL`],
  [{ reducers: helper }, `reducers must be ${TABLE}, not a function helper`],
  [{ reducers: [helper] }, `reducers must be ${TABLE}, not a list with a function helper`],
  [{ migrations: "CREATE TABLE a (b)" }, `migrations must be ${STEPS}, not "CREATE TABLE a (b)"`],
  [{ migrations: { name: "a", sql: "b" } }, `migrations must be ${STEPS}, not an object`],
  [
    { migrations: ["CREATE TABLE a (b)"] },
    `migrations must be ${STEPS}, not a list with "CREATE TABLE a (b)"`,
  ],
  [
    { migrations: [{ name: "a", slq: "b" }] },
    `migrations must be ${STEPS}, not a list with an object`,
  ],
  [
    { converter: 5 },
    "converter must be an object with the functions toPayload and fromPayload, not 5",
  ],
  [
    { converter: url },
    "converter must be an object with the functions toPayload and fromPayload, not a URL",
  ],
  [
    { codec: "./codec.ts" },
    'codec must be an object with the functions encode and decode, or a list of them, not "./codec.ts"',
  ],
  [{ encodeCommonAttributes: "yes" }, 'encodeCommonAttributes must be true or false, not "yes"'],
  [{ logger: console.log }, `logger must be ${LOGGER}, not a function log`],
  [{ logger: false }, `logger must be ${LOGGER}, not false`],
  [{ logger: { info() {} } }, `logger must be ${LOGGER}, not an object`],
  [{ serve: 8080 }, "serve must be true or false, not 8080"],
  [{ engine: "NORMAL" }, 'engine must be an object of options, not "NORMAL"'],
  [{ engine: null }, "engine must be an object of options, not null"],
  [{ worker: [] }, "worker must be an object of options, not an empty list"],
  [
    { engine: { synchronous: "normal" } },
    'engine.synchronous must be "FULL" or "NORMAL", not "normal"',
  ],
  [{ engine: { timers: "manuel" } }, 'engine.timers must be "due" or "manual", not "manuel"'],
  [{ engine: { limits: 5 } }, "engine.limits must be an object of options, not 5"],
  [
    { engine: { limits: { openRuns: "5" } } },
    'engine.limits.openRuns must be a whole number of at least 1, not "5"',
  ],
  [
    { engine: { limits: { openRuns: -5 } } },
    "engine.limits.openRuns must be a whole number of at least 1, not -5",
  ],
  [
    { engine: { limits: { inbox: 1.5 } } },
    "engine.limits.inbox must be a whole number of at least 1, not 1.5",
  ],
  [{ engine: { onError: "log" } }, 'engine.onError must be a function, not "log"'],
  [{ engine: { namespace: 5 } }, `engine.namespace must be ${name}, not 5`],
  [{ worker: { cachedWorkflows: "5" } }, 'worker.cachedWorkflows must be a number, not "5"'],
  [
    { worker: { realm: "thread" } },
    'worker.realm must be "worker", "inline" or a realm, not "thread"',
  ],
  [{ client: { identity: 5 } }, `client.identity must be ${text}, not 5`],
  [{ client: { interceptors: {} } }, "client.interceptors must be a list, not an object"],
];

for (const [given, message] of REFUSED) {
  test(`refused: ${message.replace(/ must be .* not /, ", ")}`, async () => {
    const options = { path, workflows: { greet }, logger: silentLogger, ...given } as OpenOptions;
    await assert.rejects(open(options), { name: "TypeError", message: `open's option ${message}` });
    assert.equal(existsSync(path), false, "a store was made");
  });
}

test("an unknown option is rejected at any level, with the known ones", async () => {
  const refused = async (given: object, message: RegExp) => {
    await assert.rejects(open({ path, workflows: { greet }, logger: silentLogger, ...given }), {
      name: "TypeError",
      message,
    });
    assert.equal(existsSync(path), false, "a store was made");
  };
  await refused({ paht: "x" }, /^open has no option "paht"; did you mean path\?$/);
  await refused(
    { engine: { synchronus: "NORMAL" } },
    /^open's option engine has no option "synchronus"; did you mean synchronous\?$/,
  );
  await refused(
    { engine: { limits: { openrun: 5 } } },
    /^open's option engine\.limits has no option "openrun"; did you mean openRuns\?$/,
  );
  await refused(
    { worker: { cachedWorkflow: 0 } },
    /^open's option worker has no option "cachedWorkflow"; did you mean cachedWorkflows\?$/,
  );
  await refused(
    { client: { identiti: "x" } },
    /^open's option client has no option "identiti"; did you mean identity\?$/,
  );
  // Properties next to them do not belong to a part.
  await refused(
    { worker: { taskQueue: "x" } },
    /^taskQueue is an option of open itself: write open\({ taskQueue }\), not worker\.taskQueue/,
  );
  await refused({ engine: { path: "x" } }, /^path is an option of open itself/);
});

test("EmbeddedEngine.open, Worker.create and Client reject unknown options and values of a wrong type by name", async () => {
  const store = new MemoryStore();
  const { service, taskQueue } = {
    service: { call: () => Promise.reject(new Error("called")) },
    taskQueue: "shop",
  };
  const engine = (given: object) => EmbeddedEngine.open({ store, ...given });
  const worker = (given: object) =>
    Worker.create({ service, taskQueue, workflows: { greet }, ...given });
  const client = async (given: object) => await Promise.resolve(new Client({ service, ...given }));
  const refused: readonly [made: Promise<unknown>, message: RegExp][] = [
    [engine({ paht: "x" }), /^EmbeddedEngine\.open has no option "paht"; did you mean path\?$/],
    [
      engine({ limits: { openrun: 5 } }),
      /^EmbeddedEngine\.open's option limits has no option "openrun"; did you mean openRuns\?$/,
    ],
    [
      engine({ timers: "manuel" }),
      /^EmbeddedEngine\.open's option timers must be "due" or "manual", not "manuel"$/,
    ],
    [
      worker({ taskQeue: "x" }),
      /^Worker\.create has no option "taskQeue"; did you mean taskQueue\?$/,
    ],
    [
      worker({ worklows: url }),
      /^Worker\.create has no option "worklows"; did you mean workflows\?$/,
    ],
    [
      worker({ activities: url }),
      new RegExp(`^Worker\\.create's option activities must be ${ACTIVITIES}, not a URL$`),
    ],
    [
      worker({ service: {} }),
      /^Worker\.create's option service must be an EmbeddedEngine or a connection to a cluster, or the promise of one, not an object$/,
    ],
    [client({ taskqueue: "x" }), /^Client has no option "taskqueue"; did you mean taskQueue\?$/],
    [
      client({ service: Promise.resolve(service) }),
      /^Client's option service must be an EmbeddedEngine or a connection to a cluster, not a promise: await it$/,
    ],
    [
      client({ codec: "./codec.ts" }),
      /^Client's option codec must be an object with the functions encode and decode, or a list of them, not "/,
    ],
  ];
  for (const [made, message] of refused) await assert.rejects(made, { name: "TypeError", message });
  for (const given of [null, "shop.sqlite", url, []]) {
    await assert.rejects(
      EmbeddedEngine.open(given as never),
      /^TypeError: EmbeddedEngine\.open options must be an object, not /,
    );
    await assert.rejects(
      Worker.create(given as never),
      /^TypeError: Worker\.create options must be an object, not /,
    );
    assert.throws(
      () => new Client(given as never),
      /^TypeError: Client options must be an object, not /,
    );
  }
  const missing = "option service must be an EmbeddedEngine or a connection to a cluster";
  for (const given of [{}, { service: undefined }]) {
    assert.throws(() => new Client(given as never), {
      name: "TypeError",
      message: `Client's ${missing}, and is missing`,
    });
    await assert.rejects(
      Worker.create({ ...given, taskQueue: "q", activities: { helper } } as never),
      {
        name: "TypeError",
        message: `Worker.create's ${missing}, or the promise of one, and is missing`,
      },
    );
  }
});

test("open in a browser tab rejects unknown options and names the place for reducers and migrations", async () => {
  const refused = async (given: object, message: RegExp) =>
    await assert.rejects(openTab({ path: "shop", workflows: { greet }, ...given }), {
      name: "TypeError",
      message,
    });
  await refused({ persisted: true }, /^open has no option "persisted"; did you mean persist\?$/);
  await refused(
    { reducers: {} },
    /^open has no option "reducers" in a browser tab: pass it to the engine's Worker: serveEngine\(\{ reducers \}\)$/,
  );
  await refused({ migrations: [] }, /serveEngine\(\{ migrations \}\)$/);
  await refused({ serve: false }, /no other process can reach a tab$/);
  await refused(
    { engine: { driver: "libsql" } },
    /^open's option engine has no option "driver"; known options: namespace, limits, synchronous$/,
  );
  await refused(
    { worker: { realm: "inline" } },
    /^realm is an option of open itself: write open\(\{ realm \}\), not worker\.realm$/,
  );
  await refused({ realm: url }, /^open's option realm must be a function, not a URL$/);
  // A valid option passes, and the page, which is missing here, is looked for.
  await assert.rejects(
    openTab({ path: "shop", workflows: { greet }, lead: true, engine: {}, worker: {} }),
    /needs a browser page/,
  );
});

test("options that are not an object are rejected", async () => {
  for (const given of [undefined, null, "shop.sqlite", 5, [], url, () => ({})]) {
    await assert.rejects(open(given as unknown as OpenOptions), {
      name: "TypeError",
      message: /^open options must be an object, not /,
    });
  }
});

test("valid options are accepted in every form", async () => {
  const forms: readonly Partial<OpenOptions>[] = [
    { workflows: { greet } },
    { workflows: [greet] },
    { workflows: [{ greet }] },
    { workflows: [[greet]] },
    { workflows: { greet, LIMIT: 5, helper } },
    { workflows: url },
    { workflows: [url] },
    { workflows: url.pathname },
    { activities: { helper, LIMIT: 5 } },
    { activities: [{ helper }] },
    {
      activities: new (class {
        charge() {}
      })(),
    },
    { converter: jsonPayloadConverter, serve: false, reducers: {}, migrations: [] },
    { logger: silentLogger, engine: { limits: {}, timers: "due" }, worker: {}, client: {} },
    { engine: { namespace: "shop" }, worker: { realm: "inline" }, client: { timeout: "5s" } },
    { workflows: undefined, activities: { helper }, worker: { realm: undefined } } as OpenOptions,
  ];
  for (const form of forms) {
    const app = await open({ workflows: { greet }, logger: silentLogger, ...form });
    await app.close();
  }
});
