// The host of the embedded engine: a RawService in this process. Calls enter the core's state machine at once; what it changed is
// committed in batches, and replies leave after the commit that contains them, never before. A batch closes when no call came for one
// hop of the event loop, or after MAX_BATCH_MS or MAX_BATCH_CALLS, so a lone caller pays one commit and a busy engine shares it.
// What fails is contained: a failed commit drops the runs of its batch from memory, a panic of the core replaces the core, and both
// are told to the callers concerned. Only a store that can never serve again (lost fence, damage) stops the engine.
import type { CoreEngine } from "../core/engine.ts";
import { type EngineCore, loadEngineCore } from "../core/engine_half.ts";
import type {
  EngineOptions,
  Flush,
  LoadRequest,
  Reply,
  RunRecord,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { hop } from "../platform/hop.ts";
import { type CallOptions, type Code, type MethodName, type RawService, ServiceError } from "../service/raw.ts";
import { Calls, instanceKeyOf } from "./calls.ts";
import type { Clock } from "./clock.ts";
import { RealClock } from "./clock.ts";
import { appendHistory } from "./history_bytes.ts";
import { type HostMethod, hostMethods } from "./host_methods.ts";
import type { EngineMethod, TimedOutAttempt } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { ENGINE_METHODS } from "./methods.ts";
import type { Backlog, EmbeddedEngineOptions, EngineLimits, EngineStats } from "./options.ts";
import { cancelled, closed, coreReplaced, notFound, notRecorded, stopped, storeFailed, unimplemented } from "./refusals.ts";
import { pairError, pairResponse, takePair } from "./multi_operation.ts";
import { type HeldRun, HeldRuns, type RunName } from "../crash_notes/held_runs.ts";
import { RunningTasks } from "../crash_notes/running_tasks.ts";
import { noteText, realPath, workNote } from "../crash_notes/note_files.ts";
import { describedHeld, heldPath, queriedHeld, refuseHeld, refuseOthers, workPath } from "./held_status.ts";
import { activityTimeout } from "./timed_out.ts";
import { openStore } from "./short_lived_open.ts";
import type { PurgeOptions, Store, StoredRun } from "./store.ts";
import { isFinalStoreError } from "./store_errors.ts";
import { parseQuery } from "./visibility/parse.ts";

const MAX_BATCH_CALLS = 256;
const MAX_BATCH_MS = 2;
/** Runs that are loaded between two commits while many wait (start, wakes). */
const LOAD_SLICE = 64;
/** After a failed commit the next one waits, longer each time, so that a full disk is not a busy loop. */
const RETRY_MS = [10, 50, 200, 1000];
const PURGE_SLICE = 100;
/** A run that could not be read is tried again after this, then ever later. */
const MIN_REREAD_MS = 100;
const MAX_REREAD_MS = 60_000;
/** A run that the store calls due but that does not move is looked at again after this. */
const STUCK_MS = 1000;
/** A core that fails more often than this, each time within a REPLACEMENT_MS of the last, is not replaced again. */
const MAX_REPLACEMENTS = 100;
const REPLACEMENT_MS = 10_000;

/**
 * Durable workflows in this process, with no server: a {@link RawService} for clients and workers over a store.
 *
 * @example
 * const engine = await EmbeddedEngine.open({ path: "app.sqlite" });
 * const client = new Client({ service: engine, taskQueue: "main" });
 */
export class EmbeddedEngine implements RawService {
  /** The one namespace that it serves. */
  readonly namespace: string;
  /** Where it keeps everything. Reading it is safe at any time; writing is the engine's alone. */
  readonly store: Store;
  /** Where it has its time from. */
  readonly clock: Clock;
  readonly #core: EngineCore;
  readonly #ownsStore: boolean;
  readonly #limits: EngineLimits;
  readonly #onError: (error: Error) => void;
  readonly #local: { readonly [name in MethodName]?: HostMethod };
  readonly #calls: Calls;
  /** Runs whose state makes the core fail: they are left alone, and calls for them are refused. */
  readonly #quarantined = new Map<string, string>();
  #engine: CoreEngine;
  #state: "open" | "closing" | "closed" = "open";
  #stopped: Error | undefined;
  #openRuns = 0;
  #cachedRuns = 0;
  #queuedTasks = 0;
  #commits = 0;
  #engineWakeMs = 0;
  #wokeMs = -Infinity;
  #failures = 0;
  /** The last failure of the store, until a commit succeeds. */
  #trouble: Error | undefined;
  #replacements = 0;
  #replacedAt = 0;
  /** The core was replaced, and runs that need it are not loaded yet. */
  #recovering = false;
  /** Runs that the store failed to read; they may have something to do. */
  readonly #unread = new Map<string, LoadRequest>();
  #unreadTimer: unknown;
  #unreadMs = MIN_REREAD_MS;
  /** How many runs are loaded between two commits; 1 while it is sought which run makes the core fail. */
  #slice = LOAD_SLICE;
  #suspect: string | undefined;
  // The open batch.
  #batchCalls = 0;
  #batchSeen = 0;
  #batchSince = 0;
  #hopping = false;
  #pumping = false;
  #retry: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;
  #timerAt = Infinity;

  readonly #onActivityTimeout: EmbeddedEngineOptions["onActivityTimeout"];
  readonly #remoteWorkers: boolean;
  readonly #held: HeldRuns | undefined;
  readonly #path: string | undefined;
  #running: RunningTasks | undefined;

  /** Opens the store, recovers what was going on, and answers calls. */
  static async open(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
    if ((options.path === undefined) === (options.store === undefined)) {
      throw new TypeError("an engine needs either a path (of its SQLite file) or a store (new MemoryStore() for tests)");
    }
    const core = options.core ?? await loadEngineCore();
    const { path, synchronous, driver, visit } = options;
    const store = options.store ?? await openStore(path!, {
      ...(synchronous !== undefined && { synchronous }),
      ...(driver !== undefined && { driver }),
      ...(visit !== undefined && { visit }),
    });
    try {
      const engine = new EmbeddedEngine(core, store, options);
      engine.#recover();
      if (engine.failure !== undefined) throw engine.failure;
      return engine;
    } catch (e) {
      if (options.store === undefined) store.close();
      throw e;
    }
  }

  private constructor(core: EngineCore, store: Store, options: EmbeddedEngineOptions) {
    this.namespace = options.namespace ?? "default";
    this.store = store;
    this.clock = options.clock ?? new RealClock();
    this.#core = core;
    this.#ownsStore = options.store === undefined;
    this.#limits = options.limits ?? {};
    this.#path = options.path === undefined ? undefined : realPath(options.path);
    if (this.#path !== undefined) refuseOthers(this.#path);
    const held = this.#path === undefined ? undefined : noteText(heldPath(this.#path));
    this.#held = held && new HeldRuns(held);
    this.#onError = options.onError ?? ((error) => console.error(error));
    this.#local = hostMethods({
      store,
      namespace: this.namespace,
      version: core.info().version,
      held: (runId) => this.#held?.get(runId),
      call: (method, request) => this.call(method, request),
      forget: (runId) => void this.#guard(() => this.#engine.forget(runId)),
    });
    this.#calls = new Calls({
      cancel: (id) => this.#enter((engine) => engine.cancelRequest(id)),
      expire: (id) => this.#enter((engine) => engine.expireRequest(id)),
      trouble: () => this.#trouble,
    });
    this.#onActivityTimeout = options.onActivityTimeout;
    this.#remoteWorkers = options.remoteWorkers === true;
    this.#engine = this.#create(options.remoteWorkers !== true);
  }

  #create(inFlightLost: boolean): CoreEngine {
    const limits = this.#limits;
    const options: Partial<EngineOptions> = {
      namespace: this.namespace,
      seed: crypto.getRandomValues(new Uint8Array(32)),
      inFlightLost,
      openRuns: this.store.count(parseQuery("CloseTime IS NULL").where),
      maxOpenRuns: limits.openRuns ?? 0,
      maxInbox: limits.inbox ?? 0,
      maxUpdatesInFlight: limits.updatesInFlight ?? 0,
      maxUpdates: limits.updates ?? 0,
      maxCachedRuns: limits.cachedRuns ?? 0,
      maxPayloadBytes: limits.payloadBytes ?? 0,
      suggestContinueAsNewEvents: limits.suggestContinueAsNewEvents ?? 0,
      suggestContinueAsNewBytes: limits.suggestContinueAsNewBytes ?? 0,
      suggestContinueAsNewUpdates: limits.suggestContinueAsNewUpdates ?? 0,
      maxHistoryEvents: limits.historyEvents ?? 0,
    };
    return this.#core.createEngine(options);
  }

  // ---------------------------------------------------------------------------------------------------------------- calls

  /** Answers a method of WorkflowService. Everything that it acknowledges is in the store. */
  call(method: MethodName, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    if (this.#state !== "open") return Promise.reject(this.#closedError());
    const local = this.#local[method];
    if (local !== undefined) return this.#answer(local, request);
    if (method === "executeMultiOperation") return this.#updateWithStart(request, options);
    const number = ENGINE_METHODS[method];
    if (number === undefined) return Promise.reject(unimplemented(method));
    if (method === "describeWorkflowExecution" && this.heldRuns().length > 0) return this.#described(number, request, options);
    if (method === "queryWorkflow" && this.heldRuns().length > 0) return this.#queried(number, request, options);
    return this.#ask(method, number, request, options);
  }

  async #queried(number: EngineMethod, request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    const describes = queriedHeld(request, this.heldRuns());
    if (describes !== undefined) {
      const describe = "describeWorkflowExecution";
      refuseHeld(await this.#ask(describe, ENGINE_METHODS[describe]!, describes, options), (runId) => this.#held?.get(runId));
    }
    return await this.#ask("queryWorkflow", number, request, options);
  }

  #described(number: EngineMethod, request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    return this.#ask("describeWorkflowExecution", number, request, options).then((response) =>
      describedHeld(response, (runId) => this.#held?.get(runId))
    );
  }

  #ask(method: MethodName, number: EngineMethod, request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    if (options.signal?.aborted) return Promise.reject(cancelled());
    if (method === "shutdownWorker") this.#calls.endPolls(instanceKeyOf(method, request));
    return new Promise((resolve, reject) => {
      const id = this.#calls.add(method, request, options, resolve, reject);
      this.#enter((engine) => engine.request(id, number, request, this.clock.nowMs()));
    });
  }

  async #updateWithStart(request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    const { start, update } = takePair(request);
    if (options.signal?.aborted) throw cancelled();
    const answer = new Promise<Uint8Array>((resolve, reject) => {
      const id = this.#calls.add("executeMultiOperation", request, options, resolve, (error) => reject(pairError(error)));
      this.#enter((engine) => engine.requestPair(id, start, update, this.clock.nowMs()));
    });
    return pairResponse(await answer);
  }

  async #answer(method: HostMethod, request: Uint8Array): Promise<Uint8Array> {
    try {
      return await method(request);
    } catch (e) {
      throw e instanceof ServiceError ? e : storeFailed(e as Error);
    }
  }

  #closedError(): ServiceError {
    return this.#stopped === undefined ? closed() : stopped(this.#stopped);
  }

  /** One input of the state machine; it belongs to the open batch. */
  #enter(input: (engine: CoreEngine) => void): void {
    if (this.#state === "closed") return;
    if (!this.#guard(() => input(this.#engine))) return;
    this.#batchCalls++;
    if (this.#batchCalls >= MAX_BATCH_CALLS) this.#pump();
    else this.#schedule();
  }

  #schedule(): void {
    if (this.#hopping || this.#retry !== undefined) return;
    this.#hopping = true;
    this.#batchSeen = -1;
    this.#batchSince = performance.now();
    void hop().then(this.#afterHop);
  }

  /** Calls that came during the last hop are likely to be followed by more. */
  readonly #afterHop = (): void => {
    const more = this.#batchCalls > 0 && this.#batchCalls !== this.#batchSeen;
    if (more && performance.now() - this.#batchSince < MAX_BATCH_MS) {
      this.#batchSeen = this.#batchCalls;
      void hop().then(this.#afterHop);
      return;
    }
    this.#hopping = false;
    this.#pump();
  };

  // ------------------------------------------------------------------------------------------------------- one batch

  /** Closes the open batch: loads, commits, replies. Synchronous from the flush to the commit, so nothing comes between. */
  #pump(): void {
    if (this.#state === "closed" || this.#pumping || this.#retry !== undefined) return;
    this.#pumping = true;
    try {
      this.#batchCalls = 0;
      this.#batchSeen = 0;
      if (!this.#guard(() => this.#commitBatch())) return;
      this.#arm();
    } finally {
      this.#pumping = false;
    }
  }

  #commitBatch(): void {
    let flush = this.#engine.flush();
    while (flush.loads.length > 0) {
      for (const load of flush.loads) this.#engine.load(this.#read(load), this.clock.nowMs());
      flush = this.#engine.flush();
    }
    this.#engineWakeMs = flush.nextWakeMs;
    this.#openRuns = flush.openRuns;
    this.#cachedRuns = flush.cachedRuns;
    this.#queuedTasks = flush.queuedTasks;
    try {
      if (flush.writes.length > 0) this.store.commit(flush.writes);
    } catch (e) {
      return this.#commitFailed(flush, e as Error);
    }
    if (flush.writes.length > 0) {
      this.#commits++;
      this.#failures = 0;
      this.#trouble = undefined;
    }
    this.#engine.committed();
    if (flush.timedOut.length > 0) this.#tellTimeouts(flush.timedOut);
    for (const reply of flush.replies) this.#reply(reply);
  }

  /** What a worker of this process had, that worker logs. */
  #tellTimeouts(attempts: readonly TimedOutAttempt[]): void {
    if (this.#onActivityTimeout === undefined) return;
    for (const attempt of attempts) {
      if (attempt.started && !this.#remoteWorkers) continue;
      try {
        this.#onActivityTimeout(activityTimeout(attempt, this.clock.nowMs()));
      } catch {
        // As with onError.
      }
    }
  }

  #commitFailed(flush: Flush, e: Error): void {
    for (const { requestId } of flush.replies) {
      this.#calls.take(requestId)?.reject(notRecorded(e));
    }
    if (isFinalStoreError(e)) return this.#stop(e);
    this.#engine.aborted();
    this.#storeFailed(e);
  }

  /** The store failed, perhaps for a moment: nothing is asked of it for a while. */
  #storeFailed(e: Error): void {
    if (isFinalStoreError(e)) return this.#stop(e);
    this.#report(e);
    this.#trouble = e;
    const delay = RETRY_MS[Math.min(this.#failures++, RETRY_MS.length - 1)]!;
    const timer = setTimeout(() => {
      this.#retry = undefined;
      if (this.#recovering) this.#recover();
      else this.#pump();
    }, delay);
    this.#retry = () => clearTimeout(timer);
  }

  #report(e: Error): void {
    try {
      this.#onError(e);
    } catch {
      // A listener that fails must not be taken for a failure of the core.
    }
  }

  #reply(reply: Reply): void {
    const call = this.#calls.take(reply.requestId);
    if (call === undefined) return;
    const { error, history } = reply;
    if (error !== undefined) {
      const failure = error.detail.length > 0 ? error.detail : undefined;
      return call.reject(new ServiceError(error.code as Code, error.message, error.reason, error.metadata, { failure }));
    }
    if (history === undefined) return call.resolve(reply.body);
    try {
      const { workflowId, runId, fromEventId, toEventId, fieldNumber, tail } = history;
      const parts = fromEventId === 0 ? [] : this.store.historyRange(workflowId, runId, fromEventId, toEventId);
      call.resolve(appendHistory(reply.body, fieldNumber, [...parts, tail]));
    } catch (e) {
      call.reject(this.#purged(history.workflowId, history.runId) ? notFound(history.workflowId) : storeFailed(e as Error));
    }
  }

  #purged(workflowId: string, runId: string): boolean {
    try {
      return this.store.load(workflowId, runId) === undefined;
    } catch {
      return false;
    }
  }

  #read({ workflowId, runId }: LoadRequest): RunRecord {
    const record = {
      askedWorkflowId: workflowId,
      askedRunId: runId,
      found: false,
      head: new Uint8Array(0),
      items: [],
      unavailable: "",
    };
    try {
      const found = this.store.load(workflowId, runId === "" ? undefined : runId);
      const reason = found === undefined ? undefined : this.#quarantined.get(found.row!.runId);
      if (reason !== undefined) return { ...record, unavailable: reason };
      return found ?? record;
    } catch (e) {
      this.#report(e as Error);
      if (!isFinalStoreError(e)) this.#readLater({ workflowId, runId });
      return { ...record, unavailable: `the store could not read workflow ${workflowId}: ${(e as Error).message}` };
    }
  }

  #readLater(load: LoadRequest): void {
    this.#unread.set(`${load.runId} ${load.workflowId}`, load);
    this.#unreadTimer ??= setTimeout(() => {
      this.#unreadTimer = undefined;
      const loads = [...this.#unread.values()];
      this.#unread.clear();
      const loaded = this.#guard(() => {
        for (const each of loads) this.#engine.load(this.#read(each), this.clock.nowMs());
      });
      if (loaded) this.#pump();
      this.#unreadMs = this.#unread.size === 0 ? MIN_REREAD_MS : Math.min(this.#unreadMs * 2, MAX_REREAD_MS);
    }, this.#unreadMs);
  }

  // ------------------------------------------------------------------------------------------------------------- time

  /** Sets the clock for the next moment at which the engine acts by itself. An earlier timer that is set already stays: it looks again. */
  #arm(): void {
    if (this.#state === "closed") return;
    const next = this.#nextWake();
    if (next === Infinity) return;
    if (this.#timerAt <= next) return;
    this.#cancelTimer?.();
    this.#timerAt = next;
    this.#cancelTimer = this.clock.setTimer(next, () => {
      this.#timerAt = Infinity;
      this.#cancelTimer = undefined;
      this.#wake();
    });
  }

  #nextWake(): number {
    const now = this.clock.nowMs();
    let stored = now;
    try {
      stored = this.store.nextWake();
    } catch (e) {
      this.#report(e as Error);
    }
    // What the store calls due although the wake has dealt with it does not move: looked at again later.
    const wakes = [this.#engineWakeMs, stored > 0 && stored <= now ? now + STUCK_MS : stored];
    const next = Math.min(...wakes.map((wake) => (wake > 0 ? wake : Infinity)));
    // Nothing is left to do at the moment of the last wake.
    return next <= this.#wokeMs ? this.#wokeMs + 1 : next;
  }

  /** Fires what is due, in memory first, then in the runs that only the store has. */
  #wake(): void {
    if (this.#state === "closed") return;
    this.#wokeMs = this.clock.nowMs();
    if (!this.#guard(() => this.#engine.tick(this.clock.nowMs()))) return;
    this.#pump();
    this.#loadAll((after) => this.store.due(this.clock.nowMs(), this.#slice, after));
  }

  /** Loads the runs that `next` answers, slice by slice, each slice in a batch of its own. */
  #loadAll(next: (after: StoredRun["position"] | undefined) => StoredRun[]): void {
    const engine = this.#engine;
    let after: StoredRun["position"] | undefined;
    while (this.#state !== "closed" && this.#retry === undefined && this.#engine === engine) {
      let runs: StoredRun[];
      try {
        runs = next(after);
      } catch (e) {
        return this.#storeFailed(e as Error);
      }
      if (runs.length === 0) return;
      after = runs[runs.length - 1]!.position;
      const wanted = runs.filter((run) => !this.#quarantined.has(run.runId));
      this.#suspect = this.#slice === 1 ? wanted[0]?.runId : undefined;
      const loaded = this.#guard(() => {
        for (const run of wanted) engine.load(this.#read(run), this.clock.nowMs());
        engine.tick(this.clock.nowMs());
      });
      if (loaded) this.#pump();
      this.#suspect = undefined;
    }
  }

  // --------------------------------------------------------------------------------------------- failures of the core

  /** Runs something in the core. When the core fails, it is replaced, and the answer is false. */
  #guard(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (e) {
      this.#replace(e as Error);
      return false;
    }
  }

  /** What the old core had in memory is in the store, but for the open batch: its callers are told. */
  #replace(e: Error): void {
    this.#report(e);
    if (this.#suspect !== undefined) {
      this.#quarantined.set(
        this.#suspect,
        `the state of run ${this.#suspect} makes the engine's core fail (${e.message}); the run is left alone until a restart`,
      );
    }
    this.#calls.rejectAll(coreReplaced(e));
    const now = performance.now();
    this.#replacements = now - this.#replacedAt > REPLACEMENT_MS ? 1 : this.#replacements + 1;
    this.#replacedAt = now;
    if (this.#replacements > MAX_REPLACEMENTS) return this.#stop(e);
    try {
      this.#engine.dispose();
      this.#engine = this.#create(false);
    } catch (again) {
      return this.#stop(again as Error);
    }
    this.#slice = 1;
    if (this.#recovering) return;
    this.#recovering = true;
    void hop().then(() => this.#recover());
  }

  /** Loads every run that has something to do. One by one after the core has failed, so that the run that does it is found. */
  #recover(): void {
    this.#recovering = true;
    let engine: CoreEngine;
    do {
      engine = this.#engine;
      this.#loadAll((after) => this.store.ready(this.#slice, after));
      this.#wake();
    } while (this.#state !== "closed" && this.#engine !== engine);
    // The store failed in between: its retry goes on here.
    if (this.#retry !== undefined) return;
    this.#recovering = false;
    this.#slice = LOAD_SLICE;
    this.#arm();
  }

  // ------------------------------------------------------------------------------------------------------------- the end

  /** Why the engine stopped by itself: its store can never serve again. Undefined while it runs and after `close`. */
  get failure(): Error | undefined {
    return this.#stopped;
  }

  #stop(e: Error): void {
    this.#stopped = e;
    this.#end();
    this.#report(e);
  }

  #end(): void {
    this.#state = "closed";
    this.#retry?.();
    this.#cancelTimer?.();
    clearTimeout(this.#unreadTimer as number | undefined);
    this.#calls.rejectAll(this.#closedError());
    this.#calls.close();
    this.#engine.dispose();
    this.#running?.close();
    if (this.#ownsStore) this.store.close();
  }

  /**
   * Refuses new calls, commits what was entered, and closes the store that it opened. Waiting calls are refused with UNAVAILABLE; tasks
   * that workers still hold are given again after the next opening. Close workers first.
   */
  async close(): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.#retry?.();
    this.#retry = undefined;
    this.#pump();
    // The last commit may have found that the store is lost.
    if (this.#stopped === undefined) this.#end();
  }

  /** As `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // ------------------------------------------------------------------------------------------------------- held runs

  /** @internal What notes the runs in work, for the workers of this process; made when the first of them asks. */
  runningTasks(): RunningTasks | undefined {
    if (this.#path === undefined || this.#state !== "open") return undefined;
    const work = this.#running === undefined ? workNote(workPath(this.#path)) : undefined;
    if (work !== undefined) {
      const isOpen = ({ workflowId, runId }: RunName) => this.#isOpen(workflowId, runId);
      this.#running = new RunningTasks({ work, held: this.#held, isOpen });
    }
    return this.#running;
  }

  #isOpen(workflowId: string, runId: string): boolean {
    try {
      const row = this.store.load(workflowId, runId)?.row;
      return row !== undefined && row.closeTimeMs === 0;
    } catch {
      return true;
    }
  }

  /** Runs whose workflow tasks wait, because the process died while they were running, twice in a row. */
  heldRuns(): readonly HeldRun[] {
    return this.#held?.list() ?? [];
  }

  /** Lets the held run of a workflow go on; answers which were released. Of many, some get their task minutes later. */
  release(workflowId: string, runId?: string): readonly HeldRun[] {
    return this.#held?.release(workflowId, runId) ?? [];
  }

  // ------------------------------------------------------------------------------------------------------- maintenance

  /** What it holds at this moment. */
  stats(): EngineStats {
    const nextWake = this.#state === "closed" ? Infinity : this.#nextWake();
    return {
      openRuns: this.#openRuns,
      cachedRuns: this.#cachedRuns,
      queuedTasks: this.#queuedTasks,
      waitingCalls: this.#calls.size,
      commits: this.#commits,
      nextWakeMs: nextWake === Infinity ? 0 : nextWake,
    };
  }

  /** What waits for workers in a task queue: how many tasks, and for how long the oldest of them has waited. */
  backlog(queue: string): { readonly workflow: Backlog; readonly activity: Backlog } {
    const [workflow = 0, workflowMs = 0, activity = 0, activityMs = 0] = this.#state === "closed"
      ? []
      : this.#engine.backlog(queue, this.clock.nowMs());
    return { workflow: { tasks: workflow, oldestMs: workflowMs }, activity: { tasks: activity, oldestMs: activityMs } };
  }

  /** True while calls have entered whose batch is not committed yet. */
  get busy(): boolean {
    return this.#hopping || this.#retry !== undefined;
  }

  /** Copies the store to a new file. The engine stands still meanwhile (about a second per gigabyte). */
  backup(path: string): void {
    this.store.backup(path);
  }

  /** Removes closed runs with their histories, in slices between which the engine goes on. Answers how many. */
  async purge(options: PurgeOptions): Promise<number> {
    const limit = options.limit ?? Infinity;
    let purged = 0;
    while (this.#state === "open") {
      const runIds = this.store.purge({ ...options, limit: Math.min(PURGE_SLICE, limit - purged) });
      if (runIds.length === 0) break;
      purged += runIds.length;
      this.#guard(() => runIds.forEach((runId) => this.#engine.forget(runId)));
      await hop();
    }
    return purged;
  }
}
