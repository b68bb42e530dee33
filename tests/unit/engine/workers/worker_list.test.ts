// Workers that send heartbeats are listed, found by queries, counted and described, until they are
// silent for ten minutes.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { EmbeddedEngine, MemoryStore, VirtualClock } from "../../../../ts/engine/mod.ts";
import { FORGOTTEN_AFTER_MS, MAX_WORKERS } from "../../../../ts/engine/workers/worker_list.ts";
import { WorkerStatus } from "../../../../ts/messages/generated/temporal/api/enums/v1/common_pb.ts";
import {
  CountWorkersRequestSchema,
  CountWorkersResponseSchema,
  DescribeWorkerRequestSchema,
  DescribeWorkerResponseSchema,
  ListWorkersRequestSchema,
  ListWorkersResponseSchema,
  RecordWorkerHeartbeatRequestSchema,
  RecordWorkerHeartbeatResponseSchema,
  ShutdownWorkerRequestSchema,
  ShutdownWorkerResponseSchema,
} from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { WorkerHeartbeatSchema } from "../../../../ts/messages/generated/temporal/api/worker/v1/message_pb.ts";
import type { MethodName } from "../../../../ts/service/raw.ts";

type Heartbeat = MessageInitShape<typeof WorkerHeartbeatSchema>;

/** A worker of the queue "orders" that runs. */
const heartbeat = (workerInstanceKey: string, other: Partial<Heartbeat> = {}): Heartbeat => ({
  workerInstanceKey,
  workerIdentity: `${workerInstanceKey}@host`,
  taskQueue: "orders",
  sdkName: "temporal-go",
  sdkVersion: "1.30.0",
  status: WorkerStatus.RUNNING,
  startTime: { seconds: 1_700_000_000n, nanos: 0 },
  hostInfo: { hostName: "host", processId: "7" },
  ...other,
} as Heartbeat);

async function during(
  body: (
    call: {
      record(...all: Heartbeat[]): Promise<unknown>;
      keys(query?: string): Promise<string[]>;
      list(
        request: MessageInitShape<typeof ListWorkersRequestSchema>,
      ): Promise<{ keys: string[]; token: Uint8Array }>;
      count(query?: string): Promise<bigint>;
      describe(key: string): Promise<MessageInitShape<typeof WorkerHeartbeatSchema> | undefined>;
      shutDown(last: Heartbeat, namespace?: string): Promise<unknown>;
      engine: EmbeddedEngine;
      clock: VirtualClock;
    },
  ) => Promise<void>,
): Promise<void> {
  const clock = new VirtualClock(0);
  const engine = await EmbeddedEngine.open({ store: new MemoryStore(), clock });
  const call = async <Q extends DescMessage, R extends DescMessage>(
    method: MethodName,
    of: Q,
    response: R,
    request: MessageInitShape<Q>,
  ) => fromBinary(response, await engine.call(method, toBinary(of, create(of, request))));
  const list = async (request: MessageInitShape<typeof ListWorkersRequestSchema>) => {
    const found = await call(
      "listWorkers",
      ListWorkersRequestSchema,
      ListWorkersResponseSchema,
      request,
    );
    const keys = found.workers.map(({ workerInstanceKey }) => workerInstanceKey);
    assert.deepEqual(
      found.workersInfo.map((info) => info.workerHeartbeat?.workerInstanceKey),
      keys,
    );
    return { keys, token: found.nextPageToken };
  };
  try {
    await body({
      clock,
      engine,
      list,
      record: (...workerHeartbeat) =>
        call(
          "recordWorkerHeartbeat",
          RecordWorkerHeartbeatRequestSchema,
          RecordWorkerHeartbeatResponseSchema,
          { namespace: "default", workerHeartbeat },
        ),
      keys: async (query = "") => (await list({ namespace: "default", query })).keys,
      count: async (query = "") =>
        (await call("countWorkers", CountWorkersRequestSchema, CountWorkersResponseSchema, {
          query,
        }))
          .count,
      describe: async (workerInstanceKey) =>
        (await call(
          "describeWorker",
          DescribeWorkerRequestSchema,
          DescribeWorkerResponseSchema,
          { workerInstanceKey },
        )).workerInfo?.workerHeartbeat,
      shutDown: (workerHeartbeat, namespace = "default") =>
        call("shutdownWorker", ShutdownWorkerRequestSchema, ShutdownWorkerResponseSchema, {
          namespace,
          workerInstanceKey: workerHeartbeat.workerInstanceKey!,
          identity: "w",
          workerHeartbeat,
        }),
    });
  } finally {
    await engine.close();
  }
}

test("a worker is listed, counted and described as its last heartbeat says", () =>
  during(async ({ record, keys, count, describe }) => {
    assert.deepEqual(await keys(), []);
    await record(heartbeat("b"), heartbeat("a"));
    await record(heartbeat("b", { sdkVersion: "1.31.0", totalStickyCacheHit: 5 }));
    assert.deepEqual(await keys(), ["a", "b"]);
    assert.equal(await count(), 2n);
    const { sdkVersion, totalStickyCacheHit, hostInfo } = (await describe("b"))!;
    assert.deepEqual([sdkVersion, totalStickyCacheHit, hostInfo?.processId], ["1.31.0", 5, "7"]);
    await assert.rejects(describe("c"), /NOT_FOUND|Worker c not found/);
    await assert.rejects(describe(""), /WorkerInstanceKey is not set/);
  }));

