// The server of `temporalex dev`, in this process: namespaces, health, what nobody has, what it says about itself, its two ports.
import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { after, before, test } from "node:test";
import { create, equals, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { Client, silentLogger } from "../../ts/client/mod.ts";
import { namespaceField, Namespaces } from "../../ts/dev/namespaces.ts";
import { type DevServer, startDevServer } from "../../ts/dev/server.ts";
import { EmbeddedEngine, MemoryStore } from "../../ts/engine/mod.ts";
import {
  DescribeNamespaceResponseSchema,
  PollWorkflowTaskQueueRequestSchema,
  StartWorkflowExecutionRequestSchema,
  UpdateWorkflowExecutionRequestSchema,
} from "../../ts/api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { endAfterGoaway } from "../../ts/platform/deno_goaway_workaround.ts";
import { WorkflowService } from "../../ts/api/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { Code, ServiceError } from "../../ts/service/raw.ts";
import { METHOD_NAMES } from "../../ts/api/raw_methods.ts";
import { until } from "../support/until.ts";
import { GrpcService } from "../../ts/grpc/grpc_service.ts";

const ORIGIN = "http://localhost:5173";
let server: DevServer, service: GrpcService, connected: Http2SessionManager;
const typed = () =>
  createClient(WorkflowService, createGrpcTransport({ baseUrl: connected.authority, sessionManager: connected }));

before(async () => {
  server = await startDevServer({
    port: 0,
    httpPort: 0,
    origins: [ORIGIN],
    namespaces: ["default", "orders"],
    storeOf: () => undefined,
    logger: silentLogger,
  });
  service = new GrpcService({ address: `127.0.0.1:${server.port}` });
  connected = new Http2SessionManager(`http://127.0.0.1:${server.port}`);
});
after(async () => {
  service.close();
  // Before the server says goodbye: in Deno that may crash a connection of others (ts/platform/deno_goaway_workaround.ts).
  connected.abort();
  await server.close();
});

/** One gRPC call by hand: headers, trailers and messages as they are on the wire. */
async function grpc(path: string, body = new Uint8Array(0), headers: { [name: string]: string } = {}) {
  const session = connect(`http://127.0.0.1:${server.port}`, { maxSessionMemory: 512 });
  endAfterGoaway(session);
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  const frame = new Uint8Array(5 + body.length);
  new DataView(frame.buffer).setUint32(1, body.length);
  frame.set(body, 5);
  stream.end(frame);
  let head: IncomingHttpHeaders = {}, trailers: IncomingHttpHeaders = {};
  stream.on("response", (got) => head = got).on("trailers", (got) => trailers = got);
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  session.close();
  const status = trailers["grpc-status"] ?? head["grpc-status"];
  const message = decodeURIComponent(String(trailers["grpc-message"] ?? head["grpc-message"] ?? ""));
  return { http: head[":status"], status, message, body: new Uint8Array(Buffer.concat(chunks)) };
}

const refused = (code: number, message: RegExp) => (error: unknown) =>
  error instanceof ServiceError && error.code === code && message.test(error.message);

test("namespaces are apart, can be added, and an unknown one is named with what to do", async () => {
  const clientOf = (namespace: string) => new Client({ service, namespace, taskQueue: "q", logger: silentLogger });
  await clientOf("default").start("Work", { id: "one" });
  await clientOf("orders").start("Work", { id: "two" });
  const ids = async (namespace: string) => {
    const found = [];
    for await (const { workflowId } of clientOf(namespace).list()) found.push(workflowId);
    return found;
  };
  assert.deepEqual([await ids("default"), await ids("orders")], [["one"], ["two"]]);
  await assert.rejects(
    typed().listWorkflowExecutions({ namespace: "other" }),
    /Namespace other is not found.*serves: default, orders.*--namespace other/,
  );
  await assert.rejects(clientOf("orders").getHandle("Work", "one").describe(), /not found/);
  const register = (name: string) =>
    grpc(
      "/temporal.api.workflowservice.v1.WorkflowService/RegisterNamespace",
      new Uint8Array([10, name.length, ...new TextEncoder().encode(name)]),
    );
  assert.equal((await register("late")).status, "0");
  assert.deepEqual(await ids("late"), []);
  assert.deepEqual([(await register("late")).status, (await register("late")).message], ["6", "Namespace late already exists."]);
  assert.match((await register("../x")).message, /no name of a namespace/);
  const { namespaces } = await typed().listNamespaces({});
  assert.deepEqual(namespaces.map((each) => each.namespaceInfo?.name), ["default", "orders", "late"]);
  assert.equal((await typed().describeNamespace({ id: "orders" })).namespaceInfo?.name, "orders");
});

const REGISTER = "/temporal.api.workflowservice.v1.WorkflowService/RegisterNamespace";
/** The bytes of a RegisterNamespaceRequest, whose message is not generated. */
function registration(name: string, more: (writer: BinaryWriter) => unknown = () => {}): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string(name);
  more(writer);
  return new Uint8Array(writer.finish());
}

