// Namespaces of `temporalex dev`: apart, registered, kept for a while.
import assert from "node:assert/strict";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { after, before, test } from "node:test";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { Client, silentLogger } from "../../ts/client/mod.ts";
import { Namespaces } from "../../ts/dev/namespaces.ts";
import { type DevServer, startDevServer } from "../../ts/dev/server.ts";
import { EmbeddedEngine, MemoryStore } from "../../ts/engine/mod.ts";
import { endAfterGoaway } from "../../ts/platform/deno_goaway_workaround.ts";
import { WorkflowService } from "../../ts/api/generated/temporal/api/workflowservice/v1/service_pb.ts";
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
