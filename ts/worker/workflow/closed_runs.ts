// Evicts runs that closed without their worker (terminated, timed out). An embedded engine reports
// them. A server does not, so the worker lists them once a minute while it has cached runs.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  ListWorkflowExecutionsRequestSchema,
  ListWorkflowExecutionsResponseSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { Logger } from "../../base/logger.ts";
import { dateOn, type Timers } from "../../base/timers.ts";
import { Code, type RawService, ServiceError } from "../../service/raw.ts";

const LIST_EVERY_MS = 60_000;
/**
 * Delay of a server's lists and difference of its clock, in ms. Evicting a run twice is a no-op.
 */
const OVERLAP_MS = 60_000;
const LIST_TIMEOUT_MS = 10_000;
const PAGE_SIZE = 1000;
const MAX_PAGES = 10;
/** The server does not support the list for this worker: no retry. */
const REFUSALS: ReadonlySet<number> = new Set([
  Code.UNIMPLEMENTED,
  Code.INVALID_ARGUMENT,
  Code.PERMISSION_DENIED,
]);

export interface ClosedRunsParts {
  readonly service: RawService;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly timers: Timers;
  readonly logger: Logger;
}

/** The cache of runs; its realm may be replaced. */
export interface RunCache {
  readonly realm: { readonly cachedRuns: number; evict(runId: string): void };
}

/** Starts the eviction. Returns a function that stops it. */
export function evictClosedRuns(parts: ClosedRunsParts, cache: RunCache): () => void {
  const { service } = parts;
  if (service.closedRuns !== undefined) {
    return service.closedRuns.watch((runId) => cache.realm.evict(runId));
  }
  // A service without a network belongs to this package or to a test.
  if (service.losesCancelledPolls !== true) return () => {};
  const lists = new ClosedRunLists(parts, cache);
  return () => lists.stop();
}

class ClosedRunLists {
  readonly #parts: ClosedRunsParts;
  readonly #cache: RunCache;
  readonly #stop = new AbortController();
  #since: number;
  #stopTimer = () => {};

  constructor(parts: ClosedRunsParts, cache: RunCache) {
    this.#parts = parts;
    this.#cache = cache;
    this.#since = dateOn(parts.timers);
    this.#later();
  }

  stop(): void {
    this.#stop.abort();
    this.#stopTimer();
  }

  #later(): void {
    this.#stopTimer = this.#parts.timers.after(LIST_EVERY_MS, () => void this.#look(), true);
  }

  async #look(): Promise<void> {
    const { timers, logger } = this.#parts;
    const now = dateOn(timers);
    try {
      if (this.#cache.realm.cachedRuns > 0) await this.#evictSince(this.#since - OVERLAP_MS);
      this.#since = now;
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      logger.debug(
        "closed runs could not be listed; terminated runs stay in the cache until it is full",
        { error },
      );
      if (error instanceof ServiceError && REFUSALS.has(error.code)) return;
    }
    if (!this.#stop.signal.aborted) this.#later();
  }

  async #evictSince(since: number): Promise<void> {
    const { service, namespace, taskQueue } = this.#parts;
    const query =
      `TaskQueue = "${
        taskQueue.replace(/[\\"]/g, "\\$&")
      }" AND ExecutionStatus IN ("Terminated", "TimedOut") ` +
      `AND CloseTime > "${new Date(since).toISOString()}"`;
    let nextPageToken: Uint8Array = new Uint8Array(0);
    for (let page = 0; page < MAX_PAGES; page++) {
      const fields = { namespace, query, pageSize: PAGE_SIZE, nextPageToken };
      const request = toBinary(
        ListWorkflowExecutionsRequestSchema,
        create(ListWorkflowExecutionsRequestSchema, fields),
      );
      const options = { signal: this.#stop.signal, timeoutMs: LIST_TIMEOUT_MS };
      const response = fromBinary(
        ListWorkflowExecutionsResponseSchema,
        await service.call("listWorkflowExecutions", request, options),
      );
      for (const { execution } of response.executions) {
        if (execution !== undefined) this.#cache.realm.evict(execution.runId);
      }
      nextPageToken = response.nextPageToken;
      if (nextPageToken.length === 0) return;
    }
  }
}