test("what a namespace is registered with is kept, shown and done, or refused by name", async () => {
  const text = (field: number, value: string) => (writer: BinaryWriter) =>
    writer.tag(field, WireType.LengthDelimited).string(value);
  const request = registration("kept", (writer) => {
    text(2, "of the shop")(writer);
    text(3, "shop@example.com")(writer);
    writer.tag(4, WireType.LengthDelimited).fork().tag(1, WireType.Varint).int64(1).tag(2, WireType.Varint).int32(500_000_000)
      .join();
    for (const [key, value] of [["team", "a"], ["__proto__", "b"]] as const) {
      writer.tag(7, WireType.LengthDelimited).fork();
      text(1, key)(writer);
      text(2, value)(writer);
      writer.join();
    }
    writer.tag(9, WireType.Varint).bool(false).tag(10, WireType.Varint).int32(1);
  });
  assert.equal((await grpc(REGISTER, request)).status, "0");
  const { namespaceInfo, config } = await typed().describeNamespace({ namespace: "kept" });
  assert.deepEqual([namespaceInfo!.description, namespaceInfo!.ownerEmail], ["of the shop", "shop@example.com"]);
  assert.deepEqual(Object.entries(namespaceInfo!.data), [["team", "a"], ["__proto__", "b"]]);
  const { seconds, nanos } = config!.workflowExecutionRetentionTtl!;
  assert.deepEqual([seconds, nanos], [1n, 500_000_000]);
  const { namespaces } = await typed().listNamespaces({});
  assert.equal(namespaces.find((each) => each.namespaceInfo?.name === "kept")?.namespaceInfo?.description, "of the shop");
  for (
    const [more, message] of [
      [text(6, "other"), /namespace no cannot be registered: an active cluster/],
      [(writer: BinaryWriter) => writer.tag(9, WireType.Varint).bool(true), /a global namespace/],
      [(writer: BinaryWriter) => writer.tag(10, WireType.Varint).int32(2), /archival of histories: export them/],
      [text(13, "file:///x"), /archival of visibility/],
      [
        (writer: BinaryWriter) => writer.tag(4, WireType.LengthDelimited).fork().tag(1, WireType.Varint).int64(-5).join(),
        /a retention of -5000 ms/,
      ],
    ] as const
  ) {
    const answer = await grpc(REGISTER, registration("no", more));
    assert.deepEqual([answer.status, message.test(answer.message!)], ["3", true], answer.message);
  }
  assert.ok(!server.namespaces.names.includes("no"));
});

