// Calls that wait for the engine. Every poll of a worker has a deadline and an abort signal, so
// both are cheap: one timer for the earliest deadline, one listener per signal. Deadlines are in
// real time even when the engine's clock is virtual.
import { fromBinary } from "@bufbuild/protobuf";
import {
  PollWorkflowExecutionUpdateRequestSchema,
  UpdateWorkflowExecutionRequestSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import {
  PollActivityTaskQueueRequest,
  PollWorkflowTaskQueueRequest,
  ShutdownWorkerRequest,
} from "../messages/generated/fields.ts";
import { readTextField } from "../messages/wire.ts";
import type { CallOptions, MethodName, ServiceError } from "../service/raw.ts";
import { refTimer, unrefTimer } from "./clock.ts";
import { LONG_POLL_MS } from "./methods.ts";
import type { PriorityStats } from "./backlog.ts";
import { withSuggestion } from "./poller_scaling.ts";
import { type NotedPoll, Pollers } from "./pollers.ts";
import { callCanceled, tooLate } from "./refusals.ts";

interface Call {
  readonly method: MethodName;
  /** Kept for polls and for methods whose errors name the request. */
  readonly request: Uint8Array | undefined;
  readonly resolve: (response: Uint8Array) => void;
  readonly reject: (error: ServiceError) => void;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** On the steady clock, in ms; Infinity: no deadline. */
  readonly deadline: number;
  /** When the long poll ends without a result; Infinity if it has ended or has no limit. */
  expires: number;
}

export interface CallEvents {
  /** The caller canceled the call or its deadline passed. */
  cancel(id: number): void;
  /** The long poll has reached its limit. */
  expire(id: number): void;
  /** Returns the error of the last commit; undefined if it succeeded. */
  trouble?(): Error | undefined;
  /** Returns what waits in a task queue; absent: polls get no suggestions. */
  taskStats?: (queue: string) => readonly PriorityStats[];
}

const MAX_ID = 0xffff_ffff;

export class Calls {
  /** Workers that polled recently. */
  readonly pollers = new Pollers();
  readonly #events: CallEvents;
  readonly #longPollMs: { readonly [name in MethodName]?: number };
  readonly #waiting = new Map<number, Call>();
  /** The calls of each signal. `stop` removes the listener with the last of them. */
  readonly #signals = new Map<AbortSignal, { ids: Set<number>; stop: () => void }>();
  #lastId = 0;
  #timer: unknown;
  #timerAt = Infinity;

  constructor(
    events: CallEvents,
    longPollMs: { readonly [name in MethodName]?: number } = LONG_POLL_MS,
  ) {
    this.#events = events;
    this.#longPollMs = longPollMs;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Returns an id that no waiting call has. */
  reserveId(): number {
    do this.#lastId = this.#lastId >= MAX_ID ? 1 : this.#lastId + 1; while (
      this.#waiting.has(this.#lastId)
    );
    return this.#lastId;
  }

  /** Registers a call and returns its id. `resolve` or `reject` is called exactly once. */
  add(
    method: MethodName,
    request: Uint8Array,
    options: CallOptions,
    resolve: (response: Uint8Array) => void,
    reject: (error: ServiceError) => void,
  ): number {
    const id = this.reserveId();
    const { signal, timeoutMs = Infinity } = options;
    const longPoll = this.#longPollMs[method] ?? Infinity;
    const polls = method === "pollWorkflowTaskQueue" || method === "pollActivityTaskQueue";
    const polled = polls ? this.pollers.note(method, request) : undefined;
    const kept = polls || method === "updateWorkflowExecution" ||
      method === "pollWorkflowExecutionUpdate";
    const now = timeoutMs === Infinity && longPoll === Infinity ? 0 : performance.now();
    const call: Call = {
      method,
      request: kept ? request : undefined,
      resolve: polled === undefined ? resolve : (task) => resolve(this.#suggest(polled, task, now)),
      reject,
      signal,
      timeoutMs,
      deadline: now + timeoutMs,
      expires: now + longPoll,
    };
    this.#waiting.set(id, call);
    if (signal !== undefined) this.#listen(signal, id);
    const due = Math.min(call.deadline, call.expires);
    if (due < this.#timerAt) this.#arm(due, now);
    if (this.#waiting.size === 1) refTimer(this.#timer);
    return id;
  }

  /** Adds a suggestion to the task of a poll. An empty response has none, as on servers. */
  #suggest({ side, queue, checks }: NotedPoll, task: Uint8Array, polledAt: number): Uint8Array {
    const { taskStats } = this.#events;
    if (task.length === 0 || taskStats === undefined) return task;
    const now = performance.now();
    return withSuggestion(
      task,
      side,
      checks.suggest(now - polledAt, now, side, () => taskStats(queue)),
    );
  }

  #listen(signal: AbortSignal, id: number): void {
    let listened = this.#signals.get(signal);
    if (listened === undefined) {
      const ids = new Set<number>();
      const gone = () => {
        for (const each of [...ids]) this.#giveUp(each, callCanceled());
      };
      signal.addEventListener("abort", gone, { once: true });
      this.#signals.set(
        signal,
        listened = { ids, stop: () => signal.removeEventListener("abort", gone) },
      );
    }
    listened.ids.add(id);
  }

  #unlisten(signal: AbortSignal, id: number): void {
    const listened = this.#signals.get(signal);
    if (listened === undefined) return;
    listened.ids.delete(id);
    if (listened.ids.size > 0) return;
    listened.stop();
    this.#signals.delete(signal);
  }

  #arm(at: number, now: number): void {
    clearTimeout(this.#timer as number | undefined);
    this.#timerAt = at;
    // 2^31 - 1 is the longest timeout of setTimeout; an early check does no harm.
    this.#timer = setTimeout(
      () => this.#look(),
      Math.min(Math.max(Math.ceil(at - now), 0), 2 ** 31 - 1),
    );
    if (this.#waiting.size === 0) unrefTimer(this.#timer);
  }

  /** Waiting polls of a method with their requests, the oldest first. */
  *polls(method: "pollActivityTaskQueue"): Iterable<readonly [id: number, request: Uint8Array]> {
    for (const [id, call] of this.#waiting) {
      if (call.method === method) yield [id, call.request!];
    }
  }

  /** Ends the polls of a worker that shuts down: they resolve without a task. */
  endPolls(workerInstanceKey: string): void {
    if (workerInstanceKey === "") return;
    for (const [id, { method, request }] of [...this.#waiting]) {
      if (method !== "pollWorkflowTaskQueue" && method !== "pollActivityTaskQueue") continue;
      if (instanceKeyOf(method, request!) === workerInstanceKey) this.#events.expire(id);
    }
  }

  /**
   * Rejects calls past their deadline, expires long polls, and sets the timer for the next check.
   */
  #look(): void {
    const now = performance.now();
    for (const [id, call] of [...this.#waiting]) {
      if (call.deadline <= now) this.#giveUp(id, deadlineError(call, this.#events.trouble?.()));
      else if (call.expires <= now) {
        call.expires = Infinity;
        this.#events.expire(id);
      }
    }
    let next = Infinity;
    for (const call of this.#waiting.values()) next = Math.min(next, call.deadline, call.expires);
    this.#timerAt = Infinity;
    if (next < Infinity) this.#arm(next, now);
  }

  #giveUp(id: number, error: ServiceError): void {
    const call = this.take(id);
    if (call === undefined) return;
    call.reject(error);
    this.#events.cancel(id);
  }

  /** Removes a call to settle it; undefined if it was already settled. */
  take(id: number): Pick<Call, "resolve" | "reject"> | undefined {
    const call = this.#waiting.get(id);
    if (call === undefined) return undefined;
    this.#waiting.delete(id);
    if (call.signal !== undefined) this.#unlisten(call.signal, id);
    if (this.#waiting.size === 0) unrefTimer(this.#timer);
    return call;
  }

  rejectAll(error: ServiceError): void {
    for (const id of [...this.#waiting.keys()]) this.take(id)!.reject(error);
  }

  close(): void {
    clearTimeout(this.#timer as number | undefined);
  }
}

function deadlineError(call: Call, trouble: Error | undefined): ServiceError {
  const ms = Math.round(call.timeoutMs);
  const text = call.method === "queryWorkflow"
    ? `query timed out before a worker could process it (${ms} ms); check that a worker polls the task queue of the workflow`
    : `${call.method} timed out after ${ms} ms`;
  const update = call.request === undefined ? undefined : updateOf(call.method, call.request);
  if (update === undefined) return tooLate(text, trouble);
  return tooLate(
    `${text}; update "${update.id}" of workflow "${update.workflowId}" continues; poll its result with this id`,
    trouble,
    { updateId: update.id, workflowId: update.workflowId },
  );
}

/**
 * Field `worker_instance_key` of requests; "" if absent or if the bytes do not decode (the engine
 * rejects them).
 */
export function instanceKeyOf(method: keyof typeof INSTANCE_KEY, request: Uint8Array): string {
  try {
    return readTextField(request, INSTANCE_KEY[method]);
  } catch {
    return "";
  }
}

const INSTANCE_KEY = {
  pollWorkflowTaskQueue: PollWorkflowTaskQueueRequest.workerInstanceKey,
  pollActivityTaskQueue: PollActivityTaskQueueRequest.workerInstanceKey,
  shutdownWorker: ShutdownWorkerRequest.workerInstanceKey,
} as const;

/** The update of a call; undefined for bytes that do not decode (the engine has rejected them). */
function updateOf(
  method: MethodName,
  request: Uint8Array,
): { id: string; workflowId: string } | undefined {
  try {
    if (method === "updateWorkflowExecution") {
      const { request: update, workflowExecution } = fromBinary(
        UpdateWorkflowExecutionRequestSchema,
        request,
      );
      return { id: update?.meta?.updateId ?? "", workflowId: workflowExecution?.workflowId ?? "" };
    }
    const { updateRef } = fromBinary(PollWorkflowExecutionUpdateRequestSchema, request);
    return {
      id: updateRef?.updateId ?? "",
      workflowId: updateRef?.workflowExecution?.workflowId ?? "",
    };
  } catch {
    return undefined;
  }
}
