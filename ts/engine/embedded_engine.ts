// The public face of the embedded engine: a RawService in this process. It serves what needs no
// state machine from the store (host_methods.ts) and passes the rest to engine.ts.
import {
  addAttributes,
  attributeTypeOf,
  removeAttributes,
  type SearchAttributeTypeName,
} from "./attribute_register.ts";
import { checkEngineOptions } from "./option_kinds.ts";
import { type EngineCore, loadEngineCore } from "../core/engine_half.ts";
import { callForWorkflow } from "./activities/of_workflows.ts";
import { EngineMethod } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { CallOptions, MethodName, RawService } from "../service/raw.ts";
import { type Clock, RealClock } from "./clock.ts";
import { backlogOf } from "./backlog.ts";
import { broadcastToRuns, isBroadcast } from "./broadcast.ts";
import type { ClosedRuns } from "./closed_runs.ts";
import { Engine } from "./engine.ts";
import { type CallOther, functionsOf } from "./functions.ts";
import { answered, type HostMethod, hostMethods, namespaceCheck } from "./host_methods.ts";
import { fireTimerRequest } from "./manual_timers.ts";
import { ENGINE_METHODS } from "./methods.ts";
import type { EmbeddedEngineOptions, EngineStats } from "./options.ts";
import { unimplemented } from "./refusals.ts";
import type { HeldRun } from "../crash_notes/held_runs.ts";
import type { RunningTasks } from "../crash_notes/running_tasks.ts";
import { Holding } from "./holding.ts";
import { sqlOf, tablesOf } from "./reducing.ts";
import { purgeInSlices } from "./purging.ts";
import { storeOf } from "./short_lived_open.ts";
import type { AttributeTypes, PurgeOptions, Store } from "./store.ts";
import type { Database, SqlRow, SqlValue } from "./tables/database.ts";
import type { TransactionDatabase } from "./transactions.ts";
import { WorkerList } from "./workers/worker_list.ts";

/**
 * Durable workflows in this process, with no server: a {@link RawService} for clients and workers
 * over a store.
 *
 * @example
 * const engine = await EmbeddedEngine.open({ path: "app.sqlite" });
 * const client = new Client({ service: engine, taskQueue: "main" });
 */
export class EmbeddedEngine implements RawService {
  /** The only namespace of the engine. */
  readonly namespace: string;
  /** The store. Reading it is always safe; only the engine may write. */
  readonly store: Store;
  /** The source of time. */
  readonly clock: Clock;
  /** @internal The store's tables include what workflows show of their state. */
  readonly showsRuns = true;
  /** @internal Runs a function of the application (service/functions.ts). */
  readonly callOther: CallOther;
  readonly #options: EmbeddedEngineOptions;
  readonly #engine: Engine;
  readonly #holding: Holding;
  readonly #workers: WorkerList;
  /** Methods that read the store and need no state machine. */
  readonly #local: { readonly [name in MethodName]?: HostMethod };