test("closed runs of a namespace are removed when its retention is over", async () => {
  const engines: EmbeddedEngine[] = [];
  const kept: number[] = [];
  const namespaces = await Namespaces.open(["default"], {}, {
    open: async (namespace) => {
      const engine = await EmbeddedEngine.open({ namespace, store: new MemoryStore() });
      engines.push(engine);
      return engine;
    },
    keepFor: (retentionMs, engine) => (kept.push(retentionMs, engines.indexOf(engine)), () => kept.push(-1)),
  });
  await namespaces.register("short", { retentionMs: 1000 });
  assert.deepEqual(kept, [1000, 1]);
  await namespaces.close();
  assert.deepEqual(kept, [1000, 1, -1]);
});

test("of two registrations of one name at the same time one succeeds; an end of the server leaves no engine open", async () => {
  const engines: EmbeddedEngine[] = [];
  let release = () => {};
  const namespaces = await Namespaces.open(["default"], {}, {
    open: async (namespace) => {
      if (namespace !== "default") await new Promise<void>((resolve) => release = resolve);
      const engine = await EmbeddedEngine.open({ namespace, store: new MemoryStore() });
      engines.push(engine);
      return engine;
    },
    keepFor: () => () => {},
  });
  const both = Promise.allSettled([namespaces.register("twice", {}), namespaces.register("twice", {})]);
  release();
  const outcomes = await both;
  assert.deepEqual(outcomes.map(({ status }) => status), ["fulfilled", "rejected"]);
  assert.match(String((outcomes[1] as PromiseRejectedResult).reason), /Namespace twice already exists/);
  assert.equal(engines.length, 2);
  const late = assert.rejects(namespaces.register("late", {}), /the server ended while namespace late was added/);
  const closing = namespaces.close();
  release();
  await Promise.all([late, closing]);
  assert.equal(engines.length, 3);
  for (const engine of engines) {
    await assert.rejects(engine.call("listWorkflowExecutions", new Uint8Array(0)), /closed/);
  }
});

test("the status of a task queue is there for tools that ask for it", async () => {
  const asked = { namespace: "default", taskQueue: { name: "nobody" }, includeTaskQueueStatus: true };
  const { taskQueueStatus } = await typed().describeTaskQueue(asked);
  assert.deepEqual([taskQueueStatus?.backlogCountHint, taskQueueStatus?.taskIdBlock?.startId], [0n, 1n]);
  assert.equal((await typed().describeTaskQueue({ ...asked, includeTaskQueueStatus: false })).taskQueueStatus, undefined);
});

test("what is written and read by hand is what the generated messages say", async () => {
  for (const [name, { input }] of Object.entries(WorkflowService.method)) {
    const number = input.fields.find((field) => field.name === "namespace")?.number ?? 0;
    assert.equal(namespaceField(name as keyof typeof WorkflowService.method), number, name);
  }
  assert.deepEqual([...METHOD_NAMES].sort(), Object.keys(WorkflowService.method).sort());
  const namespace = await typed().describeNamespace({ namespace: "orders" });
  const expected = create(DescribeNamespaceResponseSchema, {
    namespaceInfo: {
      name: "orders",
      id: "orders",
      state: 1,
      description: "embedded engine",
      capabilities: { syncUpdate: true, asyncUpdate: true, workerPollCompleteOnShutdown: true },
    },
    config: { workflowExecutionRetentionTtl: {}, historyArchivalState: 1, visibilityArchivalState: 1 },
    replicationConfig: { activeClusterName: "temporalex", clusters: [{ clusterName: "temporalex" }] },
  });
  assert.ok(equals(DescribeNamespaceResponseSchema, namespace, expected));
});

