// The batch operations of an engine. The running one applies a slice of workflows when a batch is
// closed, before it is flushed, so that its progress and its effects are in one commit: after a crash
// it continues, and applies nothing twice. A failed commit reads the operations again from the store.
import {
  DescribeWorkflowExecutionRequestSchema,
  DescribeWorkflowExecutionResponseSchema,
  type StartBatchOperationRequest,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { Reply } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { Code, type MethodName, ServiceError } from "../../service/raw.ts";
import { decodeMessage, encodeMessage, invalid } from "../host_bytes.ts";
import { namespaceCheck } from "../host_methods.ts";
import { ENGINE_METHODS } from "../methods.ts";
import { callCanceled } from "../refusals.ts";
import { replyError } from "../replies.ts";
import type { BatchWrite, Store } from "../store.ts";
import { StoreBusyError, StoreError } from "../store_errors.ts";
import { enterRequest, type MessageHost, settleRuns } from "../transaction_messages.ts";
import { WaitingCalls } from "../waiting_calls.ts";
import { batchCondition, batchMethods, batchTargets } from "./methods.ts";
import { operationKind, requestForTarget } from "./operations.ts";
import { findResetPoint, type ResetPoint } from "./reset_points.ts";
import {
  batchRequest,
  type BatchState,
  type BatchTarget,
  decodeBatch,
  encodeBatch,
  isRemovalDue,
  withoutPayloads,
} from "./state.ts";

/** Ended operations that are kept; older ones are removed when another one starts. */
const MAX_KEPT_BATCHES = 200;
/** With a limit of the rate, slices have the workflows of this time. */
const RATE_SLICE_MS = 100;
/** Attempts to remove a run, which fail while it has pending work, and their distance. */
const MAX_REMOVE_ATTEMPTS = 20;
const REMOVE_AGAIN_MS = 50;
/** Failures of the core in a workflow, after which the operation leaves it out. */
const MAX_CORE_FAILURES = 2;

export interface BatchOperationsContext {
  readonly namespace: string;
  readonly store: Store;
  readonly host: MessageHost;
  /** Removes closed runs with their histories, in a separate transaction. */
  remove(runIds: readonly string[]): void;
  report(error: Error): void;
}

type BatchMethod = keyof ReturnType<typeof batchMethods>;

export class BatchOperations {
  readonly #context: BatchOperationsContext;
  readonly #isReadOnly: boolean;
  readonly #calls: WaitingCalls;
  readonly #methods: ReturnType<typeof batchMethods>;
  readonly #kept = new Map<string, BatchState>();
  /** Why operations cannot be read: their rows stay as they are. */
  readonly #unreadable = new Map<string, string>();
  /** Operations whose request is written with the next commit. */
  readonly #added = new Set<string>();
  #running: BatchState | undefined;
  #writes = new Map<string, BatchWrite>();
  /** Runs that are removed once the replies of the commit were sent. */
  #removable: readonly BatchTarget[] = [];
  #stale = true;
  /** The workflow of the request in the core, and those that made it fail. */
  #current: string | undefined;
  readonly #crashes = new Map<string, number>();

  /** `isReadOnly`: operations are described, and do not continue. */
  constructor(context: BatchOperationsContext, isReadOnly = false) {
    this.#context = context;
    this.#isReadOnly = isReadOnly;
    const { namespace, store, host } = context;
    this.#calls = new WaitingCalls(host);
    this.#methods = batchMethods({
      store,
      ours: namespaceCheck(namespace),
      nowMs: () => host.nowMs(),
      find: (jobId) => this.#find(jobId),
      all: () => [...this.#kept.values()],
      add: (state) => this.#add(state),
      stop: (state) => this.#stop(state),
    });
  }

  /** When the running operation continues, in ms since the epoch; 0: never. */
  get nextWakeMs(): number {
    const { nextMs = 0 } = this.#running?.progress ?? {};
    // A slice that is due follows the commit.
    return nextMs > this.#context.host.nowMs() ? nextMs : 0;
  }

  /** Changes that the next commit must contain. */
  get writes(): ReadonlyMap<string, BatchWrite> {
    return this.#writes;
  }

  /**
   * Calls a method of batch operations in the next batch, and resolves after its commit. Undefined:
   * it is another method.
   */
  call(
    method: MethodName,
    request: Uint8Array,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array> | undefined {
    if (!(method in this.#methods)) return undefined;
    if (signal?.aborted) return Promise.reject(callCanceled());
    if (this.#context.store.batches === undefined) {
      return Promise.reject(
        new ServiceError(
          Code.UNIMPLEMENTED,
          `${this.#context.store.description} does not keep batch operations; use a store of this package`,
          "Unimplemented",
        ),
      );
    }
    return this.#calls.add(() => this.#methods[method as BatchMethod](request));
  }

  /** Runs waiting calls and a slice. Throws the error of the store or the core. */
  run(): void {
    try {
      if (this.#stale) this.#read();
      this.#calls.run();
      if (this.#running !== undefined) this.#slice(this.#running);
    } catch (error) {
      // A slice may have ended in the middle.
      this.#stale = true;
      throw error;
    }
  }

  /** Applies a slice. Throws the error of the store or the core; others end the operation. */
  #slice(state: BatchState): void {
    this.#current = undefined;
    try {
      this.#step(state);
    } catch (error) {
      const isCore = this.#context.host.engine.poisoned;
      const name = this.#current;
      // The reason for a failure of the core may be something else in the batch.
      if (isCore && name !== undefined) {
        this.#crashes.set(name, (this.#crashes.get(name) ?? 0) + 1);
      }
      if (isCore || error instanceof StoreError) throw error;
      this.#end(state, "failed");
      const { message } = error as Error;
      this.#context.report(
        new Error(`batch operation "${state.jobId}" failed: ${message}`, { cause: error }),
      );
    }
  }

  #read(): void {
    this.#kept.clear();
    this.#running = undefined;
    for (const row of this.#context.store.batches?.() ?? []) {
      try {
        const state = decodeBatch(row);
        this.#kept.set(state.jobId, state);
      } catch (cause) {
        const { message } = cause as Error;
        if (this.#unreadable.get(row.jobId) === message) continue;
        this.#unreadable.set(row.jobId, message);
        this.#context.report(
          new Error(`batch operation "${row.jobId}" cannot be read: ${message}`, { cause }),
        );
      }
    }
    this.#runNext();
    this.#stale = false;
  }

  /** A store has one running operation; if its file has several, they run one after the other. */
  #runNext(): void {
    if (this.#isReadOnly) return;
    this.#running = [...this.#kept.values()].find(({ progress }) => progress.status === "running");
  }

  #find(jobId: string): BatchState | undefined {
    const reason = this.#unreadable.get(jobId);
    if (reason === undefined) return this.#kept.get(jobId);
    throw new ServiceError(
      Code.FAILED_PRECONDITION,
      `batch operation "${jobId}" cannot be read: ${reason}; start another one`,
      "FailedPrecondition",
    );
  }

  #add(state: BatchState): void {
    const ended = [...this.#kept.values()].filter(({ progress }) => progress.closeMs > 0)
      .sort((a, b) => a.progress.closeMs - b.progress.closeMs);
    for (const { jobId } of ended.slice(0, Math.max(0, ended.length - MAX_KEPT_BATCHES + 1))) {
      this.#kept.delete(jobId);
      this.#writes.set(jobId, { jobId });
    }
    this.#kept.set(state.jobId, state);
    this.#running = state;
    this.#added.add(state.jobId);
    this.#write(state);
  }

  #stop(state: BatchState): void {
    if (state.progress.removing.length > 0) this.#afterRemoval(state, this.#context.host.nowMs());
    this.#end(state, "stopped");
  }

  #write(state: BatchState): void {
    this.#writes.set(state.jobId, encodeBatch(state, this.#added.has(state.jobId)));
  }

  #end(state: BatchState, status: "completed" | "stopped" | "failed"): void {
    state.progress.status = status;
    state.progress.closeMs = this.#context.host.nowMs();
    state.progress.removing = [];
    const bytes = withoutPayloads(state);
    if (bytes !== undefined) {
      state.bytes = bytes;
      this.#added.add(state.jobId);
    }
    this.#write(state);
    this.#runNext();
  }

  // ------------------------------------------------------------------------------------- one slice

  /** Applies the operation to the next workflows. */
  #step(state: BatchState): void {
    const { progress } = state;
    const { store, host } = this.#context;
    const nowMs = host.nowMs();
    if (progress.nextMs > nowMs && !isRemovalDue(progress)) return;
    if (progress.removing.length > 0 && !this.#afterRemoval(state, nowMs)) return;
    const request = batchRequest(state);
    if (!progress.listed) {
      const { slice } = operationKind(request.operation);
      const rate = request.maxOperationsPerSecond;
      const size = rate > 0
        ? Math.max(1, Math.min(slice, Math.floor(rate * RATE_SLICE_MS / 1000)))
        : slice;
      // Throws for a query that is no longer valid: the register of search attributes may change.
      const targets = nextTargets(store, request, state, size);
      const removing: BatchTarget[] = [];
      for (const target of targets) this.#apply(request, target, state, removing);
      progress.removing = removing;
      progress.attempts = 0;
      const pauseMs = rate > 0 ? targets.length * 1000 / rate : 0;
      progress.nextMs = Math.min(nowMs + pauseMs, Number.MAX_SAFE_INTEGER);
    }
    if (progress.listed && progress.removing.length === 0) this.#end(state, "completed");
    else this.#write(state);
  }

  /** Counts the runs that were removed after the last commit. Returns whether it is done with all. */
  #afterRemoval(state: BatchState, nowMs: number): boolean {
    const { progress } = state;
    const { store } = this.#context;
    const left = progress.removing.filter(({ workflowId, runId }) =>
      store.load(workflowId, runId) !== undefined
    );
    progress.complete += progress.removing.length - left.length;
    progress.removing = left;
    if (left.length === 0) return true;
    if (++progress.attempts > MAX_REMOVE_ATTEMPTS) {
      progress.failed += left.length;
      progress.removing = [];
      return true;
    }
    if (progress.attempts > 1) progress.nextMs = nowMs + REMOVE_AGAIN_MS;
    this.#write(state);
    return false;
  }

  #apply(
    { operation, reason, jobId: job }: StartBatchOperationRequest,
    target: BatchTarget,
    { progress }: BatchState,
    removing: BatchTarget[],
  ): void {
    const { namespace, store } = this.#context;
    const name = `${target.workflowId}\n${target.runId}`;
    let error: ServiceError | undefined;
    try {
      if ((this.#crashes.get(name) ?? 0) >= MAX_CORE_FAILURES) {
        throw invalid("the workflow crashes the engine core");
      }
      if (operation.case === "deletionOperation") {
        const row = this.#readRun(job, target, () => rowOf(store, target));
        const found = { workflowId: row.workflowId, runId: row.runId };
        removing.push(found);
        if (row.closeTimeMs > 0) return;
        target = found;
      }
      const parts = {
        namespace,
        target,
        reason,
        point: (options: Parameters<typeof findResetPoint>[2]): ResetPoint =>
          this.#readRun(job, target, () => {
            const row = rowOf(store, target);
            return findResetPoint(store, row, options, () => this.#describe(row));
          }),
      };
      const { method, request } = requestForTarget(operation, parts);
      this.#current = name;
      const reply = this.#enter(method, request);
      this.#current = undefined;
      if (reply.error !== undefined) error = replyError(reply.error);
    } catch (thrown) {
      if (!(thrown instanceof ServiceError)) throw thrown;
      error = thrown;
    }
    // It was closed or removed meanwhile: then nothing is left to do.
    const isDone = error === undefined || error.code === Code.NOT_FOUND;
    if (operation.case === "deletionOperation" && removing.at(-1)?.runId === target.runId) {
      // Counted when it is removed.
      if (isDone) return;
      removing.pop();
    }
    if (isDone) progress.complete++;
    else progress.failed++;
  }

  /** Reports a run that the store cannot read, and throws a ServiceError: the run has failed. */
  #readRun<T>(jobId: string, { workflowId, runId }: BatchTarget, read: () => T): T {
    try {
      return read();
    } catch (cause) {
      if (
        cause instanceof ServiceError || cause instanceof StoreBusyError ||
        this.#context.host.engine.poisoned
      ) throw cause;
      const run = runId === "" ? "its last run" : `run ${runId}`;
      const { message: why } = cause as Error;
      const message = `workflow ${workflowId} (${run}): its history cannot be read: ${why}`;
      this.#context.report(
        new Error(`batch operation "${jobId}" did not change ${message}`, { cause }),
      );
      throw new ServiceError(Code.DATA_LOSS, message, "DataLoss", {}, { cause });
    }
  }

  #enter(method: MethodName, request: Uint8Array): Reply {
    const { host } = this.#context;
    settleRuns(host);
    return enterRequest(host, ENGINE_METHODS[method]!, request);
  }

  #describe({ workflowId, runId }: BatchTarget) {
    const { namespace } = this.#context;
    const request = encodeMessage(DescribeWorkflowExecutionRequestSchema, {
      namespace,
      execution: { workflowId, runId },
    });
    const { error, body } = this.#enter("describeWorkflowExecution", request);
    if (error !== undefined) throw replyError(error);
    return decodeMessage(DescribeWorkflowExecutionResponseSchema, body).workflowExecutionInfo;
  }

  // ------------------------------------------------------------------------------------ the commit

  /** The batch is committed. Returns whether a slice must follow. */
  committed(): boolean {
    const respond = this.#calls.committed();
    const { jobId = "", progress } = this.#running ?? {};
    this.#removable = this.#writes.has(jobId) ? progress?.removing ?? [] : [];
    this.#writes = new Map();
    this.#added.clear();
    respond();
    return progress !== undefined &&
      (progress.nextMs <= this.#context.host.nowMs() || isRemovalDue(progress));
  }

  /** The replies of the committed batch were sent, and need its runs no longer. */
  removeRuns(): void {
    const runIds = this.#removable.map(({ runId }) => runId);
    this.#removable = [];
    if (runIds.length > 0) this.#context.remove(runIds);
  }

  /** The batch is lost. `all`: with the waiting calls. */
  lost(error: Error, all: boolean): void {
    if (this.#calls.haveRun || this.#writes.size > 0) this.#stale = true;
    this.#writes = new Map();
    this.#added.clear();
    this.#calls.lost(error, all);
  }
}

/** The next workflows of an operation, which are then visited. */
function nextTargets(
  store: Store,
  request: StartBatchOperationRequest,
  { progress }: BatchState,
  size: number,
): readonly BatchTarget[] {
  if (request.visibilityQuery === "") {
    const all = batchTargets(request);
    const targets = all.slice(progress.index, progress.index + size);
    progress.index += targets.length;
    progress.listed = progress.index >= all.length;
    return targets;
  }
  // Workflows that start later come before the first place: they are not visited.
  const where = batchCondition(store, request);
  const query = { where, orderBy: "StartTime", descending: true } as const;
  const { rows, next } = store.list(query, size, progress.after ?? undefined);
  progress.after = next ?? progress.after;
  progress.listed = next === undefined;
  return rows.map(({ workflowId, runId }) => ({ workflowId, runId }));
}

function rowOf(store: Store, { workflowId, runId }: BatchTarget) {
  if (workflowId === "") throw invalid("WorkflowId is not set on request.");
  const row = store.load(workflowId, runId === "" ? undefined : runId)?.row;
  if (row !== undefined) return row;
  throw new ServiceError(Code.NOT_FOUND, `workflow not found for ID: ${workflowId}`, "NotFound");
}
