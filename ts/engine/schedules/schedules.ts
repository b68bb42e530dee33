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
import { type MethodName, ServiceError } from "../../service/raw.ts";
import { decodeMessage, encodeMessage } from "../host_bytes.ts";
import { namespaceCheck } from "../host_methods.ts";
import { ENGINE_METHODS } from "../methods.ts";
import { replyError } from "../replies.ts";
import { unimplemented } from "../refusals.ts";
import type { ScheduleWrite, Store } from "../store.ts";
import { enterRequest, type MessageHost, settleRuns } from "../transaction_messages.ts";
import { type ScheduleHost, ScheduleStep } from "./machine.ts";
import { checkStart } from "./check_start.ts";
import { scheduleMethods } from "./methods.ts";
import { closedChain } from "./started_runs.ts";
import { decodeState, encodeState, type ScheduleState } from "./state.ts";

interface Live {
  readonly state: ScheduleState;
  nextMs: number;
}

/** A call that waits for the next batch. */
interface Operation {
  readonly run: () => Uint8Array;
  readonly resolve: (response: Uint8Array) => void;
  readonly reject: (error: Error) => void;
  response?: Uint8Array;
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
  #waiting: Operation[] = [];
  #ran: Operation[] = [];
  #writes = new Map<string, ScheduleWrite>();
  #stale = true;
  readonly #isReadOnly: boolean;
  #nextMs = Infinity;

  /** `isReadOnly`: schedules are described, and take no actions. */
  constructor(context: SchedulesContext, isReadOnly = false) {
    this.#isReadOnly = isReadOnly;
    const { namespace, store, host } = context;
    this.#context = context;
    this.#host = {
      namespace,
      start: (request) => this.#start(request),
      stop: (how, workflowId, runId, identity) => this.#stop(how, workflowId, runId, identity),
      closed: (workflowId, runId) => closedChain(store, workflowId, runId),
      report: (error) => context.report(error),
    };
    this.#methods = scheduleMethods({
      namespace,
      ours: namespaceCheck(namespace),
      nowMs: () => host.nowMs(),
      find: (id) => this.#live.get(id)?.state,
      all: () => [...this.#live.values()].map(({ state }) => state),
      create: (state, change) => this.#step(this.#add(state), change),
      change: (state, change) => this.#step(this.#live.get(state.id)!, change),
      remove: (state) => this.#remove(state),
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
  call(method: MethodName, request: Uint8Array): Promise<Uint8Array> | undefined {
    if (!(method in this.#methods)) return undefined;
    if (this.#context.store.schedules === undefined) return Promise.reject(unimplemented(method));
    return new Promise((resolve, reject) => {
      const run = () => this.#methods[method as ScheduleMethod](request);
      this.#waiting.push({ run, resolve, reject });
    });
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
    if (this.#waiting.length === 0 && this.#due.size === 0 && this.#nextMs > nowMs) return;
    for (let one = this.#waiting.shift(); one !== undefined; one = this.#waiting.shift()) {
      try {
        one.response = one.run();
        this.#ran.push(one);
      } catch (error) {
        if (!(error instanceof ServiceError)) {
          this.#waiting.unshift(one);
          throw error;
        }
        one.reject(error);
      }
    }
    const due = [...this.#live.values()].filter(({ state, nextMs }) =>
      nextMs <= nowMs || this.#due.has(state.id)
    );
    this.#due.clear();
    for (const live of due) this.#step(live);
    this.#nextMs = Infinity;
    for (const { nextMs } of this.#live.values()) this.#nextMs = Math.min(this.#nextMs, nextMs);
  }

  /** Reads the schedules; each is looked at once, because workflows may have closed. */
  #read(): void {
    const rows = this.#context.store.schedules?.() ?? [];
    this.#live.clear();
    this.#observed.clear();
    for (const row of rows) {
      const state = decodeState(row);
      this.#live.set(state.id, { state, nextMs: Infinity });
      if (!this.#isReadOnly) this.#due.add(state.id);
      this.#observe(state);
    }
    this.#stale = false;
  }

  #add(state: ScheduleState): Live {
    const live = { state, nextMs: Infinity };
    this.#live.set(state.id, live);
    return live;
  }

  #remove({ id, info }: ScheduleState): void {
    this.#live.delete(id);
    this.#due.delete(id);
    for (const { runId } of info.runningWorkflows) this.#observed.delete(runId);
    this.#writes.set(id, { scheduleId: id });
    this.#nextMs = -Infinity;
  }

  #step(live: Live, change?: (step: ScheduleStep) => void): void {
    const { state } = live;
    const next = new ScheduleStep(state, this.#host, this.#context.host.nowMs()).run(change);
    live.nextMs = next.atMs;
    this.#nextMs = Math.min(this.#nextMs, next.atMs);
    this.#observe(state);
    if (next.changed) this.#writes.set(state.id, encodeState(state));
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
    const ran = this.#ran;
    this.#ran = [];
    this.#writes = new Map();
    for (const { row } of writes) {
      if (row === undefined || row.closeTimeMs === 0) continue;
      const id = this.#observed.get(row.firstRunId);
      if (id === undefined) continue;
      if (row.nextRunId === "") this.#observed.delete(row.firstRunId);
      this.#due.add(id);
    }
    for (const { resolve, response } of ran) resolve(response!);
    return this.#due.size > 0 || this.#nextMs <= this.#context.host.nowMs();
  }

  /** The batch is lost. `all`: with the waiting calls. */
  lost(error: Error, all: boolean): void {
    if (this.#ran.length > 0 || this.#writes.size > 0) this.#stale = true;
    const lost = all ? [...this.#ran, ...this.#waiting] : this.#ran;
    this.#ran = [];
    this.#writes = new Map();
    if (all) this.#waiting = [];
    for (const { reject } of lost) reject(error);
  }
}