test("it says what it is, and offers nothing that it does not have", async () => {
  const { capabilities } = await typed().getSystemInfo({});
  assert.deepEqual(
    Object.entries(capabilities!).filter(([, value]) => value === true).map(([name]) => name).sort(),
    [
      "activityFailureIncludeHeartbeat",
      "countGroupByExecutionStatus",
      "encodedFailureAttributes",
      "internalErrorDifferentiation",
      "sdkMetadata",
      "signalAndQueryHeader",
      "upsertMemo",
    ],
  );
  const cluster = await typed().getClusterInfo({});
  assert.deepEqual([cluster.clusterName, cluster.persistenceStore, cluster.historyShardCount], ["temporalex", "memory", 1]);
  const { keys } = await typed().getSearchAttributes({});
  assert.ok("WorkflowType" in keys && !("Custom" in keys));
  // What visibility queries know is what it claims.
  for (const name of Object.keys(keys)) {
    await typed().countWorkflowExecutions({ namespace: "default", query: `${name} IS NOT NULL` });
  }
});

test("what nobody has is refused with UNIMPLEMENTED and what to use instead, in each protocol", async () => {
  const path = "/temporal.api.workflowservice.v1.WorkflowService/";
  for (
    const [method, words] of [
      ["ListSchedules", /schedules.*continues as new/],
      ["ListWorkers", /DescribeTaskQueue/],
      ["StartBatchOperation", /batch operations/],
      ["PollNexusTaskQueue", /Nexus/],
      ["ResetWorkflowExecution", /reset of workflows/],
      ["SomethingNew", /does not have SomethingNew/],
    ] as const
  ) {
    const answer = await grpc(path + method);
    assert.deepEqual([answer.http, answer.status], [200, String(Code.UNIMPLEMENTED)], method);
    assert.match(answer.message, words);
  }
  const other = await grpc("/acme.Service/Do");
  assert.deepEqual([other.status, other.message], ["12", "temporalex dev does not have the service acme.Service"]);
  assert.equal((await grpc("/")).http, 404);
  const operator = await grpc("/temporal.api.operatorservice.v1.OperatorService/AddSearchAttributes");
  assert.match(operator.message, /queries know the built-in ones/);
});

