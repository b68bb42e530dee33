// A service served over HTTP/2 and called over it: bytes, refusals, waits, callers that go away,
// services that end.
import assert from "node:assert/strict";
import { connect as http2Connect } from "node:http2";
import net from "node:net";
import { after, before, test } from "node:test";
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../../../ts/service/raw.ts";
import { endAfterGoaway } from "../../../ts/platform/deno_goaway_workaround.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { listen, type Listener } from "../../../ts/server/listener.ts";
import { serviceHandler } from "../../../ts/server/grpc_handlers.ts";

type Answer = (
  method: MethodName,
  request: Uint8Array,
  options: CallOptions,
) => Promise<Uint8Array>;
let answer: Answer = () => Promise.reject(new Error("nothing was asked"));
const service: RawService = {
  call: (method, request, options = {}) => answer(method, request, options),
};

let listener: Listener, client: GrpcService;
const noise: unknown[] = [];
const consoleError = console.error;

// The server does not keep its process alive, which here is the test's.
const awake = setInterval(() => {}, 1000);

before(async () => {
  console.error = (...words) => noise.push(words);
  listener = await listen({ at: { port: 0 }, handler: serviceHandler(service) });
  client = new GrpcService({ address: `127.0.0.1:${listener.port}` });
});
after(async () => {
  clearInterval(awake);
  client.close();
  await listener.close(0);
  console.error = consoleError;
  assert.deepEqual(noise, [], "nothing is written to the console on the way");
});

test("requests and responses pass through byte for byte, large ones too", async () => {
  const odd = Uint8Array.of(0xfa, 0x7f, 2, 1, 2, 0x0a, 1, 65, 0x0a, 1, 66, 0x18, 0x96, 1);
  let seen: [MethodName, Uint8Array] | undefined;
  answer = (method, request) => {
    seen = [method, request];
    return Promise.resolve(odd);
  };
  assert.deepEqual(await client.call("signalWorkflowExecution", odd), odd);
  assert.deepEqual(seen, ["signalWorkflowExecution", odd]);
  const large = new Uint8Array(6 + 0x600000);
  large.set([0xfa, 0x7f, 0x80, 0x80, 0x80, 0x03]);
  answer = (_, request) => Promise.resolve(request);
  assert.equal((await client.call("startWorkflowExecution", large)).length, large.length);
});

test("a query without a deadline waits as long as on a Temporal server; other calls wait as long as their callers", async () => {
  const deadlines: [MethodName, number | undefined][] = [];
  answer = (method, _request, { timeoutMs }) => {
    deadlines.push([method, timeoutMs]);
    return Promise.resolve(new Uint8Array(0));
  };
  const session = http2Connect("http://localhost", {
    createConnection: () => net.connect(listener.port),
  });
  endAfterGoaway(session);
  for (const method of ["QueryWorkflow", "PollWorkflowTaskQueue"]) {
    await new Promise<void>((resolve, reject) => {
      const stream = session.request({
        ":method": "POST",
        ":path": `/temporal.api.workflowservice.v1.WorkflowService/${method}`,
        "content-type": "application/grpc",
        "te": "trailers",
      });
      stream.on("error", reject).on("close", resolve).resume().end(new Uint8Array(5));
    });
  }
  session.close();
  assert.deepEqual(deadlines, [["queryWorkflow", 30_000], ["pollWorkflowTaskQueue", undefined]]);
});

test("an error of several operations keeps the status of each", async () => {
  const operations = [
    new ServiceError(Code.ALREADY_EXISTS, "taken", "WorkflowExecutionAlreadyStarted", {
      start_request_id: "q",
      run_id: "r",
    }),
    new ServiceError(Code.ABORTED, "Operation was aborted.", "MultiOperationExecutionAborted"),
    undefined,
  ];
  answer = () =>
    Promise.reject(
      new ServiceError(Code.ALREADY_EXISTS, "not done", "MultiOperationExecution", {}, {
        operations,
      }),
    );
  await assert.rejects(
    client.call("executeMultiOperation", new Uint8Array(0)),
    (error: ServiceError) => {
      assert.deepEqual([error.code, error.message, error.reason], [
        Code.ALREADY_EXISTS,
        "not done",
        "MultiOperationExecution",
      ]);
      const shown = error.operations.map((one) =>
        one && [one.code, one.message, one.reason, one.metadata]
      );
      assert.deepEqual(
        shown,
        operations.map((one) => one && [one.code, one.message, one.reason, one.metadata]),
      );
      return true;
    },
  );
});

