// The ports of `temporalex dev`: protocols, sizes, callers that vanish, pages that are let in or
// not.
// process: own (its support module has one server)
import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { connect } from "node:http2";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { startDevServer } from "../../../ts/dev/server.ts";
import { PollWorkflowTaskQueueRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { endAfterGoaway } from "../../../ts/platform/deno_goaway_workaround.ts";
import { WorkflowService } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { Code, type ServiceError } from "../../../ts/service/raw.ts";
import { until } from "../../support/until.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { grpc, ORIGIN, server, service, typed } from "./support/dev_server.ts";

test("the health service: Check, and Watch that is notified of the shutdown", async () => {
  const named = (name: string) =>
    new Uint8Array([10, name.length, ...new TextEncoder().encode(name)]);
  const check = await grpc("/grpc.health.v1.Health/Check");
  assert.deepEqual([check.status, [...check.body]], ["0", [0, 0, 0, 0, 2, 8, 1]]);
  const known = await grpc("/grpc.health.v1.Health/Check", named(WorkflowService.typeName));
  assert.equal(known.status, "0");
  assert.deepEqual(
    (await grpc("/grpc.health.v1.Health/Check", named("acme"))).status,
    String(Code.NOT_FOUND),
  );
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
  assert.ok(wentAway, "connections get GOAWAY");
});

test("shutdown completes waiting calls", async () => {
  const mortal = await startDevServer({
    port: 0,
    namespaces: ["default"],
    storeOf: () => undefined,
    logger: silentLogger,
  });
  const caller = new GrpcService({ address: `127.0.0.1:${mortal.port}` });
  const poll = create(PollWorkflowTaskQueueRequestSchema, {
    namespace: "default",
    taskQueue: { name: "q" },
  });
  const waiting = Array.from(
    { length: 150 },
    () =>
      caller.call("pollWorkflowTaskQueue", toBinary(PollWorkflowTaskQueueRequestSchema, poll), {
        timeoutMs: 60_000,
      })
        .then(() => "responded", (error: ServiceError) => error.code),
  );
  await caller.call("getSystemInfo", new Uint8Array(0));
  const began = performance.now();
  await mortal.close();
  assert.ok((await Promise.all(waiting)).every((code) => code === Code.UNAVAILABLE));
  assert.ok(performance.now() - began < 40_000, "polls are not waited for");
  caller.close();
});

test("large messages are accepted up to the limit", async () => {
  const client = new Client({ service, taskQueue: "q", logger: silentLogger });
  const handle = await client.start("Work", { id: "large", args: ["x".repeat(1_900_000)] });
  assert.ok((await handle.historyBytes()).length > 1_900_000);
  // Several at once, on one connection.
  await Promise.all(
    Array.from(
      { length: 8 },
      (_, i) => client.start("Work", { id: `large-${i}`, args: ["x".repeat(1_500_000)] }),
    ),
  );
  const body = new Uint8Array(3_000_000).fill(120);
  await assert.rejects(
    typed().signalWorkflowExecution({
      namespace: "default",
      workflowExecution: { workflowId: "large" },
      signalName: "s",
      input: { payloads: [{ data: body }] },
    }),
    /exceeds limit|too large/i,
  );
  // The connection serves on.
  assert.ok((await typed().getSystemInfo({})).serverVersion);
});

test("callers that disconnect leave no open calls", async () => {
  const [engine] = server.namespaces.engines;
  const before = engine!.stats().waitingCalls;
  const poll = toBinary(
    PollWorkflowTaskQueueRequestSchema,
    create(PollWorkflowTaskQueueRequestSchema, {
      namespace: "default",
      taskQueue: { name: "gone" },
    }),
  );
  const frame = new Uint8Array(5 + poll.length);
  new DataView(frame.buffer).setUint32(1, poll.length);
  frame.set(poll, 5);
  const session = connect(`http://127.0.0.1:${server.port}`);
  endAfterGoaway(session);
  session.on("error", () => {});
  for (let i = 0; i < 300; i++) {
    const path = "/temporal.api.workflowservice.v1.WorkflowService/PollWorkflowTaskQueue";
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.on("error", () => {});
    stream.end(frame);
  }
  await until("300 polls wait", () => engine!.stats().waitingCalls === before + 300);
  // As a process that is killed: no word of farewell.
  session.destroy();
  await until("their polls are canceled", () => engine!.stats().waitingCalls === before);
});

test("an oversized message is rejected, and the connection stays usable", async () => {
  const body = new Uint8Array(65 * 1024 * 1024);
  const answer = await grpc(
    "/temporal.api.workflowservice.v1.WorkflowService/SignalWorkflowExecution",
    body,
  );
  assert.equal(answer.status, String(Code.RESOURCE_EXHAUSTED), answer.message);
  const unknown = await grpc(
    "/temporal.api.workflowservice.v1.WorkflowService/ListWorkflowRules",
    body.subarray(0, 5_000_000),
  );
  assert.equal(unknown.status, String(Code.UNIMPLEMENTED));
});

test("the gRPC port rejects requests of pages", async () => {
  const answer = await grpc(
    "/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo",
    new Uint8Array(0),
    {
      origin: ORIGIN,
    },
  );
  assert.equal(answer.http, 403);
});

test("the HTTP port: JSON, Connect and gRPC-web, for programs and listed pages", async () => {
  const base = `http://127.0.0.1:${server.httpPort}`;
  const send = (headers: { [name: string]: string }, method = "POST") =>
    new Promise<{ status: number | undefined; text: string; allowed: string | undefined }>(
      (resolve, reject) => {
        const request = httpRequest(
          `${base}/${WorkflowService.typeName}/ListNamespaces`,
          { method, headers: { "content-type": "application/json", ...headers } },
          (answer) => {
            let text = "";
            answer.setEncoding("utf8").on("data", (chunk) => text += chunk).on(
              "end",
              () =>
                resolve({
                  status: answer.statusCode,
                  text,
                  allowed: answer.headers["access-control-allow-origin"],
                }),
            );
          },
        );
        request.on("error", reject).end(method === "POST" ? "{}" : undefined);
      },
    );
  const plain = await send({});
  assert.equal(plain.status, 200);
  assert.equal(JSON.parse(plain.text).namespaces[0].namespaceInfo.name, "default");
  assert.deepEqual((await send({ origin: ORIGIN })).allowed, ORIGIN);
  assert.deepEqual([
    (await send({ origin: "https://evil.example" })).status,
    (await send({ host: "evil.example" })).status,
  ], [
    403,
    403,
  ]);
  const question = { origin: ORIGIN, "access-control-request-method": "POST" };
  assert.equal((await send(question, "OPTIONS")).status, 204);
  for (const createTransport of [createConnectTransport, createGrpcWebTransport]) {
    const client = createClient(
      WorkflowService,
      createTransport({ baseUrl: base, httpVersion: "1.1" }),
    );
    assert.ok((await client.getSystemInfo({})).serverVersion);
    assert.deepEqual((await client.listSchedules({})).schedules, []);
  }
});

test("invalid message bytes are rejected, and nothing breaks", async () => {
  const path = "/temporal.api.workflowservice.v1.WorkflowService/";
  for (
    const method of [
      "StartWorkflowExecution",
      "PollWorkflowTaskQueue",
      "DescribeTaskQueue",
      "DeleteWorkflowExecution",
    ]
  ) {
    for (
      const bytes of [
        new Uint8Array([0xff, 0xff, 0xff]),
        new Uint8Array([10, 200]),
        new TextEncoder().encode("{}"),
      ]
    ) {
      const { status, message } = await grpc(path + method, bytes);
      // Invalid protobuf never reaches a service: gRPC's own code for that is INTERNAL, with the
      // reason.
      assert.ok(
        status === String(Code.INVALID_ARGUMENT) ||
          (status === "13" && /^parse binary/.test(message)),
        `${status} ${message}`,
      );
    }
  }
});