test("the health service: Check, and Watch that is told of the end", async () => {
  const named = (name: string) => new Uint8Array([10, name.length, ...new TextEncoder().encode(name)]);
  const check = await grpc("/grpc.health.v1.Health/Check");
  assert.deepEqual([check.status, [...check.body]], ["0", [0, 0, 0, 0, 2, 8, 1]]);
  const known = await grpc("/grpc.health.v1.Health/Check", named(WorkflowService.typeName));
  assert.equal(known.status, "0");
  assert.deepEqual((await grpc("/grpc.health.v1.Health/Check", named("acme"))).status, String(Code.NOT_FOUND));
  const mortal = await startDevServer({
    port: 0,
    namespaces: ["default"],
    storeOf: () => undefined,
    logger: silentLogger,
  });
  const session = connect(`http://127.0.0.1:${mortal.port}`);
  endAfterGoaway(session);
  let wentAway = false;
  session.on("goaway", () => wentAway = true);
  const stream = session.request({
    ":method": "POST",
    ":path": "/grpc.health.v1.Health/Watch",
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.end(new Uint8Array(5));
  const first = new Promise((resolve) => stream.once("data", resolve));
  const got: number[] = [];
  stream.on("data", (chunk: Uint8Array) => got.push(...chunk));
  let status: unknown;
  stream.on("trailers", (trailers) => status = trailers["grpc-status"]);
  const ended = new Promise((resolve) => stream.on("close", resolve));
  await first;
  await mortal.close();
  await ended;
  session.close();
  assert.deepEqual([got, status], [[0, 0, 0, 0, 2, 8, 1, 0, 0, 0, 0, 2, 8, 2], "0"]);
  assert.ok(wentAway, "connections are told that the server goes away");
});

test("its end answers calls that wait", async () => {
  const mortal = await startDevServer({ port: 0, namespaces: ["default"], storeOf: () => undefined, logger: silentLogger });
  const caller = new GrpcService({ address: `127.0.0.1:${mortal.port}` });
  const poll = create(PollWorkflowTaskQueueRequestSchema, { namespace: "default", taskQueue: { name: "q" } });
  const waiting = Array.from(
    { length: 150 },
    () =>
      caller.call("pollWorkflowTaskQueue", toBinary(PollWorkflowTaskQueueRequestSchema, poll), { timeoutMs: 60_000 })
        .then(() => "answered", (error: ServiceError) => error.code),
  );
  await caller.call("getSystemInfo", new Uint8Array(0));
  const began = performance.now();
  await mortal.close();
  assert.ok((await Promise.all(waiting)).every((code) => code === Code.UNAVAILABLE));
  assert.ok(performance.now() - began < 40_000, "polls are not waited for");
  caller.close();
});

test("history backwards, page by page; pages of another run are refused", async () => {
  const client = new Client({ service, taskQueue: "q", logger: silentLogger });
  const handle = await client.start("Work", { id: "backwards" });
  for (let i = 0; i < 5; i++) await handle.signal("go", i);
  const execution = { workflowId: "backwards", runId: "" };
  const pages: string[][] = [];
  let nextPageToken = new Uint8Array(0);
  do {
    const page = await typed().getWorkflowExecutionHistoryReverse({ execution, maximumPageSize: 3, nextPageToken });
    pages.push(page.history!.events.map(({ eventId }) => String(eventId)));
    nextPageToken = page.nextPageToken as Uint8Array<ArrayBuffer>;
  } while (nextPageToken.length > 0);
  assert.deepEqual(pages, [["7", "6", "5"], ["4", "3", "2"], ["1"]]);
  await assert.rejects(
    typed().getWorkflowExecutionHistoryReverse({ execution, nextPageToken: new Uint8Array([1]) }),
    /nextPageToken is none/,
  );
  await assert.rejects(
    typed().getWorkflowExecutionHistoryReverse({ execution: { workflowId: "nobody" } }),
    /not found for ID: nobody/,
  );
});

test("delete: a closed run is removed, an open one is ended first, an older run comes to light", async () => {
  const client = new Client({ service, taskQueue: "q", logger: silentLogger });
  const first = await client.start("Work", { id: "twice" });
  await first.terminate();
  const second = await client.start("Work", { id: "twice" });
  const following = second.result().then(() => "result", (error: Error) => error.message);
  const current = async () =>
    (await typed().describeWorkflowExecution({ execution: { workflowId: "twice" } })).workflowExecutionInfo;
  assert.equal((await current())?.execution?.runId, second.runId);
  await typed().deleteWorkflowExecution({ namespace: "default", workflowExecution: { workflowId: "twice" } });
  assert.match(await following, /terminated|not found/, "who waited for it is told");
  assert.equal((await current())?.execution?.runId, first.runId);
  await assert.rejects(client.getHandle("Work", "twice", second.runId).historyBytes(), /not found/);
  await typed().deleteWorkflowExecution({ workflowExecution: { workflowId: "twice", runId: first.runId! } });
  await assert.rejects(current(), /not found/);
  await assert.rejects(
    typed().deleteWorkflowExecution({ workflowExecution: { workflowId: "twice" } }),
    /not found for ID: twice/,
  );
  await assert.rejects(typed().deleteWorkflowExecution({}), /WorkflowId is not set/);
  // The id is free again.
  await client.start("Work", { id: "twice", idReusePolicy: "REJECT_DUPLICATE" });
});

test("update-with-start: refused as a whole, with the operation that was the cause", async () => {
  const client = new Client({ service, taskQueue: "pairs", logger: silentLogger });
  const options = { id: "pair", update: "add", updateArgs: [1], timeout: 1000 };
  // Nobody works here: the workflow is there, and its update waits.
  await assert.rejects(client.executeUpdateWithStart("Work", { ...options, updateId: "u" }), /deadline|not answered|within/i);
  const { status, taskQueue } = await client.getHandle("Work", "pair").describe();
  assert.deepEqual([status, taskQueue], ["RUNNING", "pairs"]);
  await assert.rejects(
    client.executeUpdateWithStart("Work", { ...options, idConflictPolicy: "FAIL" }),
    (error: Error) => error.name === "WorkflowExecutionAlreadyStartedError",
  );
  const start = { case: "startWorkflow" as const, value: create(StartWorkflowExecutionRequestSchema, { workflowId: "other" }) };
  const update = { case: "updateWorkflow" as const, value: create(UpdateWorkflowExecutionRequestSchema, {}) };
  for (const operations of [[], [start], [update, start], [start, update, update]]) {
    const request = { namespace: "default", operations: operations.map((operation) => ({ operation })) };
    await assert.rejects(typed().executeMultiOperation(request), /exactly \[Start, Update\]/);
  }
  const both = { namespace: "default", operations: [{ operation: start }, { operation: update }] };
  await assert.rejects(typed().executeMultiOperation(both), /could not be executed: WorkflowType is not set/);
  await assert.rejects(client.getHandle("Work", "other").describe(), /not found/);
});

test("who polls a queue", async () => {
  const poll = create(PollWorkflowTaskQueueRequestSchema, { taskQueue: { name: "polled" }, identity: "worker-7" });
  await assert.rejects(
    service.call("pollWorkflowTaskQueue", toBinary(PollWorkflowTaskQueueRequestSchema, poll), { timeoutMs: 500 }),
    refused(Code.DEADLINE_EXCEEDED, /./),
  );
  const plain = await typed().describeTaskQueue({ taskQueue: { name: "polled" } });
  assert.deepEqual(plain.pollers.map(({ identity }) => identity), ["worker-7"]);
  const { versionsInfo } = await typed().describeTaskQueue({ taskQueue: { name: "polled" }, apiMode: 1 });
  assert.deepEqual(versionsInfo[""]!.typesInfo[1]!.pollers.map(({ identity }) => identity), ["worker-7"]);
  assert.deepEqual(versionsInfo[""]!.typesInfo[2]!.pollers, []);
  await assert.rejects(typed().describeTaskQueue({}), /TaskQueue is not set/);
  const client = new Client({ service, taskQueue: "waiting", logger: silentLogger });
  for (const id of ["w1", "w2"]) await client.start("Work", { id });
  const waiting = await typed().describeTaskQueue({ taskQueue: { name: "waiting" }, reportStats: true });
  assert.equal(waiting.stats?.approximateBacklogCount, 2n);
});

test("large messages, and what is too large", async () => {
  const client = new Client({ service, taskQueue: "q", logger: silentLogger });
  const handle = await client.start("Work", { id: "large", args: ["x".repeat(1_900_000)] });
  assert.ok((await handle.historyBytes()).length > 1_900_000);
  // Several at once, on one connection.
  await Promise.all(
    Array.from({ length: 8 }, (_, i) => client.start("Work", { id: `large-${i}`, args: ["x".repeat(1_500_000)] })),
  );
  const body = new Uint8Array(3_000_000).fill(120);
  await assert.rejects(
    typed().signalWorkflowExecution({
      workflowExecution: { workflowId: "large" },
      signalName: "s",
      input: { payloads: [{ data: body }] },
    }),
    /exceeds limit|too large/i,
  );
  // The connection serves on.
  assert.ok((await typed().getSystemInfo({})).serverVersion);
});

test("callers that vanish leave nothing behind", async () => {
  const [engine] = server.namespaces.engines;
  const before = engine!.stats().waitingCalls;
  const poll = toBinary(
    PollWorkflowTaskQueueRequestSchema,
    create(PollWorkflowTaskQueueRequestSchema, { taskQueue: { name: "gone" } }),
  );
  const frame = new Uint8Array(5 + poll.length);
  new DataView(frame.buffer).setUint32(1, poll.length);
  frame.set(poll, 5);
  const session = connect(`http://127.0.0.1:${server.port}`);
  endAfterGoaway(session);
  session.on("error", () => {});
  for (let i = 0; i < 300; i++) {
    const path = "/temporal.api.workflowservice.v1.WorkflowService/PollWorkflowTaskQueue";
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" });
    stream.on("error", () => {});
    stream.end(frame);
  }
  await until("300 polls wait", () => engine!.stats().waitingCalls === before + 300);
  // As a process that is killed: no word of farewell.
  session.destroy();
  await until("their polls are given up", () => engine!.stats().waitingCalls === before);
});

test("a message that is too large for any service is refused, and the connection serves on", async () => {
  const body = new Uint8Array(65 * 1024 * 1024);
  const answer = await grpc("/temporal.api.workflowservice.v1.WorkflowService/SignalWorkflowExecution", body);
  assert.equal(answer.status, String(Code.RESOURCE_EXHAUSTED), answer.message);
  const unknown = await grpc("/temporal.api.workflowservice.v1.WorkflowService/ListWorkers", body.subarray(0, 5_000_000));
  assert.equal(unknown.status, String(Code.UNIMPLEMENTED));
});

test("the gRPC port takes nothing that a page sends", async () => {
  const answer = await grpc("/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo", new Uint8Array(0), {
    origin: ORIGIN,
  });
  assert.equal(answer.http, 403);
});

test("the HTTP port: JSON, Connect and gRPC-web, for programs and listed pages", async () => {
  const base = `http://127.0.0.1:${server.httpPort}`;
  const send = (headers: { [name: string]: string }, method = "POST") =>
    new Promise<{ status: number | undefined; text: string; allowed: string | undefined }>((resolve, reject) => {
      const request = httpRequest(
        `${base}/${WorkflowService.typeName}/ListNamespaces`,
        { method, headers: { "content-type": "application/json", ...headers } },
        (answer) => {
          let text = "";
          answer.setEncoding("utf8").on("data", (chunk) => text += chunk).on(
            "end",
            () => resolve({ status: answer.statusCode, text, allowed: answer.headers["access-control-allow-origin"] }),
          );
        },
      );
      request.on("error", reject).end(method === "POST" ? "{}" : undefined);
    });
  const plain = await send({});
  assert.equal(plain.status, 200);
  assert.equal(JSON.parse(plain.text).namespaces[0].namespaceInfo.name, "default");
  assert.deepEqual((await send({ origin: ORIGIN })).allowed, ORIGIN);
  assert.deepEqual([(await send({ origin: "https://evil.example" })).status, (await send({ host: "evil.example" })).status], [
    403,
    403,
  ]);
  const question = { origin: ORIGIN, "access-control-request-method": "POST" };
  assert.equal((await send(question, "OPTIONS")).status, 204);
  for (const createTransport of [createConnectTransport, createGrpcWebTransport]) {
    const client = createClient(WorkflowService, createTransport({ baseUrl: base, httpVersion: "1.1" }));
    assert.ok((await client.getSystemInfo({})).serverVersion);
    await assert.rejects(client.listSchedules({}), /schedules/);
  }
});

test("bytes that are no message are refused, and nothing breaks", async () => {
  const path = "/temporal.api.workflowservice.v1.WorkflowService/";
  for (const method of ["StartWorkflowExecution", "PollWorkflowTaskQueue", "DescribeTaskQueue", "DeleteWorkflowExecution"]) {
    for (const bytes of [new Uint8Array([0xff, 0xff, 0xff]), new Uint8Array([10, 200]), new TextEncoder().encode("{}")]) {
      const { status, message } = await grpc(path + method, bytes);
      // What is no protobuf at all never reaches a service: gRPC's own code for that is INTERNAL, with the reason.
      assert.ok(
        status === String(Code.INVALID_ARGUMENT) || (status === "13" && /^parse binary/.test(message)),
        `${status} ${message}`,
      );
    }
  }
});
