// `open` for a browser tab, with the store in the origin's private file system. One tab leads at a
// time: its engine worker has the store, its page runs workflows and activities. Other tabs call
// it; when it ends, the next one leads.
import type { App, OpenOptions } from "../app/open.ts";
import { Client } from "../client/mod.ts";
import { codecsOf } from "../codec/codec.ts";
import { coreModule, type CoreSources, useCore } from "../core/source.ts";
import type { EngineLimits } from "../engine/options.ts";
import type { SqlRow, SqlValue } from "../engine/sqlite/driver.ts";
import type { Synchronous } from "../engine/sqlite/open.ts";
import type { PurgeOptions } from "../engine/store.ts";
import { StoreUnavailableError } from "../engine/store_errors.ts";
import { containedLogger } from "../base/contained.ts";
import type { Logger } from "../base/logger.ts";
import { consoleLogger } from "../platform/host.ts";
import type { WebWorker } from "../platform/threads.ts";
import type { WorkerOptions } from "../worker/options.ts";
import type { Worker as WorkflowWorker } from "../worker/worker.ts";
import { checkBrowserOptions } from "./option_kinds.ts";
import { Tab, type TabStatus } from "./tab.ts";

/** Options of {@link open} in a browser tab. */
export interface BrowserOpenOptions extends
  Omit<
    OpenOptions,
    "engine" | "worker" | "workflows" | "serve" | "reducers" | "functions" | "migrations"
  > {
  /** Name of the store, shared by all pages of this origin. */
  path?: string;
  /** Alias of `path`. */
  name?: string;
  /**
   * Creates the Worker for workflow code, from an entry file that your bundler finds:
   * `serveRealm(() => import("./workflows.ts"))` of "temporalex/realm". Same as `worker.realmEntry`
   * in Node and Deno.
   */
  realm?: () => WebWorker;
  /**
   * For pages without a realm worker (tests, trials): definitions that run in the page, or modules
   * with `sources`.
   */
  workflows?: WorkerOptions["workflows"];
  /** Texts of the workflow modules by path, if `workflows` names modules. */
  sources?: WorkerOptions["sources"];
  /**
   * Creates the Worker for the engine. Default: the package's own file. With a bundler or reducers:
   * an entry that calls `serveEngine`.
   */
  engineWorker?: () => WebWorker;
  /**
   * WASM files of the core, as for `useCore`: the addresses of `worker.wasm` (for workflow code)
   * and `engine.wasm`. A tab with `lead: false` needs neither. Default: the files of useCore, or
   * the copies in the package's code.
   */
  core?: CoreSources;
  /** Address of SQLite's .wasm file. Default: next to SQLite's code, as most bundlers place it. */
  sqliteWasm?: string | URL;
  /** Request persistent storage of the browser. Default: true. The result is in `persisted`. */
  persist?: boolean;
  /** False: this tab only calls other tabs and needs no workflows. Default: true. */
  lead?: boolean;
  /** Options of the engine, used while this tab leads. */
  engine?: { namespace?: string; limits?: EngineLimits; synchronous?: Synchronous };
  /** Options of the worker, used while this tab leads. */
  worker?: Omit<
    WorkerOptions,
    "service" | "taskQueue" | "workflows" | "activities" | "realm" | "sources"
  >;
}

/**
 * Reads of the application's tables from a page. Rejects with a DatabaseError for statements that
 * write.
 */
export interface TabTables {
  /** Returns the first row of a query; undefined without rows. */
  get<T extends object = SqlRow>(sql: string, ...params: SqlValue[]): Promise<T | undefined>;
  /** Returns all rows of a query. */
  all<T extends object = SqlRow>(sql: string, ...params: SqlValue[]): Promise<T[]>;
}

