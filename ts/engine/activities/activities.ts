// The standalone activities of an engine. Open ones are in memory; calls, deadlines and polls change
// them when a batch is closed, before it is flushed, so that a change and its response have one
// commit. A worker gets a task after the commit that recorded its start. A failed commit reads the
// open ones again from the store.
import {
  StartActivityExecutionRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { randomId } from "../../platform/host.ts";
import type { CallOptions, MethodName, ServiceError } from "../../service/raw.ts";
import type { PriorityBacklog } from "../backlog.ts";
import type { Calls } from "../calls.ts";
import { decodeMessage, invalid } from "../host_bytes.ts";
import { namespaceCheck } from "../host_methods.ts";
import { callCanceled, unimplemented } from "../refusals.ts";
import type { ActivityWrite, Store } from "../store.ts";
import type { MessageHost } from "../transaction_messages.ts";
import { WaitingCalls } from "../waiting_calls.ts";
import {
  activityDeadlineMs,
  expire,
  loseAttempt,
  startAttempt,
  takeBackAttempt,
} from "./machine.ts";
import {
  type ActivityHost,
  activityMethods,
  type ActivityWait,
  findActivity,
  readWait,
  WAITING_METHODS,
  type WaitingMethod,
} from "./methods.ts";
import { ActivityQueues, Agenda, priorityOf } from "./queues.ts";
import { decodeActivity, encodeActivity, isClosed, isStarted, type LiveActivity } from "./state.ts";
import { type ActivityPoll, concernsStandalone, encodeActivityTask, readPoll } from "./tasks.ts";

export interface ActivitiesContext {
  readonly namespace: string;
  readonly store: Store;
  readonly host: MessageHost;
  readonly calls: Pick<Calls, "add" | "take" | "polls">;
  /** Maximum bytes of a payload. */
  readonly maxPayloadBytes: number;
  report(error: Error): void;
}

interface Dispatched {
  readonly activity: LiveActivity;
  readonly task: Uint8Array;
}

type Methods = ReturnType<typeof activityMethods>;

export class Activities {
  readonly #context: ActivitiesContext;
  readonly #isReadOnly: boolean;
  readonly #calls: WaitingCalls;
  readonly #host: ActivityHost;
  readonly #methods: Methods;
  /** Open activities, and those that the open batch has closed: by run, and the latest by id. */
  readonly #byRun = new Map<string, LiveActivity>();
  readonly #byId = new Map<string, LiveActivity>();
  readonly #queues = new ActivityQueues();
  readonly #agenda = new Agenda();
  /** Changes of the open batch. */
  readonly #changed = new Set<LiveActivity>();
  readonly #added = new Map<string, Uint8Array>();
  readonly #removed = new Set<string>();
  #writes = new Map<string, ActivityWrite>();
  /** Tasks that leave after the commit, by the poll that gets them. */
  readonly #dispatched = new Map<number, Dispatched>();
  /** Activities whose worker was gone when its task was ready, with the nonce of the attempt. */
  #returned: { runId: string; nonce: string }[] = [];
  /** Waiting calls that no commit has seen. */
  #arrived: number[] = [];
  /** Calls that wait for a change, by call id; the run is known from their first commit on. */
  readonly #waits = new Map<number, { wait: ActivityWait; runId: string | undefined }>();
  readonly #waitsOfRun = new Map<string, Set<number>>();
  readonly #polls = new WeakMap<Uint8Array, ActivityPoll>();
  /** When a queue that is at its limit may have a task again. */
  #limitedMs = Infinity;
  #losesAttempts: boolean;
  #stale = true;

  /**
   * `isReadOnly`: activities are described, and nothing happens to them. `losesAttempts`: workers of
   * the process before are gone.
   */
  constructor(context: ActivitiesContext, isReadOnly = false, losesAttempts = false) {
    const { namespace, store, host, maxPayloadBytes } = context;
    this.#context = context;
    this.#isReadOnly = isReadOnly;
    this.#losesAttempts = losesAttempts && !isReadOnly;
    this.#calls = new WaitingCalls(host);
    const fits = (bytes: Uint8Array) => bytes.length <= maxPayloadBytes;
    this.#host = {
      namespace,
      messages: host,
      get store() {
        return store.activities!;
      },
      ours: namespaceCheck(namespace),
      nowMs: () => host.nowMs(),
      attributeTypes: () => store.attributeTypes(),
      fits,
      checkSize(what, bytes) {
        if (fits(bytes)) return;
        throw invalid(
          `Blob data size exceeds limit. ${what}: ${bytes.length} bytes, at most ${maxPayloadBytes}.`,
        );
      },
      latest: (activityId) => this.#find(activityId, ""),
      find: (activityId, runId) => this.#find(activityId, runId),
      open: (activityId, runId) => {
        const found = this.#find(activityId, runId);
        return found === undefined || isClosed(found) ? undefined : found;
      },
      request: (activity) => this.#request(activity),
      add: (activity, request) => {
        this.#remember(activity);
        this.#added.set(activity.info.runId, request);
        this.#changed.add(activity);
      },
      change: (activity) => this.#changed.add(activity),
      remove: (activity) => this.#remove(activity),
    };
    this.#methods = activityMethods(this.#host);
  }

  /** When an activity needs the engine next, in ms since the epoch; 0: never. */
  get nextWakeMs(): number {
    const next = Math.min(this.#agenda.nextMs(), this.#limitedMs);
    return next === Infinity || this.#isReadOnly ? 0 : next;
  }

  /** Changes that the next commit must contain. */
  get writes(): ReadonlyMap<string, ActivityWrite> {
    return this.#writes;
  }

  /** Tasks that wait for a worker. */
  get queuedTasks(): number {
    return this.#queues.size;
  }

  backlog(queue: string): PriorityBacklog[] {
    return this.#queues.backlog(queue, this.#context.host.nowMs());
  }

  // ------------------------------------------------------------------------------------------ calls

  /**
   * Calls a method of standalone activities in the next batch, and resolves after its commit.
   * Undefined: the call is another one.
   */
  call(
    method: MethodName,
    request: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array> | undefined {
    const isWaiting = WAITING_METHODS.includes(method as WaitingMethod);
    if (!isWaiting && !(method in this.#methods)) return undefined;
    if (isTaskMethod(method) && !concernsStandalone(method, request)) return undefined;
    if (options.signal?.aborted) return Promise.reject(callCanceled());
    if (this.#context.store.activities === undefined) return Promise.reject(unimplemented(method));
    if (isWaiting) return this.#wait(method as WaitingMethod, request, options);
    return this.#calls.add(() => this.#methods[method as keyof Methods](request));
  }

  #wait(
    method: WaitingMethod,
    request: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array> {
    let wait: ActivityWait;
    try {
      wait = readWait(this.#host, method, request);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    return new Promise((resolve, reject) => {
      const id = this.#context.calls.add(method, request, options, resolve, reject);
      this.#waits.set(id, { wait, runId: undefined });
      this.#arrived.push(id);
    });
  }

  /** The long poll has reached its limit. Returns whether it is one of these calls. */
  expire(id: number): boolean {
    const found = this.#waits.get(id);
    if (found === undefined) return false;
    this.#dropWait(id);
    this.#context.calls.take(id)?.resolve(found.wait.empty);
    return true;
  }

  /** The caller is gone. Returns whether the call is one of these. */
  cancel(id: number): boolean {
    return this.#dropWait(id);
  }

  #dropWait(id: number): boolean {
    const { runId } = this.#waits.get(id) ?? {};
    const ids = runId === undefined ? undefined : this.#waitsOfRun.get(runId);
    ids?.delete(id);
    if (ids?.size === 0) this.#waitsOfRun.delete(runId!);
    return this.#waits.delete(id);
  }

  /** Responds to a waiting call if it can; after a commit, what is in memory is stored. */
  #respond(id: number): void {
    const found = this.#waits.get(id);
    if (found === undefined) return;
    const { wait } = found;
    try {
      const runId = found.runId ?? wait.runId;
      const activity = findActivity(this.#host, { ...wait, runId });
      const response = wait.respond(activity);
      if (response === undefined) return this.#keepWaiting(id, wait, activity.info.runId);
      this.#dropWait(id);
      this.#context.calls.take(id)?.resolve(response);
    } catch (error) {
      this.#dropWait(id);
      this.#context.calls.take(id)?.reject(error as ServiceError);
    }
  }

  #keepWaiting(id: number, wait: ActivityWait, runId: string): void {
    this.#waits.set(id, { wait, runId });
    const ids = this.#waitsOfRun.get(runId);
    if (ids === undefined) this.#waitsOfRun.set(runId, new Set([id]));
    else ids.add(id);
  }

  // ------------------------------------------------------------------------------------- activities

  #find(activityId: string, runId: string): LiveActivity | undefined {
    const live = runId === "" ? this.#byId.get(activityId) : this.#byRun.get(runId);
    if (live !== undefined) return live.info.activityId === activityId ? live : undefined;
    const row = this.#context.store.activities!.find(activityId, runId || undefined);
    if (row === undefined || this.#removed.has(row.runId)) return undefined;
    return this.#byRun.get(row.runId) ?? decodeActivity(row);
  }

  #request({ info: { activityId, runId } }: LiveActivity): Uint8Array {
    return this.#added.get(runId) ??
      this.#context.store.activities!.request(activityId, runId) ?? new Uint8Array(0);
  }

  #remember(activity: LiveActivity): void {
    this.#byRun.set(activity.info.runId, activity);
    this.#byId.set(activity.info.activityId, activity);
  }

  #forget(activity: LiveActivity): void {
    const { runId, activityId } = activity.info;
    this.#queues.remove(activity);
    this.#agenda.set(activity, Infinity);
    this.#byRun.delete(runId);
    if (this.#byId.get(activityId) === activity) this.#byId.delete(activityId);
  }

  #remove(activity: LiveActivity): void {
    const { runId } = activity.info;
    this.#forget(activity);
    this.#changed.delete(activity);
    this.#added.delete(runId);
    this.#removed.add(runId);
  }

  // -------------------------------------------------------------------------------------- one batch

  /** Runs what is due and waiting calls, and starts attempts. Throws the error of the store or the core. */
  run(): void {
    try {
      if (this.#stale) this.#read();
      const nowMs = this.#context.host.nowMs();
      if (!this.#isReadOnly) this.#runDue(nowMs);
      this.#calls.run();
      this.#settle(nowMs);
      this.#limitedMs = Infinity;
      if (!this.#isReadOnly && this.#queues.size > 0) this.#dispatch(nowMs);
      this.#encode();
    } catch (error) {
      // A step may have ended in the middle.
      this.#stale = true;
      throw error;
    }
  }

  #read(): void {
    for (const known of [this.#byRun, this.#byId]) known.clear();
    this.#queues.clear();
    this.#agenda.clear();
    const nowMs = this.#context.host.nowMs();
    for (const row of this.#context.store.activities?.open() ?? []) {
      let activity: LiveActivity;
      try {
        activity = decodeActivity(row);
      } catch (cause) {
        const { message } = cause as Error;
        this.#context.report(
          new Error(`activity "${row.activityId}" cannot be read: ${message}`, { cause }),
        );
        continue;
      }
      this.#remember(activity);
      if (this.#losesAttempts && isStarted(activity)) {
        loseAttempt(activity, nowMs);
        this.#changed.add(activity);
      } else this.#place(activity, nowMs);
    }
    this.#losesAttempts = false;
    this.#stale = false;
  }

  #runDue(nowMs: number): void {
    for (const { runId, nonce } of this.#returned) {
      const activity = this.#byRun.get(runId);
      if (activity?.progress.nonce !== nonce) continue;
      takeBackAttempt(activity);
      this.#changed.add(activity);
    }
    this.#returned = [];
    for (
      let activity = this.#agenda.takeDue(nowMs);
      activity !== undefined;
      activity = this.#agenda.takeDue(nowMs)
    ) {
      if (expire(activity, nowMs)) this.#changed.add(activity);
      this.#place(activity, nowMs);
    }
  }

  /** Puts an activity where it waits. */
  #place(activity: LiveActivity, nowMs: number): void {
    const { info, progress, queued } = activity;
    const waits = !isClosed(activity) && !isStarted(activity) && !progress.isPaused &&
      progress.readyMs <= nowMs;
    const isInPlace = waits && queued?.queue === info.taskQueue &&
      queued.readyMs === progress.readyMs && queued.priority === priorityOf(activity);
    if (!isInPlace) {
      this.#queues.remove(activity);
      if (waits) this.#queues.push(activity);
    }
    this.#agenda.set(activity, activityDeadlineMs(activity));
  }

  #settle(nowMs: number): void {
    for (const activity of this.#changed) this.#place(activity, nowMs);
  }

  /** Gives waiting activities to waiting polls. */
  #dispatch(nowMs: number): void {
    const { calls, host, namespace } = this.#context;
    for (const [id, request] of calls.polls("pollActivityTaskQueue")) {
      if (this.#queues.size === 0) return;
      if (this.#dispatched.has(id)) continue;
      const { queue, identity } = this.#pollOf(request);
      const activity = this.#queues.first(queue);
      if (activity === undefined) continue;
      const { fairnessKey = "", fairnessWeight } = activity.info.priority ?? {};
      const limitedMs = host.engine.takeActivityToken(
        queue,
        fairnessKey,
        fairnessWeight || 1,
        nowMs,
      );
      if (limitedMs > 0) {
        this.#limitedMs = Math.min(this.#limitedMs, limitedMs);
        continue;
      }
      startAttempt(activity, { identity, nonce: randomId(), nowMs });
      this.#changed.add(activity);
      this.#place(activity, nowMs);
      const start = decodeMessage(StartActivityExecutionRequestSchema, this.#request(activity));
      this.#dispatched.set(id, { activity, task: encodeActivityTask(activity, namespace, start) });
      // The state machine gives it no other task.
      host.engine.cancelRequest(id);
    }
  }

  #pollOf(request: Uint8Array): ActivityPoll {
    let poll = this.#polls.get(request);
    if (poll === undefined) {
      poll = readPoll(request) ?? { queue: "", identity: "" };
      this.#polls.set(request, poll);
    }
    return poll;
  }

  #encode(): void {
    for (const activity of this.#changed) {
      const { info } = activity;
      const request = this.#added.get(info.runId);
      info.stateTransitionCount++;
      if (request !== undefined) info.stateSizeBytes = BigInt(request.length);
      this.#writes.set(info.runId, encodeActivity(activity, request));
    }
    for (const runId of this.#removed) this.#writes.set(runId, { runId });
  }

  // ------------------------------------------------------------------------------------- the commit

  /** The batch is committed. Returns whether another one must follow. */
  committed(): boolean {
    const respond = this.#calls.committed();
    const runIds = [...this.#writes.keys()];
    for (const activity of this.#changed) if (isClosed(activity)) this.#forget(activity);
    this.#endBatch();
    respond();
    for (const [id, { activity, task }] of this.#dispatched) {
      const poll = this.#context.calls.take(id);
      if (poll !== undefined) poll.resolve(task);
      else this.#returned.push({ runId: activity.info.runId, nonce: activity.progress.nonce });
    }
    this.#dispatched.clear();
    for (const runId of runIds) {
      for (const id of [...this.#waitsOfRun.get(runId) ?? []]) this.#respond(id);
    }
    const arrived = this.#arrived;
    this.#arrived = [];
    for (const id of arrived) this.#respond(id);
    return this.#returned.length > 0;
  }

  #endBatch(): void {
    this.#writes = new Map();
    this.#changed.clear();
    this.#added.clear();
    this.#removed.clear();
  }

  /** The batch is lost. `all`: with the waiting calls. */
  lost(error: Error, all: boolean): void {
    if (this.#calls.haveRun || this.#changed.size > 0 || this.#removed.size > 0) this.#stale = true;
    this.#endBatch();
    for (const id of this.#dispatched.keys()) {
      this.#context.calls.take(id)?.reject(error as ServiceError);
    }
    this.#dispatched.clear();
    this.#calls.lost(error, all);
    if (!all) return;
    for (const id of [...this.#waits.keys()]) {
      this.#dropWait(id);
      this.#context.calls.take(id)?.reject(error as ServiceError);
    }
  }
}

function isTaskMethod(method: MethodName): boolean {
  return method.startsWith("respondActivityTask") ||
    method.startsWith("recordActivityTaskHeartbeat");
}
