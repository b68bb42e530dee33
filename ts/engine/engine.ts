// The engine below its public face: calls enter the core's state machine at once; its writes are
// committed in batches (batch_window.ts), and replies leave after the commit that contains them. A
// failed commit evicts the runs of its batch; a panic replaces the core. Only a store that cannot
// recover (lost fence, damage) stops the engine.
import { encodeRegister } from "./attribute_register.ts";
import type { CoreEngine } from "../core/engine.ts";
import type { EngineCore } from "../core/engine_half.ts";
import {
  EngineMethod,
  type LoadRequest,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { TaskQueueType } from "../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import type { QueueVersioning } from "./pollers.ts";
import { hop } from "../platform/hop.ts";
import type { CallOptions, MethodName, ServiceError } from "../service/raw.ts";
import { type PriorityStats, readStats, withStandalone } from "./backlog.ts";
import { BatchWindow } from "./batch_window.ts";
import { BatchWork } from "./batch_work.ts";
import { Calls, instanceKeyOf } from "./calls.ts";
import type { Clock } from "./clock.ts";
import { ClosedRuns } from "./closed_runs.ts";
import { CommitRetries, type HeldBatch } from "./commit_retries.ts";
import { callPair, type RequestPair } from "./multi_operation.ts";
import {
  containedReport,
  coreOptions,
  type EmbeddedEngineOptions,
  type EngineStats,
  figuresOf,
} from "./options.ts";
import { NO_REDUCERS, type ReducerRunner, reducingOf, rowsOf } from "./reducing.ts";
import { callCanceled, closed, coreReplaced, notRecorded, stopped } from "./refusals.ts";
import { purgeOfRuns } from "./run_methods.ts";
import { Replacements } from "./replacements.ts";
import { replyTo } from "./replies.ts";
import { RunReader } from "./run_reader.ts";
import { ShownRuns } from "./shown_runs.ts";
import type { AttributeTypes, Store, StoredRun } from "./store.ts";
import { isFinalStoreError, StoreBusyError } from "./store_errors.ts";
import { refuseInTransaction } from "./tables/database.ts";
import { TaskQueueConfigs } from "./task_queue_configs.ts";
import { reportTimeouts } from "./timed_out.ts";
import { NexusCalls } from "./nexus_calls.ts";
import { messageHost } from "./transaction_messages.ts";
import { CommitTransaction, type TransactionDatabase } from "./transactions.ts";
import { parseQuery } from "./visibility/parse.ts";
import { WakeTimer } from "./wake_timer.ts";

/** Maximum runs loaded between two commits during recovery and wakes. */
const LOAD_SLICE = 64;

/** As in the core. */
const DEFAULT_MAX_PAYLOAD_BYTES = 2 * 1024 * 1024;

/** What an engine works with. */
export interface EngineParts {
  readonly core: EngineCore;
  readonly store: Store;
  readonly namespace: string;
  readonly clock: Clock;
  readonly options: EmbeddedEngineOptions;
  /** Releases what the owner opened: called once, after the last commit. */
  readonly ended: () => void;
}

/** The calls, batches and recovery of one embedded engine. */
export class Engine {
  readonly calls: Calls;
  /** Reports runs that end without their worker. */
  readonly closedRuns: ClosedRuns = new ClosedRuns();
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #parts: EngineParts;
  readonly #report: (error: Error) => void;
  #engine: CoreEngine;
  #state: "open" | "closing" | "closed" = "open";
  #stopped: Error | undefined;
  #figures: ReturnType<typeof figuresOf> = { openRuns: 0, cachedRuns: 0, queuedTasks: 0 };
  #commits = 0;
  #held: HeldBatch | undefined;
  readonly #retries = new CommitRetries((error) => this.#report(error));
  readonly #replacements = new Replacements();
  /** The core was replaced, and runs with pending work are not loaded yet. */
  #recovering = false;
  /**
   * Maximum runs loaded between two commits; 1 while searching for the run that crashes the core.
   */
  #slice = LOAD_SLICE;
  #suspect: string | undefined;
  readonly #batch = new BatchWindow(() => this.#pump());
  #pumping = false;
  readonly #reducing: ReducerRunner;
  readonly #commit: CommitTransaction;
  readonly #work: BatchWork;
  readonly #wakes: WakeTimer;
  readonly #reader: RunReader;
  readonly #nexus: NexusCalls;
  readonly #shown = new ShownRuns();
  /** Limits and weights of task queues. */
  readonly queueConfigs: TaskQueueConfigs;

  constructor(parts: EngineParts) {
    const { store, clock, options } = parts;
    this.#parts = parts;
    this.#store = store;
    this.#clock = clock;
    this.#report = containedReport(options.onError);
    this.#wakes = new WakeTimer(store, clock, (error) => this.#report(error));
    this.#reader = new RunReader(store, {
      failed: (error) => this.#report(error),
      again: (loads) => this.#loadAgain(loads),
    });
    this.calls = new Calls({
      cancel: (id) => {
        if (!this.#work.activities.cancel(id)) this.#enter((engine) => engine.cancelRequest(id));
      },
      expire: (id) => {
        if (!this.#work.activities.expire(id)) this.#enter((engine) => engine.expireRequest(id));
      },
      trouble: () => this.#retries.trouble,
      taskStats: (queue) => this.taskStats(queue),
    });
    const host = messageHost(store, this.#reader, clock, this.calls, () => this.#engine);
    this.#nexus = new NexusCalls(
      options.nexus,
      parts.namespace,
      (number, request) => this.request("respondNexusTaskCompleted", number, request, {}),
    );
    this.queueConfigs = new TaskQueueConfigs(
      store,
      () => clock.nowMs(),
      () => this.#enter((engine) => this.#setQueueConfigs(engine)),
    );
    this.#commit = new CommitTransaction(rowsOf(store));
    this.#reducing = reducingOf(store, options, this.#commit, host);
    this.#work = new BatchWork(
      {
        namespace: parts.namespace,
        store,
        host,
        calls: this.calls,
        maxPayloadBytes: options.limits?.payloadBytes || DEFAULT_MAX_PAYLOAD_BYTES,
        report: this.#report,
        remove: (runIds) => this.#remove(runIds),
      },
      this.#commit,
      options,
    );
    this.#engine = this.#create(options.remoteWorkers !== true);
  }

  #create(inFlightLost: boolean): CoreEngine {
    const { core, namespace, options } = this.#parts;
    const openRuns = this.#store.count(parseQuery("CloseTime IS NULL").where);
    const engine = core.createEngine({
      ...coreOptions(namespace, options),
      inFlightLost,
      openRuns,
    });
    const types = this.#store.attributeTypes();
    if (types !== undefined) this.#register(engine, types);
    this.#setEndpoints(engine);
    this.#setQueueConfigs(engine);
    const routing = this.#work.deployments?.routing();
    if (routing !== undefined) {
      engine.request(0, EngineMethod.ENGINE_METHOD_SET_ROUTING, routing, this.#clock.nowMs());
    }
    return engine;
  }

  #register(engine: CoreEngine, types: AttributeTypes): void {
    const method = EngineMethod.ENGINE_METHOD_SET_SEARCH_ATTRIBUTES;
    engine.request(0, method, encodeRegister(types), this.#clock.nowMs());
  }

  /** The register of search attributes has changed in the store. */
  attributesChanged(types: AttributeTypes): void {
    this.#guard(() => this.#register(this.#engine, types));
  }

  #setQueueConfigs(engine: CoreEngine): void {
    const configs = this.queueConfigs.encode();
    if (configs === undefined) return;
    const method = EngineMethod.ENGINE_METHOD_SET_TASK_QUEUE_CONFIGS;
    engine.request(0, method, configs, this.#clock.nowMs());
  }

  #setEndpoints(engine: CoreEngine): void {
    const endpoints = this.#nexus.endpoints();
    if (endpoints === undefined) return;
    const method = EngineMethod.ENGINE_METHOD_SET_NEXUS_ENDPOINTS;
    engine.request(0, method, endpoints, this.#clock.nowMs());
  }

  /** The endpoints of the host have changed. */
  endpointsChanged(): void {
    this.#guard(() => this.#setEndpoints(this.#engine));
  }

  /** Whether calls are accepted. */
  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Why calls are rejected once the engine is not open. */
  closedError(): ServiceError {
    return this.#stopped === undefined ? closed() : stopped(this.#stopped);
  }

  // ----------------------------------------------------------------------------------------- calls

  /** Passes one request to the core. Its reply follows the commit. */
  request(
    method: MethodName,
    number: EngineMethod,
    request: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array> {
    if (options.signal?.aborted) return Promise.reject(callCanceled());
    try {
      this.#work.deployments?.notePoll(method, request);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    if (method === "shutdownWorker") this.calls.endPolls(instanceKeyOf(method, request));
    return new Promise((resolve, reject) => {
      const id = this.calls.add(method, request, options, resolve, reject);
      this.#shown.note(id, options.shown);
      this.#enter((engine) => engine.request(id, number, request, this.#clock.nowMs()));
    });
  }

  /** Passes a start and an update of one workflow to the core, as one input. */
  requestPair(request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    const enter = (id: number, { start, update }: RequestPair) =>
      this.#enter((engine) => engine.requestPair(id, start, update, this.#clock.nowMs()));
    return callPair(request, options, this.calls, enter);
  }

  /** Commits earlier calls first. The calls of `work` enter together, for one commit. */
  together<T>(work: () => T): T {
    this.#pump();
    this.#pumping = true;
    try {
      return work();
    } finally {
      this.#pumping = false;
    }
  }

  /** Runs `work` in the transaction that commits the next batch; resolves after the commit. */
  transact<T>(work: (database: TransactionDatabase) => T): Promise<T> {
    if (!this.isOpen) return Promise.reject(this.closedError());
    const done = this.#work.transactions.add(work);
    this.#entered();
    return done;
  }

  /** Calls a method of the host's work (batch_work.ts); undefined: another method. */
  workOfBatch(
    method: MethodName,
    request: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array> | undefined {
    const done = this.#work.call(method, request, options);
    if (done !== undefined) this.#entered();
    return done;
  }

  /** Passes one input to the state machine, as part of the open batch. */
  #enter(input: (engine: CoreEngine) => void): void {
    if (this.#state === "closed") return;
    if (!this.#guard(() => input(this.#engine))) return;
    this.#entered();
  }

  #entered(): void {
    if (this.#batch.add()) this.#pump();
    else if (!this.#retries.isWaiting) this.#batch.closeSoon();
  }

  // ------------------------------------------------------------------------------------- one batch

  /** Commits the open batch: loads, commits, replies. Synchronous from the flush to the commit. */
  #pump(): void {
    if (this.#state === "closed" || this.#pumping || this.#retries.isWaiting) return;
    this.#pumping = true;
    try {
      this.#batch.taken();
      if (!this.#guard(() => this.#commitBatch())) return;
      this.#arm();
    } finally {
      this.#pumping = false;
    }
  }

  #commitBatch(): void {
    if (this.#held === undefined) {
      const failed = this.#work.run();
      if (failed !== undefined) return this.#commitFailed(undefined, failed);
    }
    let { flush, shown } = this.#held ?? { flush: this.#engine.flush(), shown: undefined };
    this.#held = undefined;
    while (flush.loads.length > 0 || flush.transacts.length > 0) {
      for (const load of flush.loads) {
        this.#engine.load(this.#reader.read(load), this.#clock.nowMs());
      }
      if (flush.transacts.length > 0) {
        const failed = this.#reducing.run(flush.transacts, this.#engine);
        if (failed !== undefined) {
          return this.#commitFailed({ flush: { ...flush, loads: [] }, shown }, failed);
        }
      }
      flush = this.#engine.flush();
    }
    this.#wakes.inMemoryMs = this.#work.nextWakeMs(flush.nextWakeMs);
    this.#figures = figuresOf(flush);
    try {
      shown ??= this.#shown.taken(flush.replies);
      const writes = flush.writes.length > 0 || this.#work.mustCommit;
      if (writes) {
        this.#store.commit(flush.writes, shown, ...this.#work.writes);
        this.#commits++;
        this.#retries.committed();
      }
      this.#commit.ended(writes);
    } catch (e) {
      return this.#commitFailed({ flush, shown }, e as Error);
    }
    this.#engine.committed();
    this.closedRuns.committed(flush.writes);
    this.#nexus.committed(flush.nexusCalls);
    if (this.#work.committed(flush.writes)) this.#entered();
    reportTimeouts(flush.timedOut, this.#parts.options, this.#clock.nowMs());
    for (const reply of flush.replies) {
      replyTo(this.calls.take(reply.requestId), reply, this.#store);
    }
    this.#work.replied();
  }

  /** Without a batch, the store failed before the core was flushed. */
  #commitFailed(batch: HeldBatch | undefined, e: Error): void {
    // Rows that were rolled back are not written again by a later commit of the batch.
    const rows = this.#commit.ended(false);
    const mustDrop = rows || (batch === undefined && this.#work.isPartial);
    if (
      !mustDrop && e instanceof StoreBusyError && this.#state === "open" &&
      this.#retries.locked(e, () => this.#again())
    ) {
      this.#held = batch;
      return;
    }
    this.#work.lost(notRecorded(e), batch === undefined);
    const { replies = [], transacts = [] } = batch?.flush ?? {};
    for (const { requestId } of [...replies, ...transacts]) {
      this.calls.take(requestId)?.reject(notRecorded(e));
    }
    if (isFinalStoreError(e)) return this.#stop(e);
    this.#engine.aborted();
    this.#storeFailed(e);
  }

  /** The store failed, perhaps temporarily: it is not used during the pause. */
  #storeFailed(e: Error): void {
    if (isFinalStoreError(e)) return this.#stop(e);
    this.#report(e);
    this.#retries.failed(e, () => this.#again());
  }

  /** After a pause: the held batch first, then later calls. */
  #again(): void {
    if (this.#held !== undefined) this.#pump();
    if (this.#retries.isWaiting) return;
    if (this.#recovering) this.recover();
    else this.#pump();
  }

  #loadAgain(loads: readonly LoadRequest[]): void {
    if (
      this.#guard(() =>
        loads.forEach((each) => this.#engine.load(this.#reader.read(each), this.#clock.nowMs()))
      )
    ) this.#pump();
  }

  #arm(): void {
    if (this.#state !== "closed") this.#wakes.arm(() => this.#wake());
  }

  // ------------------------------------------------------------------------------ loads and wakes

  /** Fires what is due, first in memory, then in the runs that are only in the store. */
  #wake(): void {
    if (this.#state === "closed") return;
    this.#wakes.woke();
    if (!this.#guard(() => this.#engine.tick(this.#clock.nowMs()))) return;
    this.#pump();
    this.#loadAll((after) => this.#store.due(this.#clock.nowMs(), this.#slice, after));
  }

  /** Loads the runs that `next` returns, slice by slice; each slice is a separate batch. */
  #loadAll(next: (after: StoredRun["position"] | undefined) => StoredRun[]): void {
    const engine = this.#engine;
    let after: StoredRun["position"] | undefined;
    while (this.#state !== "closed" && !this.#retries.isWaiting && this.#engine === engine) {
      let runs: StoredRun[];
      try {
        runs = next(after);
      } catch (e) {
        return this.#storeFailed(e as Error);
      }
      if (runs.length === 0) return;
      after = runs[runs.length - 1]!.position;
      const wanted = runs.filter((run) => !this.#reader.isQuarantined(run.runId));
      this.#suspect = this.#slice === 1 ? wanted[0]?.runId : undefined;
      const loaded = this.#guard(() => {
        for (const run of wanted) engine.load(this.#reader.read(run), this.#clock.nowMs());
        engine.tick(this.#clock.nowMs());
      });
      if (loaded) this.#pump();
      this.#suspect = undefined;
    }
  }

  // -------------------------------------------------------------------------- failures of the core

  /** Runs `work` in the core. If the core fails, replaces it and returns false. */
  #guard(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (e) {
      this.#replace(e as Error);
      return false;
    }
  }

  /**
   * Replaces the core. Only the open batch is lost, and its callers are rejected; the rest is
   * stored.
   */
  #replace(e: Error): void {
    this.#commit.ended(false);
    this.#work.lost(coreReplaced(e), false);
    this.#held = undefined;
    this.#report(e);
    if (this.#suspect !== undefined) {
      this.#reader.quarantine(
        this.#suspect,
        `run ${this.#suspect} crashes the engine core (${e.message}); the run is quarantined until restart`,
      );
    }
    this.calls.rejectAll(coreReplaced(e));
    if (!this.#replacements.mayReplace()) return this.#stop(e);
    try {
      this.#engine.dispose();
      this.#engine = this.#create(false);
    } catch (again) {
      return this.#stop(again as Error);
    }
    this.#slice = 1;
    if (this.#recovering) return;
    this.#recovering = true;
    void hop().then(() => this.recover());
  }

  /**
   * Loads every run with pending work; one by one after the core has failed, to find the culprit.
   */
  recover(): void {
    this.#recovering = true;
    let engine: CoreEngine;
    do {
      engine = this.#engine;
      this.#loadAll((after) => this.#store.ready(this.#slice, after));
      this.#wake();
    } while (this.#state !== "closed" && this.#engine !== engine);
    // The store failed during recovery; its retry continues here.
    if (this.#retries.isWaiting) return;
    this.#recovering = false;
    this.#slice = LOAD_SLICE;
    this.#arm();
  }

  // --------------------------------------------------------------------------------------- the end

  /** Why the engine stopped by itself; undefined while it runs and after `close`. */
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
    this.#retries.cancel();
    this.#wakes.cancel();
    this.#reader.close();
    this.calls.rejectAll(this.closedError());
    this.#work.lost(this.closedError(), true);
    this.calls.close();
    this.#engine.dispose();
    this.#parts.ended();
  }

  /** Rejects new calls, and commits earlier ones. */
  close(): void {
    if (!this.isOpen) return;
    refuseInTransaction(this.#commit.isRunning, "close");
    this.#state = "closing";
    this.#retries.cancel();
    if (this.#held !== undefined) this.#pump();
    this.#pump();
    // The last commit may have found that the store is lost.
    if (this.#stopped === undefined) this.#end();
  }

  // --------------------------------------------------------------------------------------- figures

  /** Whether workflows may use `transact`. */
  get runsReducers(): boolean {
    return this.#reducing !== NO_REDUCERS;
  }

  /** Returns the current figures. */
  stats(): EngineStats {
    const nextWake = this.#state === "closed" ? Infinity : this.#wakes.nextMs();
    return {
      ...this.#figures,
      queuedTasks: this.#figures.queuedTasks + this.#work.activities.queuedTasks,
      waitingCalls: this.calls.size,
      commits: this.#commits,
      nextWakeMs: nextWake === Infinity ? 0 : nextWake,
    };
  }

  /** Returns what waits in a task queue, by side and priority. */
  taskStats(queue: string): PriorityStats[] {
    if (this.#state === "closed") return [];
    const stats = readStats(this.#engine.backlog(queue, this.#clock.nowMs()));
    return withStandalone(stats, this.#work.activities.backlog(queue));
  }

  /** Returns the versions of a task queue; undefined: its workers have none. */
  versioningOf(queue: string, type: TaskQueueType): QueueVersioning | undefined {
    return this.#work.deployments?.versioningOf(queue, type);
  }

  /** True while calls have entered whose batch is not committed yet. */
  get busy(): boolean {
    return this.#batch.isClosing || this.#retries.isWaiting;
  }

  /** Removes closed runs, after a commit. A locked store keeps them; the caller tries again. */
  #remove(runIds: readonly string[]): void {
    try {
      this.forget(this.#store.purge(purgeOfRuns(runIds)));
    } catch (e) {
      if (!(e instanceof StoreBusyError)) this.#storeFailed(e as Error);
    }
  }

  /** Drops what the core keeps of runs that the store no longer has. */
  forget(runIds: readonly string[]): void {
    this.#guard(() => runIds.forEach((runId) => this.#engine.forget(runId)));
  }
}