/** A tab with an open store. */
export interface BrowserApp extends Pick<App, "client" | "done" | "close"> {
  /** Runs workflows and activities while this tab leads. */
  readonly worker: WorkflowWorker | undefined;
  /** Role of this tab, and its current problem. */
  readonly status: TabStatus;
  /** Role in `status`. */
  readonly role: TabStatus["role"];
  /** Calls the listener at each change of `status`. Returns a function that removes it. */
  onStatus(listener: (status: TabStatus) => void): () => void;
  /** Whether the browser grants persistent storage. Waits for the user if the browser prompts. */
  readonly persisted: Promise<boolean>;
  /**
   * Storage usage and quota of the origin in bytes; undefined if the browser does not report them.
   */
  storage(): Promise<
    {
      readonly usage: number | undefined;
      readonly quota: number | undefined;
      readonly persisted: boolean;
    }
  >;
  /** Returns the whole store as one SQLite file; Node and Deno can open it. */
  exportStore(): Promise<Blob>;
  /**
   * Validates an exported store and replaces this one by it. Rejects with a NotAStoreError,
   * StoreVersionError or StoreCorruptError, and with a StoreNotEmptyError if there are runs and
   * `force` is not set; the store is then unchanged.
   */
  importStore(
    file: Blob | ArrayBuffer | Uint8Array<ArrayBuffer>,
    options?: { force?: boolean },
  ): Promise<void>;
  /**
   * The application's own tables, read through the leading tab. Migrations of `serveEngine` create
   * them.
   */
  readonly tables: TabTables;
  /**
   * Fires the oldest open timer with this name or id of a workflow started with `timers: "manual"`,
   * through the leading tab. Rejects with a ServiceError for an unknown timer or workflow, and for
   * timers that fire when due.
   */
  fireTimer(workflowId: string, name: string, runId?: string): Promise<void>;
  /**
   * Removes closed runs with their histories. Returns their number. The space is reused before the
   * store grows. Fails if the storage is full.
   */
  purge(options: PurgeOptions): Promise<number>;
  /** Checks the store for damage; one sentence for each problem. Reads the whole store. */
  checkStore(): Promise<readonly string[]>;
  /** Same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Time that `close` waits for canceled activities. */
const CLOSE_MS = 10_000;
/** Time that `close` waits for the engine worker to commit and close its files. */
const ENGINE_CLOSE_MS = 3000;

/**
 * Opens the store of this name in this tab. Resolves when the tab leads and its worker runs, or
 * when it has found the leading tab. Rejects with a StoreUnavailableError (no files: private
 * window, http, old browser), StoreVersionError, StoreCorruptError, StoreFullError, StoreBusyError,
 * PageOutdatedError, EngineWorkerError, or with an error of the workflows.
 *
 * @example
 * // page.ts
 * import { open } from "temporalex/browser";
 * import * as activities from "./activities.ts";
 * import { order } from "./workflows.ts";
 *
 * const app = await open({
 *   path: "shop",
 *   activities,
 *   realm: () => new Worker(new URL("./realm.ts", import.meta.url), { type: "module" }),
 *   engineWorker: () => new Worker(new URL("./engine.ts", import.meta.url), { type: "module" }),
 * });
 * const receipt = await app.client.execute(order, { id: "order-1", args: [items] });
 *
 * // realm.ts
 * import { serveRealm } from "temporalex/realm";
 * serveRealm(() => import("./workflows.ts"));
 *
 * // engine.ts
 * import { serveEngine } from "temporalex/browser";
 * serveEngine();
 */
export async function open(options: BrowserOpenOptions): Promise<BrowserApp> {
  checkBrowserOptions(options);
  const { activities, workflows, realm, lead = true } = options;
  const logger = containedLogger(options.logger ?? consoleLogger());
  const name = storeName(options);
  checkPage();
  const nothing = workflows === undefined && realm === undefined && activities === undefined &&
    options.worker?.activityThreads === undefined && options.worker?.realmEntry === undefined;
  if (lead && nothing) {
    throw new TypeError(
      "a tab without workflows and activities cannot lead: pass `realm` or `activities`, or set lead: false",
    );
  }
  const persisted = options.persist === false ? isPersisted() : askToPersist();
  if (options.core !== undefined) useCore(options.core);
  // Before this tab can lead: at its turn the origin may serve another version. A tab that never
  // leads needs no workflows.
  const runsWorkflows = workflows !== undefined || realm !== undefined ||
    options.worker?.realmEntry !== undefined;
  const [core] = lead
    ? await Promise.all([coreModule("engine"), runsWorkflows && coreModule("worker")])
    : [];
  // Before anything is opened: an invalid codec must not leave plain text in the store.
  codecsOf(options);
  const shared = selectSharedOptions(options, logger);
  const tab = createTab(name, options, shared, core);
  try {
    await tab.ready;
  } catch (e) {
    await tab.close(0);
    throw e;
  }
  const client = new Client({
    ...shared,
    ...options.client,
    service: tab.service,
    taskQueue: shared.taskQueue,
  });
  return makeApp(tab, client, persisted);
}

/** Options that client and worker have in common. */
function selectSharedOptions(options: BrowserOpenOptions, logger: Logger) {
  const { codec, encodeCommonAttributes, converter, taskQueue = "default" } = options;
  return {
    namespace: options.engine?.namespace ?? "default",
    taskQueue,
    logger,
    codec,
    encodeCommonAttributes,
    ...(converter !== undefined && { converter }),
  };
}

/** `core`: the engine's module; undefined for a tab that never leads. */
function createTab(
  name: string,
  options: BrowserOpenOptions,
  shared: ReturnType<typeof selectSharedOptions>,
  core: Awaited<ReturnType<typeof coreModule>> | undefined,
): Tab {
  const { activities, workflows, sources, realm, sqliteWasm } = options;
  return new Tab({
    name,
    logger: shared.logger,
    engineWorker: options.engineWorker ?? defaultEngineWorker,
    init: core && {
      core,
      namespace: shared.namespace,
      taskQueue: shared.taskQueue,
      sqliteWasm: sqliteWasm === undefined ? undefined : new URL(sqliteWasm, location.href).href,
      limits: options.engine?.limits,
      synchronous: options.engine?.synchronous,
      coded: options.codec !== undefined,
    },
    worker: () =>
      Promise.resolve({
        shutdownForceMs: CLOSE_MS,
        ...shared,
        ...options.worker,
        taskQueue: shared.taskQueue,
        ...(workflows !== undefined && { workflows }),
        ...(sources !== undefined && { sources }),
        ...(realm !== undefined && { realmEntry: realm }),
        ...(activities !== undefined && { activities }),
      }),
  });
}

function makeApp(tab: Tab, client: Client, persisted: Promise<boolean>): BrowserApp {
  let closing: Promise<void> | undefined;
  const close = () => closing ??= tab.close(ENGINE_CLOSE_MS);
  return {
    client,
    get worker() {
      return tab.worker;
    },
    get status() {
      return tab.status;
    },
    get role() {
      return tab.status.role;
    },
    onStatus: (listener) => tab.onStatus(listener),
    persisted,
    storage: async () => {
      const [{ usage, quota }, kept] = await Promise.all([
        navigator.storage.estimate(),
        isPersisted(),
      ]);
      return { usage, quota, persisted: kept };
    },
    exportStore: () => tab.service.export(),
    importStore: (file, { force = false } = {}) =>
      tab.service.import(file instanceof Blob ? file : new Blob([file]), force),
    purge: ({ closedBefore, limit = Infinity }) => tab.service.purge(closedBefore, limit),
    checkStore: () => tab.service.check(),
    fireTimer: (workflowId, name, runId) => tab.service.fireTimer(workflowId, name, runId),
    tables: {
      get: async <T extends object>(sql: string, ...params: SqlValue[]) =>
        (await tab.service.read(sql, params))[0] as T | undefined,
      all: async <T extends object>(sql: string, ...params: SqlValue[]) =>
        [...await tab.service.read(sql, params)] as T[],
    },
    done: tab.done,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function storeName({ path, name }: BrowserOpenOptions): string {
  if (path !== undefined && name !== undefined && path !== name) {
    throw new TypeError("`path` and `name` are aliases: pass only one of them");
  }
  const chosen = path ?? name;
  if (typeof chosen !== "string" || chosen === "" || chosen.length > 100) {
    throw new TypeError(
      "open in a tab needs the name of the store: set `path` to 1 to 100 characters",
    );
  }
  return chosen;
}

function checkPage(): void {
  if (
    typeof document === "undefined" || typeof Worker === "undefined" ||
    typeof BroadcastChannel === "undefined"
  ) {
    throw new StoreUnavailableError(
      'this open() needs a browser page with Worker and BroadcastChannel; in Node and Deno use open() from "temporalex"',
      "unsupported",
    );
  }
  if (!isSecureContext) {
    throw new StoreUnavailableError(
      "browser storage needs a secure context: serve the page over https, or from localhost",
      "insecure",
    );
  }
}

/** Requests persistent storage; "no" if the browser does not support it. */
async function askToPersist(): Promise<boolean> {
  try {
    return await navigator.storage.persist();
  } catch {
    return false;
  }
}

async function isPersisted(): Promise<boolean> {
  try {
    return await navigator.storage.persisted();
  } catch {
    return false;
  }
}

function defaultEngineWorker(): WebWorker {
  return new Worker(new URL("./engine_worker.ts", import.meta.url), {
    type: "module",
    name: "temporalex-engine",
  }) as unknown as WebWorker;
}