  /** Opens the store, recovers open runs, and accepts calls. */
  static async open(options: EmbeddedEngineOptions = {}): Promise<EmbeddedEngine> {
    checkEngineOptions(options);
    const core = options.core ?? await loadEngineCore();
    const store = await storeOf(options);
    try {
      const engine = new EmbeddedEngine(core, store, options);
      engine.#engine.recover();
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
    this.#options = options;
    this.#holding = new Holding(store, options.path);
    this.#workers = new WorkerList(() => this.clock.nowMs());
    this.callOther = functionsOf(options, this.namespace, (work) => this.transact(work));
    this.#engine = new Engine({
      core,
      store,
      namespace: this.namespace,
      clock: this.clock,
      options,
      ended: () => {
        this.#holding.close();
        if (options.store === undefined) store.close();
      },
    });
    this.#local = hostMethods({
      store,
      namespace: this.namespace,
      version: core.info().version,
      nexus: options.nexus !== undefined,
      held: this.#holding.of,
      call: (method, request) => this.call(method, request),
      queue: (request, ours) =>
        this.#engine.calls.pollers.answer(request, ours, {
          statsOf: (name) => this.#engine.taskStats(name),
          versioningOf: (name, type) => this.#engine.versioningOf(name, type),
          configOf: (name, side) => this.#engine.queueConfigs.of(name, side),
        }),
      configure: (request, ours) => this.#engine.queueConfigs.update(request, ours),
      forget: (runId) => this.#engine.forget([runId]),
      workers: this.#workers,
    });
  }

  // ----------------------------------------------------------------------------------------- calls

  /**
   * Calls a method of WorkflowService. The response leaves after everything it acknowledges is
   * stored.
   */
  call(method: MethodName, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    if (!this.#engine.isOpen) return Promise.reject(this.#engine.closedError());
    if (method.includes("ActivityExecution")) {
      try {
        const forwarded = callForWorkflow(method, request);
        if (forwarded !== undefined) {
          return this.call(forwarded.method, forwarded.request, options);
        }
      } catch (error) {
        return Promise.reject(error as Error);
      }
    }
    const local = isBroadcast(method, request)
      ? () => this.#broadcast(request)
      : this.#local[method];
    if (local !== undefined) return answered(() => local(request));
    if (method === "shutdownWorker") {
      this.#workers.shutDown(request, namespaceCheck(this.namespace));
    }
    const ofBatch = this.#engine.workOfBatch(method, request, options);
    if (ofBatch !== undefined) return ofBatch;
    if (method === "executeMultiOperation") return this.#engine.requestPair(request, options);
    const number = ENGINE_METHODS[method];
    if (number === undefined) return Promise.reject(unimplemented(method));
    if (this.#holding.concerns(method)) {
      const ask = (name: MethodName, bytes: Uint8Array) =>
        this.#engine.request(name, ENGINE_METHODS[name]!, bytes, options);
      return this.#holding.answered(method, request, ask);
    }
    return this.#engine.request(method, number, request, options);
  }

  /** The signals enter together, so that one commit contains them all. */
  #broadcast(request: Uint8Array): Promise<Uint8Array> {
    return this.#engine.together(() =>
      broadcastToRuns(
        this.store,
        request,
        (signal) => this.call("signalWorkflowExecution", signal),
      )
    );
  }

  /**
   * @internal Runs `work` in the transaction that commits the next batch; resolves after the commit.
   */
  transact<T>(work: (database: TransactionDatabase) => T): Promise<T> {
    return this.#engine.transact(work);
  }

  /**
   * Registers search attributes with their types, for example `{ customer: "Keyword" }`. From the
   * first registration on, the engine takes registered names only. Registered names keep their type.
   */
  addSearchAttributes(types: { readonly [name: string]: SearchAttributeTypeName }): void {
    const numbers = Object.entries(types).map(([name, type]) => {
      const number = attributeTypeOf(type);
      if (number === undefined) {
        throw new TypeError(
          `unknown type "${type}" of search attribute ${name}: Text, Keyword, Int, Double, Bool, Datetime or KeywordList`,
        );
      }
      return [name, number] as const;
    });
    this.registerAttributes(Object.fromEntries(numbers));
  }

  /** @internal The same with numbers of IndexedValueType. */
  registerAttributes(types: AttributeTypes): void {
    this.#engine.attributesChanged(addAttributes(this.store, types));
  }

  /** @internal The endpoints of the host of Nexus calls have changed. */
  nexusEndpointsChanged(): void {
    if (this.#engine.isOpen) this.#engine.endpointsChanged();
  }

  /**
   * @internal A callback reports the end of a Nexus operation: an encoded NexusOutcome. Rejects with
   * NOT_FOUND if no workflow waits for it.
   */
  endNexusOperation(outcome: Uint8Array): Promise<Uint8Array> {
    if (!this.#engine.isOpen) return Promise.reject(this.#engine.closedError());
    const method = EngineMethod.ENGINE_METHOD_NEXUS_OPERATION_ENDED;
    return this.#engine.request("respondNexusTaskCompleted", method, outcome, {});
  }

  /** Removes search attributes from the register. Values of workflows stay. */
  removeSearchAttributes(names: readonly string[]): void {
    const types = removeAttributes(this.store, names);
    if (types !== undefined) this.#engine.attributesChanged(types);
  }

  /**
   * Fires the oldest open timer with that name or id, of a workflow or engine with `timers:
   * "manual"`.
   */
  async fireTimer(workflowId: string, name: string, runId?: string): Promise<void> {
    const request = fireTimerRequest(this.store, this.#options, workflowId, name, runId);
    await this.#engine.request(
      "signalWorkflowExecution",
      EngineMethod.ENGINE_METHOD_FIRE_TIMER,
      request,
      {},
    );
  }

  // --------------------------------------------------------------------------------------- the end

  /** Why the engine stopped by itself; undefined while it runs and after `close`. */
  get failure(): Error | undefined {
    return this.#engine.failure;
  }

  /**
   * Rejects new calls, commits earlier ones, and closes the store if the engine opened it. Waiting
   * calls are rejected with UNAVAILABLE; tasks that workers still hold are dispatched again after
   * the next opening. Close workers first.
   */
  async close(): Promise<void> {
    this.#engine.close();
  }

  /** Calls `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // ------------------------------------------------------------------------------ tables and store

  /** The application's tables, read-only. Throws if the store has no tables. */
  get tables(): Database {
    return tablesOf(this.store);
  }

  /**
   * The rows of one SQL statement that reads, over views and tables. Throws a SqlLimitError above
   * 100,000 rows, 16 MiB or 2 s.
   */
  sql(sql: string, ...params: SqlValue[]): SqlRow[] {
    return sqlOf(this.store, sql, params);
  }

  /**
   * Copies the store to a new file. Blocks the engine meanwhile (about one second per gigabyte).
   */
  backup(path: string): void {
    this.store.backup(path);
  }

  /**
   * Removes closed runs in slices, between which the engine works. Returns the number of removed
   * runs.
   */
  async purge(options: PurgeOptions): Promise<number> {
    return await purgeInSlices(options, (slice) => {
      const runIds = this.#engine.isOpen ? this.store.purge(slice) : [];
      this.#engine.forget(runIds);
      return runIds.length;
    });
  }

  // ------------------------------------------------------------------------------------- held runs

  /** @internal The record of running tasks for the workers of this process. */
  runningTasks(): RunningTasks | undefined {
    return this.#engine.isOpen ? this.#holding.runningTasks() : undefined;
  }

  /**
   * Runs whose workflow tasks are held: the process died twice in a row while they were running.
   */
  heldRuns(): readonly HeldRun[] {
    return this.#holding.list();
  }

  /**
   * Releases the held runs of a workflow and returns them. Their tasks may follow minutes later.
   */
  release(workflowId: string, runId?: string): readonly HeldRun[] {
    return this.#holding.release(workflowId, runId);
  }

  // --------------------------------------------------------------------------------------- figures

  /** @internal Reports runs that end without their worker. */
  get closedRuns(): ClosedRuns {
    return this.#engine.closedRuns;
  }

  /** @internal Whether workflows may use `transact`. */
  get runsReducers(): boolean {
    return this.#engine.runsReducers;
  }

  /** Returns the engine's current figures. */
  stats(): EngineStats {
    return this.#engine.stats();
  }

  /** Returns the number of tasks that wait in a task queue, and the age of the oldest. */
  backlog(queue: string): ReturnType<typeof backlogOf> {
    return backlogOf(this.#engine.taskStats(queue));
  }

  /** True while calls have entered whose batch is not committed yet. */
  get busy(): boolean {
    return this.#engine.busy;
  }
}