const SELECTED: { readonly [query: string]: readonly string[] } = {
  "TaskQueue = 'orders'": ["a", "c"],
  "TaskQueue != 'orders'": ["b"],
  "WorkerInstanceKey = 'a' OR WorkerIdentity = 'b@host'": ["a", "b"],
  "WorkerInstanceKey IN ('c', 'd')": ["c"],
  "Status = 'ShuttingDown'": ["b"],
  "Status = 'RUNNING'": ["a", "c"],
  "StartTime > '2020-01-01T00:00:00Z' AND SdkName STARTS_WITH 'temporal'": ["a", "b"],
  "StartTime BETWEEN '1970-01-01T00:00:00Z' AND '2000-01-01T00:00:00Z'": ["c"],
  "HostName = 'host' AND NOT SdkVersion = '1.30.0'": ["b"],
  "DeploymentName = 'shop' AND BuildId = '1.0'": ["c"],
  "DeploymentName IS NULL": ["a", "b"],
};

test("a query selects workers by each of their fields", () =>
  during(async ({ record, keys, count }) => {
    await record(
      heartbeat("a"),
      heartbeat("b", {
        ...{ taskQueue: "mails", status: WorkerStatus.SHUTTING_DOWN, sdkVersion: "2" },
      }),
      heartbeat("c", {
        sdkName: "own",
        startTime: { seconds: 1n, nanos: 0 } as never,
        deploymentVersion: { deploymentName: "shop", buildId: "1.0" } as never,
      }),
    );
    for (const [query, expected] of Object.entries(SELECTED)) {
      assert.deepEqual(await keys(query), expected, query);
      assert.equal(await count(query), BigInt(expected.length), query);
    }
  }));

const INVALID: { readonly [query: string]: RegExp } = {
  "Foo = 'x'": /unknown field "Foo"; known fields: TaskQueue, .*SdkVersion/,
  "taskQueue = 'x'": /unknown field "taskQueue"; known fields: TaskQueue, [A-Za-z, ]*SdkVersion;/,
  "Status = 'Fast'": /Status must be one of 'Running', 'ShuttingDown', 'Shutdown'/,
  "StartTime = 'bad'": /StartTime/,
  "TaskQueue": /TaskQueue|end/,
};

test("an invalid query is rejected with its mistake", () =>
  during(async ({ keys }) => {
    for (const [query, message] of Object.entries(INVALID)) {
      await assert.rejects(keys(query), message, query);
    }
  }));

test("pages contain each worker once, also while workers come and go", () =>
  during(async ({ record, list }) => {
    const all = Array.from({ length: 7 }, (_, i) => `w${i}`);
    await record(...all.map((key) => heartbeat(key)));
    const found: string[] = [];
    let token: Uint8Array = new Uint8Array(0);
    do {
      const page = await list({ pageSize: 3, nextPageToken: token });
      found.push(...page.keys);
      token = page.token;
      await record(heartbeat("a-new-worker"), heartbeat("w0"));
    } while (token.length > 0);
    assert.deepEqual(found, all);
    await assert.rejects(list({ nextPageToken: new Uint8Array([1]) }), /not one of ListWorkers/);
    const { token: other } = await list({ pageSize: 1 });
    await assert.rejects(
      list({ query: "TaskQueue = 'x'", nextPageToken: other }),
      /belongs to another query/,
    );
    await assert.rejects(list({ pageSize: -1 }), /must not be negative/);
  }));

test("a worker that shuts down is listed with its last heartbeat", () =>
  during(async ({ record, shutDown, keys }) => {
    await record(heartbeat("a"));
    await shutDown(heartbeat("a", { status: WorkerStatus.SHUTDOWN }));
    assert.deepEqual(await keys("Status = 'Shutdown'"), ["a"]);
  }));

test("a shutdown that the engine rejects lists no worker", () =>
  during(async ({ shutDown, engine, keys }) => {
    await assert.rejects(shutDown(heartbeat("a"), "other"), /Namespace other is not found/);
    await assert.rejects(engine.call("shutdownWorker", new Uint8Array([0x0a, 0xff])));
    assert.deepEqual(await keys(), []);
  }));

test("a silent worker is forgotten, and memory is bounded", () =>
  during(async ({ record, keys, count, clock }) => {
    await record(heartbeat("a"), heartbeat("b"));
    clock.advanceBy(FORGOTTEN_AFTER_MS - 1);
    await record(heartbeat("b"));
    assert.deepEqual(await keys(), ["a", "b"]);
    clock.advanceBy(1);
    assert.deepEqual(await keys(), ["b"]);
    const many = Array.from({ length: MAX_WORKERS }, (_, i) => ({ workerInstanceKey: `n${i}` }));
    await record(...many);
    assert.equal(await count(), BigInt(MAX_WORKERS));
    assert.deepEqual(await keys("WorkerInstanceKey = 'b'"), []);
  }));

test("heartbeats without a key, and those that are too large, are rejected whole", () =>
  during(async ({ record, keys }) => {
    await assert.rejects(
      record(heartbeat("a"), heartbeat("")),
      /worker_heartbeat 2 has no worker_instance_key/,
    );
    await assert.rejects(
      record(heartbeat("a", { workerIdentity: "x".repeat(70_000) })),
      /a heartbeat may have 65536/,
    );
    assert.deepEqual(await keys(), []);
  }));