test("an error keeps its code, message, name and fields", async () => {
  for (
    const error of [
      new ServiceError(Code.RESOURCE_EXHAUSTED, "too much", "ResourceExhausted", { cause: "5" }),
      new ServiceError(
        Code.ALREADY_EXISTS,
        "already there; größer",
        "WorkflowExecutionAlreadyStarted",
        {
          start_request_id: "q",
          run_id: "r",
        },
      ),
      new ServiceError(Code.RESOURCE_EXHAUSTED, "too many", "OpenRuns", {
        limit: "10",
        unit: "runs",
      }),
      new ServiceError(Code.NOT_FOUND, "no such", "NotFound"),
      new ServiceError(Code.UNAVAILABLE, "later"),
    ]
  ) {
    answer = () => Promise.reject(error);
    const refused = await client.call("describeWorkflowExecution", new Uint8Array(0)).then(
      () => undefined,
      (e) => e as ServiceError,
    );
    assert.ok(refused instanceof ServiceError);
    assert.deepEqual([refused.code, refused.message, refused.reason, refused.metadata], [
      error.code,
      error.message,
      error.reason,
      error.metadata,
    ]);
  }
  answer = () =>
    Promise.reject(new ServiceError(Code.UNAVAILABLE, "the engine is closed", "EngineClosed"));
  const gone = await client.call("describeWorkflowExecution", new Uint8Array(0)).then(
    () => undefined,
    (e) => e as ServiceError,
  );
  assert.deepEqual(
    [gone?.code, gone?.reason],
    [Code.UNAVAILABLE, ""],
    "another engine may answer at this address",
  );
  answer = () => Promise.reject(new TypeError("a bug"));
  await assert.rejects(
    client.call("describeWorkflowExecution", new Uint8Array(0)),
    (e) => (e as ServiceError).code === Code.INTERNAL,
  );
});

/** A call that waits until its caller cancels it. */
function waits(): { began: Promise<CallOptions>; ended: Promise<unknown> } {
  let begin: (options: CallOptions) => void = () => {}, end: (reason: unknown) => void = () => {};
  const began = new Promise<CallOptions>((resolve) => (begin = resolve));
  const ended = new Promise((resolve) => (end = resolve));
  answer = (_method, _request, options) =>
    new Promise((_, reject) => {
      begin(options);
      options.signal?.addEventListener("abort", () => {
        end(options.signal?.reason);
        reject(new ServiceError(Code.CANCELLED, "canceled"));
      });
    });
  return { began, ended };
}

test("an abort or the deadline of a caller cancels its call", async () => {
  const given = waits();
  const controller = new AbortController();
  const call = client.call("pollWorkflowTaskQueue", new Uint8Array(0), {
    signal: controller.signal,
    timeoutMs: 60_000,
  });
  const { timeoutMs } = await given.began;
  assert.ok(timeoutMs! > 50_000 && timeoutMs! <= 60_000, `${timeoutMs}`);
  controller.abort();
  await assert.rejects(call, (e) => (e as ServiceError).code === Code.CANCELLED);
  await given.ended;

  // Long enough for the call to get there: one that is canceled before its server has read it never
  // begins.
  const late = waits();
  await assert.rejects(
    client.call("pollWorkflowTaskQueue", new Uint8Array(0), { timeoutMs: 1000 }),
    (e) => (e as ServiceError).code === Code.DEADLINE_EXCEEDED,
  );
  await late.ended;
});

test("the death of a caller cancels its calls, and the server continues", async () => {
  const given = waits();
  const session = http2Connect("http://localhost", {
    createConnection: () => net.connect(listener.port),
  });
  endAfterGoaway(session);
  session.on("error", () => {});
  const stream = session.request({
    ":method": "POST",
    ":path": "/temporal.api.workflowservice.v1.WorkflowService/PollWorkflowTaskQueue",
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.on("error", () => {});
  stream.end(new Uint8Array(5));
  await given.began;
  session.destroy();
  await given.ended;
  answer = () => Promise.resolve(new Uint8Array(0));
  await client.call("getSystemInfo", new Uint8Array(0));
});

test("curl can call the API with JSON over Connect", async () => {
  const { create, toBinary } = await import("@bufbuild/protobuf");
  const { CountWorkflowExecutionsResponseSchema } = await import(
    "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts"
  );
  answer = () =>
    Promise.resolve(
      toBinary(
        CountWorkflowExecutionsResponseSchema,
        create(CountWorkflowExecutionsResponseSchema, { count: 7n }),
      ),
    );
  const session = http2Connect("http://localhost", {
    createConnection: () => net.connect(listener.port),
  });
  endAfterGoaway(session);
  const stream = session.request({
    ":method": "POST",
    ":path": "/temporal.api.workflowservice.v1.WorkflowService/CountWorkflowExecutions",
    "content-type": "application/json",
  });
  stream.end('{"namespace": "default"}');
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += chunk;
  session.close();
  assert.deepEqual(JSON.parse(text), { count: "7" });
});

test("a closing server completes open calls and rejects later ones as UNAVAILABLE", async () => {
  const other = await listen({ at: { port: 0 }, handler: serviceHandler(service) });
  const caller = new GrpcService({ address: `127.0.0.1:${other.port}` });
  let finish: (bytes: Uint8Array) => void = () => {};
  const began = new Promise<void>((resolve) => {
    answer = () => new Promise((done) => (finish = done, resolve()));
  });
  const open = caller.call("getSystemInfo", new Uint8Array(0));
  await began;
  const closing = other.close(60_000);
  finish(Uint8Array.of(0x0a, 1, 65));
  assert.deepEqual(await open, Uint8Array.of(0x0a, 1, 65));
  await closing;
  await assert.rejects(
    caller.call("getSystemInfo", new Uint8Array(0)),
    (e) => (e as ServiceError).code === Code.UNAVAILABLE,
  );
  caller.close();
});

test("invalid addresses are rejected", () => {
  for (const address of ["localhost", "http://localhost:1", "unix"]) {
    assert.throws(() => new GrpcService({ address }), /write "host:port"/, address);
  }
  assert.throws(() => new GrpcService({ address: "unix:/x", tls: true }), /does not support TLS/);
});
