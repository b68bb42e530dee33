// Workers of the namespace, as their heartbeats describe them. Only in memory: after a restart a
// worker is listed from its next heartbeat on.
import { create } from "@bufbuild/protobuf";
import {
  type WorkerHeartbeat,
  WorkerListInfoSchema,
} from "../../messages/generated/temporal/api/worker/v1/message_pb.ts";
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
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Code, type MethodName, ServiceError } from "../../service/raw.ts";
import { decodeMessage, encodeMessage, invalid } from "../host_bytes.ts";
import { workerTest } from "./worker_query.ts";

/** A worker that has sent no heartbeat for this time is forgotten. */
export const FORGOTTEN_AFTER_MS = 10 * 60_000;
/** Bounds of the memory: above the first one, the worker with the oldest heartbeat is forgotten. */
export const MAX_WORKERS = 10_000;
const MAX_HEARTBEAT_BYTES = 64 * 1024;
const DEFAULT_PAGE = 100, MAX_PAGE = 1000;
const utf8 = new TextEncoder();
const text = new TextDecoder();

interface Known {
  readonly heartbeat: WorkerHeartbeat;
  /** By this clock, not by the worker's. */
  readonly receivedMs: number;
}

/** The workers that clients see. Workers that a server creates for itself do not exist here. */
export class WorkerList {
  readonly #nowMs: () => number;
  /** By instance key; the worker with the oldest heartbeat is the first. */
  readonly #known = new Map<string, Known>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  #record(heartbeat: WorkerHeartbeat): void {
    const key = heartbeat.workerInstanceKey;
    this.#known.delete(key);
    this.#known.set(key, { heartbeat, receivedMs: this.#nowMs() });
    if (this.#known.size > MAX_WORKERS) this.#known.delete(this.#known.keys().next().value!);
  }

  #forgetSilent(): void {
    const nowMs = this.#nowMs();
    for (const [key, { receivedMs }] of this.#known) {
      if (nowMs - receivedMs < FORGOTTEN_AFTER_MS) return;
      this.#known.delete(key);
    }
  }

  /** The workers that a query selects, by instance key. Throws a ServiceError for an invalid query. */
  #selected(query: string): WorkerHeartbeat[] {
    this.#forgetSilent();
    const selects = workerTest(query);
    return [...this.#known.values()].map(({ heartbeat }) => heartbeat).filter(selects)
      .sort((a, b) => compareKeys(a.workerInstanceKey, b.workerInstanceKey));
  }

  /**
   * Records the last heartbeat of a worker that shuts down. Ignores a request that is invalid or
   * too large: the engine checks it.
   */
  shutDown(request: Uint8Array, ours: (namespace: string) => void): void {
    if (request.length > MAX_HEARTBEAT_BYTES) return;
    let heartbeat: WorkerHeartbeat | undefined;
    try {
      const { namespace, workerHeartbeat } = decodeMessage(ShutdownWorkerRequestSchema, request);
      ours(namespace);
      heartbeat = workerHeartbeat;
    } catch {
      return;
    }
    if (heartbeat !== undefined && heartbeat.workerInstanceKey !== "") this.#record(heartbeat);
  }

  /** `ours` throws for a namespace that the engine does not serve. */
  methods(ours: (namespace: string) => void) {
    return {
      recordWorkerHeartbeat: (bytes: Uint8Array) => {
        const { namespace, workerHeartbeat: all } = decodeMessage(
          RecordWorkerHeartbeatRequestSchema,
          bytes,
        );
        ours(namespace);
        checkHeartbeats(all, bytes.length);
        for (const heartbeat of all) this.#record(heartbeat);
        return encodeMessage(RecordWorkerHeartbeatResponseSchema, {});
      },
      listWorkers: (bytes: Uint8Array) => {
        const request = decodeMessage(ListWorkersRequestSchema, bytes);
        ours(request.namespace);
        if (request.pageSize < 0) throw invalid("the page size must not be negative");
        const size = Math.min(request.pageSize || DEFAULT_PAGE, MAX_PAGE);
        const after = readPageToken(request.nextPageToken, request.query);
        const left = this.#selected(request.query).filter(({ workerInstanceKey: key }) =>
          after === undefined || compareKeys(key, after) > 0
        );
        const page = left.slice(0, size);
        return encodeMessage(ListWorkersResponseSchema, {
          workersInfo: page.map((workerHeartbeat) => ({ workerHeartbeat })),
          workers: page.map(listInfo),
          nextPageToken: left.length > size
            ? writePageToken(page.at(-1)!.workerInstanceKey, request.query)
            : new Uint8Array(0),
        });
      },
      countWorkers: (bytes: Uint8Array) => {
        const { namespace, query } = decodeMessage(CountWorkersRequestSchema, bytes);
        ours(namespace);
        return encodeMessage(CountWorkersResponseSchema, {
          count: BigInt(this.#selected(query).length),
        });
      },
      describeWorker: (bytes: Uint8Array) => {
        const request = decodeMessage(DescribeWorkerRequestSchema, bytes);
        ours(request.namespace);
        this.#forgetSilent();
        const { workerInstanceKey: key } = request;
        if (key === "") throw invalid("WorkerInstanceKey is not set on request.");
        const found = this.#known.get(key);
        if (found === undefined) {
          throw new ServiceError(
            Code.NOT_FOUND,
            `Worker ${key} not found: it has sent no heartbeat in the last 10 minutes`,
            "NotFound",
          );
        }
        return encodeMessage(DescribeWorkerResponseSchema, {
          workerInfo: { workerHeartbeat: found.heartbeat },
        });
      },
    } satisfies { [name in MethodName]?: (request: Uint8Array) => Uint8Array };
  }
}

