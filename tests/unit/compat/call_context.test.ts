// Call contexts of `Connection`: metadata, keys, deadlines and abort signals of one connection
// never reach the calls of another.
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { test } from "node:test";
import { CallContexts } from "../../../ts/compat/client/call_context.ts";
import {
  AsyncCompletionClient,
  Client,
  Connection,
  isGrpcServiceError,
} from "../../../ts/compat/client/mod.ts";
import { RAW_SERVICE } from "../../../ts/compat/client/connection.ts";
import { NativeConnection } from "../../../ts/compat/worker/connection.ts";
import { Runtime } from "../../../ts/compat/worker/runtime.ts";
import { Worker } from "../../../ts/compat/worker/worker.ts";
import { runWithAbortSignal } from "../../../ts/compat/worker/client_signal.ts";
import { type CallOptions, Code, type RawService, ServiceError } from "../../../ts/service/raw.ts";

interface Sent {
  readonly to: string;
  readonly method: string;
  readonly options: CallOptions;
}

/** Returns a connection to a service that records its calls and returns empty responses. */
function recorded(to: string, sent: Sent[]): Connection {
  const service: RawService = {
    call(method, _request, options = {}) {
      if (options.signal?.aborted) {
        return Promise.reject(new ServiceError(Code.CANCELLED, "Call cancelled"));
      }
      sent.push({ to, method, options });
      return Promise.resolve(new Uint8Array(0));
    },
  };
  return Connection.over(service);
}

test("values set for one connection are sent only on that connection, also in nested contexts", async () => {
  const sent: Sent[] = [];
  const [a, b] = [recorded("a", sent), recorded("b", sent)];
  const ask = (connection: Connection) => connection.workflowService.getSystemInfo({});
  const metadata = () => sent.splice(0).map(({ to, options }) => [to, options.metadata]);
  await a.withApiKey("key-of-a", async () => (await ask(a), await ask(b)));
  assert.deepEqual(metadata(), [["a", { authorization: "Bearer key-of-a" }], ["b", undefined]]);
  await a.withMetadata(
    { tenant: "a" },
    () =>
      b.withMetadata(
        { tenant: "b" },
        () => a.withMetadata({ more: "yes" }, async () => (await ask(a), await ask(b))),
      ),
  );
  assert.deepEqual(metadata(), [["a", { tenant: "a", more: "yes" }], ["b", { tenant: "b" }]]);
  assert.deepEqual(a.callContextStorage.getStore(), {}, "outside of a context there is nothing");
  await a.withMetadata({ tenant: "a" }, () => {
    assert.deepEqual(a.callContextStorage.getStore(), { metadata: { tenant: "a" } });
    assert.deepEqual(b.callContextStorage.getStore(), {});
    return Promise.resolve();
  });
});

test("deadlines and abort signals of one connection do not affect calls of another", async () => {
  const sent: Sent[] = [];
  const [a, b] = [recorded("a", sent), recorded("b", sent)];
  const calls = (connection: Connection): { [name: string]: () => Promise<unknown> } => {
    const { workflow, schedule } = new Client({ connection });
    const activities = new AsyncCompletionClient({ connection });
    const handle = workflow.getHandle("wf");
    return {
      raw: () => connection.workflowService.getSystemInfo({}),
      start: () => workflow.start("W", { workflowId: "wf", taskQueue: "q" }),
      signalWithStart: () =>
        workflow.signalWithStart("W", { workflowId: "wf", taskQueue: "q", signal: "s" }),
      signal: () => handle.signal("s"),
      cancel: () => handle.cancel(),
      terminate: () => handle.terminate(),
      describe: () => handle.describe(),
      count: () => workflow.count(),
      list: () => workflow.list()[Symbol.asyncIterator]().next(),
      heartbeat: () => activities.heartbeat(new Uint8Array([1])),
      complete: () => activities.complete(new Uint8Array([1]), 1),
      trigger: () => schedule.getHandle("s").trigger(),
      schedules: () => schedule.list().next(),
    };
  };
  const stopped = AbortSignal.abort();
  for (const [name, call] of Object.entries(calls(b))) {
    // An empty response may be too little for the client: what is sent counts.
    await a.withAbortSignal(stopped, () => a.withDeadline(Date.now() - 1, call)).catch(() => {});
    assert.ok(sent.length > 0, name);
    for (const { to, options } of sent.splice(0)) {
      assert.equal(to, "b", name);
      assert.notEqual(options.signal, stopped, name);
    }
    await assert.rejects(b.withAbortSignal(stopped, call), (error: Error) => {
      const found = isGrpcServiceError(error) ? error : error.cause;
      assert.match(String(found ?? error), /cancelled/i, name);
      return true;
    });
    assert.deepEqual(sent, [], `${name}: nothing is sent`);
  }
});

