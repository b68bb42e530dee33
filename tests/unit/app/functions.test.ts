// client.call: functions of the application by name, in this process and from another one
// (docs/database.md#functions-for-other-processes).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  type App,
  Client,
  DeadlineExceededError,
  FunctionFailedError,
  MemoryStore,
  NamespaceNotFoundError,
  open,
  type OpenOptions,
  ServiceError,
  silentLogger,
} from "../../../ts/mod.ts";
import { startDevServer } from "../../../ts/dev/server.ts";
import { Connection } from "../../../ts/grpc/mod.ts";
import { invertingCodec, invertingSyncCodec } from "../../support/codecs.ts";
import { startModule } from "../engine/support/child.ts";
import { inFolder } from "../engine/support/stores.ts";
import * as functions from "./functions/functions.ts";
import { migrations } from "./transactions/reducers.ts";
import { listener } from "./transactions/workflows.ts";

const caller = new URL(
  import.meta.url.endsWith(".js") ? "functions/caller.js" : "functions/caller.ts",
  import.meta.url,
);

const withApp = (body: (app: App, path: string) => Promise<void>, more: OpenOptions = {}) =>
  inFolder(async (folder) => {
    const path = join(folder, "game.sqlite");
    const workflows = { listener };
    const app = await open({
      ...{ path, workflows, functions, migrations, logger: silentLogger },
      ...more,
    });
    try {
      await body(app, path);
    } finally {
      await app.close();
    }
  });
const rows = (app: App): string[] =>
  app.engine.tables.all<{ line: string }>("SELECT line FROM line ORDER BY id").map((row) =>
    row.line
  );

test("a function runs in one transaction: rows and messages together; its result after the commit", () =>
  withApp(async ({ client, engine }) => {
    const id: string = await client.call<typeof functions.begin>("begin", "a");
    assert.equal(id, "a");
    const calls = ["1", "2", "end"].map((line) =>
      client.call<typeof functions.sayLine>("sayLine", "a", line)
    );
    assert.deepEqual(await Promise.all(calls), [{ rows: 1 }, { rows: 2 }, { rows: 3 }]);
    assert.deepEqual(await client.getHandle(listener, "a").result(), ["1", "2"]);
    assert.equal(engine.tables.all("SELECT * FROM line").length, 3);
    assert.equal(await client.call("nothing"), undefined);
    // @ts-expect-error: the function has two arguments
    await client.call<typeof functions.sayLine>("sayLine", "a").catch(() => {});
    // @ts-expect-error: the argument is a number
    await client.call<typeof functions.large>("large", "1").catch(() => {});
  }, { serve: false }));

test("a function that throws, returns a promise or a value that is too large leaves nothing", () =>
  withApp(async (app) => {
    const { client } = app;
    const failed = async (name: string, ...args: unknown[]) =>
      await client.call(name, ...args).catch((e) => e);
    const thrown = await failed("fail", "x") as FunctionFailedError;
    assert.ok(thrown instanceof FunctionFailedError);
    assert.equal(thrown.message, 'function "fail" failed and was rolled back: not x');
    assert.equal((thrown.cause as { type?: string }).type, "Refused");
    const large = await failed("large", 3_000_000) as FunctionFailedError;
    assert.match(
      large.message,
      /the result of function "large" cannot be returned: it has 3000002 bytes, at most 2097152 \(limits.payloadBytes\)/,
    );
    const promise = await failed("promise") as ServiceError;
    assert.match(promise.message, /function "promise" was rolled back: .*must be synchronous/);
    const notFound = await failed("sayLine", "missing", "y") as FunctionFailedError;
    assert.equal((notFound.cause as { type?: string }).type, "WorkflowNotFoundError");
    assert.deepEqual(rows(app), []);
    assert.equal(await client.count(), 0);
  }, { serve: false }));

test("calls that cannot run: unknown names, wrong namespaces, wrong types of names", () =>
  withApp(async ({ client, engine }) => {
    const unknown = await client.call("damage").catch((e) => e) as ServiceError;
    assert.ok(unknown instanceof ServiceError);
    assert.match(unknown.message, /^unknown function "damage"; known functions: "begin", "fail", /);
    const other = new Client({ service: engine, namespace: "other", logger: silentLogger });
    await assert.rejects(other.call("nothing"), NamespaceNotFoundError);
    await assert.rejects(
      client.call(functions.begin as never),
      /call needs the name of a function/,
    );
    // Names that every object has are not functions.
    await assert.rejects(client.call("toString"), /unknown function "toString"/);
  }, { serve: false }));

