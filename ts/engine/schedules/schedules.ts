// All schedules of an engine. They are in memory; calls and due times change them when a batch is
// closed, before it is flushed, so that a schedule and the workflows that it starts are in one
// commit. A failed commit reads them again from the store.
import {
  RequestCancelWorkflowExecutionRequestSchema,
  type StartWorkflowExecutionRequest,
  StartWorkflowExecutionRequestSchema,
  StartWorkflowExecutionResponseSchema,
  TerminateWorkflowExecutionRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type {
  Reply,
  RunWrite,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { randomId } from "../../platform/host.ts";
import { Code, type MethodName, ServiceError } from "../../service/raw.ts";
import { decodeMessage, encodeMessage } from "../host_bytes.ts";
import { namespaceCheck } from "../host_methods.ts";
import { ENGINE_METHODS } from "../methods.ts";
import { replyError } from "../replies.ts";
import { callCanceled, unimplemented } from "../refusals.ts";
import type { ScheduleWrite, Store, StoredSchedule } from "../store.ts";
import { StoreError } from "../store_errors.ts";
import { enterRequest, type MessageHost, settleRuns } from "../transaction_messages.ts";
import { WaitingCalls } from "../waiting_calls.ts";
import { type ScheduleHost, ScheduleStep } from "./machine.ts";
import { checkStart } from "./check_start.ts";
import { scheduleMethods } from "./methods.ts";
import { closedChain } from "./started_runs.ts";
import { decodeState, encodeState, type ScheduleState } from "./state.ts";

/** Times that due schedules compute in one batch; the rest of them follow in the next one. */
const MAX_WORK = 10_000;
/** Failures of the core in a schedule, after which it takes no more actions. */
const MAX_CORE_FAILURES = 3;

interface Live {
  readonly state: ScheduleState;
  nextMs: number;
}

type ScheduleMethod = keyof ReturnType<typeof scheduleMethods>;

export interface SchedulesContext {
  readonly namespace: string;
  readonly store: Store;
  readonly host: MessageHost;
  report(error: Error): void;
}

export class Schedules {
  readonly #context: SchedulesContext;
  readonly #host: ScheduleHost;
  readonly #methods: ReturnType<typeof scheduleMethods>;
  readonly #live = new Map<string, Live>();
  /** Schedules by the first run of workflows that they observe. */
  readonly #observed = new Map<string, string>();
  readonly #due = new Set<string>();
  /** Why schedules cannot be read: their rows stay as they are. */
  readonly #unreadable = new Map<string, string>();
  /** Why schedules take no actions until they are changed, or the engine opens again. */
  readonly #troubled = new Map<string, string>();
  readonly #coreFailures = new Map<string, number>();
  readonly #calls: WaitingCalls;
  #writes = new Map<string, ScheduleWrite>();
  #stale = true;
  readonly #isReadOnly: boolean;
  #nextMs = Infinity;

  /** `isReadOnly`: schedules are described, and take no actions. */
  constructor(context: SchedulesContext, isReadOnly = false) {
    this.#isReadOnly = isReadOnly;
    const { namespace, store, host } = context;
    this.#context = context;
    this.#calls = new WaitingCalls(host);
    this.#host = {
      namespace,
      start: (request) => this.#start(request),
      stop: (how, workflowId, runId, identity) => this.#stop(how, workflowId, runId, identity),
      closed: (workflowId, runId) => closedChain(store, workflowId, runId, context.report),
      report: (error) => context.report(error),
    };
    this.#methods = scheduleMethods({
      namespace,
      ours: namespaceCheck(namespace),
      nowMs: () => host.nowMs(),
      find: (id) => this.#find(id),
      trouble: (id) => this.#troubled.get(id) ?? "",
      all: () => [...this.#live.values()].map(({ state }) => state),
      create: (state, change) => this.#step(this.#add(state), change),
      change: (state, change) => this.#step(this.#live.get(state.id)!, change),
      observe: (state) => this.#look(this.#live.get(state.id)!),
      remove: (id) => this.#remove(id),
      attributeTypes: () => store.attributeTypes(),
      check: (request) => checkStart(host, request),
    });
  }

  /** When the schedules act next, in ms since the epoch; 0: never. */
  get nextWakeMs(): number {
    return this.#nextMs === Infinity ? 0 : this.#nextMs;
  }

  /** Changes that the next commit must contain. */
  get writes(): ReadonlyMap<string, ScheduleWrite> {
    return this.#writes;
  }

  /**
   * Calls a method of schedules in the next batch, and resolves after its commit. Undefined: it is
   * another method.
   */
  call(
    method: MethodName,
    request: Uint8Array,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array> | undefined {
    if (!(method in this.#methods)) return undefined;
    if (signal?.aborted) return Promise.reject(callCanceled());
    if (this.#context.store.schedules === undefined) return Promise.reject(unimplemented(method));
    return this.#calls.add(() => this.#methods[method as ScheduleMethod](request));
  }

  /** Runs waiting calls and due schedules. Throws the error of the store or the core. */
  run(): void {
    try {
      this.#run();
    } catch (error) {
      // A step may have ended in the middle.
      this.#stale = true;
      throw error;
    }
  }

  #run(): void {
    if (this.#stale) this.#read();
    const nowMs = this.#context.host.nowMs();
    if (!this.#calls.areWaiting && this.#due.size === 0 && this.#nextMs > nowMs) return;
    this.#calls.run();
    this.#stepDue(nowMs);
    this.#nextMs = Infinity;
    for (const { nextMs } of this.#live.values()) this.#nextMs = Math.min(this.#nextMs, nextMs);
  }

  /** Lets due schedules act, up to an amount of work; those of the last batch are first. */
  #stepDue(nowMs: number): void {
    const ids = new Set(this.#due);
    for (const { state, nextMs } of this.#live.values()) if (nextMs <= nowMs) ids.add(state.id);
    this.#due.clear();
    let work = 0;
    for (const id of ids) {
      const live = this.#live.get(id);
      if (live === undefined || this.#troubled.has(id)) continue;
      if (work < MAX_WORK) work += this.#look(live);
      else {
        this.#due.add(id);
        live.nextMs = Math.min(live.nextMs, nowMs);
      }
    }
  }

  /** Reads the schedules; each is looked at once, because workflows may have closed. */
  #read(): void {
    const rows = this.#context.store.schedules?.() ?? [];
    this.#live.clear();
    this.#observed.clear();
    for (const row of rows) {
      if (this.#decode(row) && !this.#isReadOnly) this.#due.add(row.scheduleId);
    }
    this.#stale = false;
  }

  /** Returns false if the row cannot be read, which is reported once. */
  #decode(row: StoredSchedule): boolean {
    const { scheduleId: id } = row;
    try {
      const state = decodeState(row);
      this.#live.set(id, { state, nextMs: Infinity });
      this.#unreadable.delete(id);
      this.#observe(state);
      return true;
    } catch (cause) {
      const { message } = cause as Error;
      this.#live.delete(id);
      if (this.#unreadable.get(id) === message) return false;
      this.#unreadable.set(id, message);
      this.#context.report(unreadable(id, message, cause as Error));
      return false;
    }
  }

  #find(id: string): ScheduleState | undefined {
    const reason = this.#unreadable.get(id);
    if (reason === undefined) return this.#live.get(id)?.state;
    const { message } = unreadable(id, reason);
    throw new ServiceError(
      Code.FAILED_PRECONDITION,
      `${message}; delete it, or open the store with a version of the runtime and of this package that reads it`,
      "FailedPrecondition",
    );
  }

  #add(state: ScheduleState): Live {
    const live = { state, nextMs: Infinity };
    this.#live.set(state.id, live);
    return live;
  }

  #remove(id: string): boolean {
    const live = this.#live.get(id);
    if (!this.#unreadable.delete(id) && live === undefined) return false;
    this.#live.delete(id);
    this.#due.delete(id);
    this.#troubled.delete(id);
    this.#coreFailures.delete(id);
    for (const { runId } of live?.state.info.runningWorkflows ?? []) this.#observed.delete(runId);
    this.#writes.set(id, { scheduleId: id });
    this.#nextMs = -Infinity;
    return true;
  }

  /** Changes a schedule and lets it act. After an error the schedule is as it was. */
  #step(live: Live, change?: (step: ScheduleStep) => void): number {
    const { id } = live.state;
    const step = new ScheduleStep(live.state, this.#host, this.#context.host.nowMs());
    try {
      const next = step.run(change, this.#troubled.has(id));
      const row = next.changed ? encodeState(live.state) : undefined;
      live.nextMs = next.atMs;
      this.#nextMs = Math.min(this.#nextMs, next.atMs);
      this.#observe(live.state);
      if (row !== undefined) this.#writes.set(id, row);
      this.#troubled.delete(id);
      this.#coreFailures.delete(id);
      return next.work;
    } catch (error) {
      const isLost = error instanceof StoreError || this.#context.host.engine.poisoned;
      // A lost batch reads all of them again.
      if (!isLost) this.#restore(id);
      throw error;
    }
  }

  /** Lets a schedule act that must not stop the others. Throws the error of the store or the core. */
  #look(live: Live): number {
    const { id } = live.state;
    if (this.#troubled.has(id)) return 0;
    try {
      return this.#step(live);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      const isCore = this.#context.host.engine.poisoned;
      // The reason for a failure of the core may be something else in the batch.
      const failures = (this.#coreFailures.get(id) ?? 0) + 1;
      if (isCore) this.#coreFailures.set(id, failures);
      if (!isCore || failures >= MAX_CORE_FAILURES) this.#exclude(id, error as Error);
      if (isCore) throw error;
      return 1;
    }
  }

  #exclude(id: string, cause: Error): void {
    this.#troubled.set(id, cause.message);
    this.#due.delete(id);
    this.#context.report(
      new Error(
        `schedule "${id}" takes no actions until it is updated or the engine opens again: ${cause.message}`,
        { cause },
      ),
    );
  }

  /** A step has ended in the middle: the schedule is read again. */
  #restore(id: string): void {
    const write = this.#writes.get(id);
    const row = write === undefined
      ? this.#context.store.schedules?.().find(({ scheduleId }) => scheduleId === id)
      : "state" in write
      ? write
      : undefined;
    if (row === undefined) this.#live.delete(id);
    else if (this.#decode(row)) this.#due.add(id);
  }

  #observe({ id, info }: ScheduleState): void {
    for (const { runId } of info.runningWorkflows) this.#observed.set(runId, id);
  }

  #enter(method: MethodName, request: Uint8Array): Reply {
    const { host } = this.#context;
    settleRuns(host);
    return enterRequest(host, ENGINE_METHODS[method]!, request);
  }

  #start(request: StartWorkflowExecutionRequest): string | ServiceError {
    const bytes = encodeMessage(StartWorkflowExecutionRequestSchema, request);
    const { error, body } = this.#enter("startWorkflowExecution", bytes);
    if (error !== undefined) return replyError(error);
    return decodeMessage(StartWorkflowExecutionResponseSchema, body).runId;
  }

  #stop(
    how: "cancel" | "terminate",
    workflowId: string,
    firstExecutionRunId: string,
    identity: string,
  ): void {
    const common = {
      namespace: this.#context.namespace,
      workflowExecution: { workflowId },
      firstExecutionRunId,
      identity,
    };
    // An error means that the workflow has closed meanwhile.
    if (how === "cancel") {
      const reason = "cancelled by schedule overlap policy";
      const request = { ...common, reason, requestId: randomId() };
      const bytes = encodeMessage(RequestCancelWorkflowExecutionRequestSchema, request);
      this.#enter("requestCancelWorkflowExecution", bytes);
    } else {
      const request = { ...common, reason: "terminated by schedule overlap policy" };
      const bytes = encodeMessage(TerminateWorkflowExecutionRequestSchema, request);
      this.#enter("terminateWorkflowExecution", bytes);
    }
  }

  /** The batch is committed. Returns whether schedules must act on it in another batch. */
  committed(writes: readonly RunWrite[]): boolean {
    const respond = this.#calls.committed();
    this.#writes = new Map();
    for (const { row } of writes) {
      if (row === undefined || row.closeTimeMs === 0) continue;
      const id = this.#observed.get(row.firstRunId);
      if (id === undefined) continue;
      if (row.nextRunId === "") this.#observed.delete(row.firstRunId);
      this.#due.add(id);
    }
    respond();
    return this.#due.size > 0 || this.#nextMs <= this.#context.host.nowMs();
  }

  /** The batch is lost. `all`: with the waiting calls. */
  lost(error: Error, all: boolean): void {
    if (this.#calls.haveRun || this.#writes.size > 0) this.#stale = true;
    this.#writes = new Map();
    this.#calls.lost(error, all);
  }
}

function unreadable(id: string, reason: string, cause?: Error): Error {
  return new Error(`schedule "${id}" cannot be read: ${reason}`, { cause });
}