test("a client of a worker's connection works in a canceled activity; one of another connection ends with the activity", async () => {
  const sent: Sent[] = [];
  const service: RawService = {
    call: (
      method,
      _,
      options = {},
    ) => (sent.push({ to: "native", method, options }), Promise.resolve(new Uint8Array(0))),
  };
  // Made without a server: the class connects only by `connect`.
  const inner = Connection.over(service);
  const native = Object.create(NativeConnection.prototype, {
    workflowService: { value: inner.workflowService },
    [RAW_SERVICE]: { value: inner[RAW_SERVICE] },
  }) as NativeConnection;
  const signal = AbortSignal.abort();
  await runWithAbortSignal(
    new Client({ connection: native }),
    signal,
    () => native.workflowService.getSystemInfo({}),
  );
  assert.deepEqual(sent.map(({ to, options }) => [to, options.signal]), [["native", undefined]]);
  const other = recorded("other", sent);
  await assert.rejects(
    runWithAbortSignal(
      new Client({ connection: other }),
      signal,
      () => other.workflowService.getSystemInfo({}),
    ),
  );
});

test("contexts follow awaits, and two of them at once do not mix", async () => {
  const contexts = new CallContexts();
  const one = (tenant: string) =>
    contexts.run({ metadata: { tenant } }, async () => {
      const seen = [];
      for (let i = 0; i < 3; i++) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        seen.push(contexts.current().metadata?.["tenant"]);
      }
      return seen;
    });
  assert.deepEqual(await Promise.all([one("a"), one("b")]), [["a", "a", "a"], ["b", "b", "b"]]);
});

test("a header in another case replaces the one of the context or of the API key", async () => {
  const sent: Sent[] = [];
  const a = recorded("a", sent);
  const ask = () => a.workflowService.getSystemInfo({});
  await a.withApiKey("outer", () => a.withMetadata({ Authorization: "Basic x" }, ask));
  await a.withMetadata({ Authorization: "Basic x" }, () => a.withApiKey("inner", ask));
  // The name was first in the outer context: the innermost value counts, not the newest name.
  await a.withApiKey(
    "outer",
    () => a.withMetadata({ Authorization: "Basic x" }, () => a.withApiKey("inner", ask)),
  );
  const inner = { authorization: "Bearer inner" };
  assert.deepEqual(sent.map(({ options }) => options.metadata), [
    { Authorization: "Basic x" },
    inner,
    inner,
  ]);
});

test("constructors of workers, runtimes and their connections throw and name the factory function", () => {
  for (
    const [constructor, message] of [
      [
        NativeConnection,
        'NativeConnection has no public constructor: use "await NativeConnection.connect(options)"',
      ],
      [Worker, 'Worker has no public constructor: use "await Worker.create(options)"'],
      [
        Runtime,
        'Runtime has no public constructor: use "Runtime.install(options)" or "Runtime.instance()"',
      ],
    ] as const
  ) {
    const Constructor = constructor as unknown as new (options?: object) => object;
    for (const options of [undefined, {}, { taskQueue: "q" }]) {
      assert.throws(() => new Constructor(options), { name: "TypeError", message });
    }
  }
});

test("the constructor throws and names the functions that make a connection", () => {
  const Constructor = Connection as unknown as new (options: object) => Connection;
  assert.throws(
    () => new Constructor({}),
    /Connection has no public constructor: use "await Connection.connect\(options\)"/,
  );
});