function checkHeartbeats(all: readonly WorkerHeartbeat[], bytes: number): void {
  if (bytes > MAX_HEARTBEAT_BYTES * Math.max(1, all.length)) {
    throw invalid(
      `the request has ${bytes} bytes; a heartbeat may have ${MAX_HEARTBEAT_BYTES} at most`,
    );
  }
  const nameless = all.findIndex(({ workerInstanceKey }) => workerInstanceKey === "");
  if (nameless >= 0) throw invalid(`worker_heartbeat ${nameless + 1} has no worker_instance_key`);
}

const compareKeys = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0;

function listInfo(heartbeat: WorkerHeartbeat) {
  const { hostInfo, deploymentVersion, startTime } = heartbeat;
  const { workerInstanceKey, workerIdentity, taskQueue, sdkName, sdkVersion, status } = heartbeat;
  const { plugins, drivers } = heartbeat;
  return create(WorkerListInfoSchema, {
    ...{ workerInstanceKey, workerIdentity, taskQueue, sdkName, sdkVersion, status },
    ...{ plugins, drivers },
    ...(deploymentVersion !== undefined && { deploymentVersion }),
    ...(startTime !== undefined && { startTime }),
    ...(hostInfo !== undefined && {
      hostName: hostInfo.hostName,
      workerGroupingKey: hostInfo.workerGroupingKey,
      processId: hostInfo.processId,
    }),
  });
}

/** A page token names the last worker of its page, and the query. */
const writePageToken = (after: string, query: string): Uint8Array =>
  utf8.encode(JSON.stringify({ after, query }));

function readPageToken(token: Uint8Array, query: string): string | undefined {
  if (token.length === 0) return undefined;
  let read: { after?: unknown; query?: unknown };
  try {
    read = JSON.parse(text.decode(token)) as typeof read;
  } catch {
    throw invalid("the page token is not one of ListWorkers");
  }
  if (typeof read?.after !== "string") throw invalid("the page token is not one of ListWorkers");
  if (read.query !== query) throw invalid("the page token belongs to another query");
  return read.after;
}