test("without functions the message says where they are passed", async () => {
  const app = await open({ workflows: { listener }, logger: silentLogger });
  await assert.rejects(
    app.client.call("nothing"),
    /unknown function "nothing"; the engine was opened without functions: open\(\{ path, functions \}\)/,
  );
  await app.close();
});

test("interceptors see calls, and may change them", () =>
  withApp(async ({ engine }) => {
    const seen: unknown[] = [];
    const client = new Client({
      service: engine,
      logger: silentLogger,
      interceptors: [{
        callFunction(input, next) {
          seen.push({ ...input });
          return next({ ...input, args: ["b"] });
        },
      }],
    });
    assert.equal(await client.call("begin", "a"), "b");
    assert.deepEqual(seen, [{ name: "begin", args: ["a"] }]);
  }, { serve: false }));

test("a failed commit rejects the call, nothing is kept, and the next call works", async () => {
  const store = new MemoryStore();
  const commit = store.commit.bind(store);
  let failures = 1;
  store.commit = (...args) => {
    if (failures-- > 0) throw new Error("no space");
    return commit(...args);
  };
  const app = await open({
    workflows: { listener },
    functions: { begin: functions.begin },
    engine: { store, onError: () => {} },
    logger: silentLogger,
  });
  const failed = await app.client.call("begin", "a").catch((e) => e) as ServiceError;
  assert.equal(failed.code, 14, String(failed));
  assert.equal(await app.client.call("begin", "a"), "a");
  await app.close();
});

for (const coded of [false, true]) {
  test(`another process calls over the socket${coded ? ", with a codec" : ""}`, () =>
    withApp(async (app, path) => {
      await app.served;
      const other = startModule(caller, [path, ...(coded ? ["coded"] : [])]);
      const said: unknown[] = [];
      for await (const line of other.lines) said.push(JSON.parse(line));
      await other.exited;
      assert.deepEqual(said, [
        "a",
        [{ rows: 1 }, { rows: 2 }, { rows: 3 }, { rows: 4 }],
        [true, "fail", "not four", [{ line: "four" }]],
        'unknown function "missing"; known functions: "begin", "fail", "large", "nothing", "promise", "sayLine"',
      ], other.errors());
      assert.deepEqual(rows(app), ["one", "two", "three", "end"]);
      assert.deepEqual(await app.client.getHandle(listener, "a").result(), ["one", "two", "three"]);
      if (coded) assert.equal(readFileSync(path).includes('"three"'), false);
    }, coded ? { codec: invertingSyncCodec() } : {}));
}

test("functions need the synchronous form of a codec", async () => {
  await assert.rejects(
    open({ functions, codec: invertingCodec(), workflows: { listener }, logger: silentLogger }),
    /functions with a codec need its synchronous form/,
  );
});

test("a cluster rejects calls, with what to use instead", async () => {
  const server = await startDevServer({
    port: 0,
    namespaces: ["default"],
    storeOf: () => undefined,
    logger: silentLogger,
  });
  const service = await Connection.connect({ address: `127.0.0.1:${server.port}` });
  const advice = /only an embedded engine runs functions.*Send a signal or an update to a workflow/;
  await assert.rejects(new Client({ service, logger: silentLogger }).call("begin", "a"), advice);
  const bare = { call: service.call.bind(service) };
  await assert.rejects(new Client({ service: bare }).call("begin", "a"), advice);
  await service.close();
  await server.close();
});

test("a call has the client's deadline, and is not sent twice", async () => {
  let sent = 0;
  const service = {
    call: () => Promise.reject(new Error("not called")),
    callOther(_path: string, _request: Uint8Array, { timeoutMs }: { timeoutMs?: number } = {}) {
      sent++;
      return Promise.reject(new ServiceError(timeoutMs === 50 ? 4 : 14, `within ${timeoutMs} ms`));
    },
  };
  const client = (timeout: string) => new Client({ service, timeout, logger: silentLogger });
  await assert.rejects(client("20s").call("begin"), /within 20000 ms|within 19\d+/);
  assert.equal(sent, 1);
  await assert.rejects(client("50ms").call("begin"), (error: Error) => {
    assert.ok(error instanceof DeadlineExceededError || error instanceof ServiceError);
    return true;
  });
  assert.equal(sent, 2);
});
