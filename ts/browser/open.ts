// `open` for a browser tab: the same program as in Node or Deno, kept in the origin's private files. One tab at a time leads: its engine
// worker has the store, its page runs workflows and activities. Calls of the other tabs go to it; when it goes, the next one takes over.
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
import { consoleLogger } from "../platform/host.ts";
import type { WebWorker } from "../platform/threads.ts";
import type { WorkerOptions } from "../worker/options.ts";
import type { Worker as WorkflowWorker } from "../worker/worker.ts";
import { checkBrowserOptions } from "./option_kinds.ts";
import { Tab, type TabStatus } from "./tab.ts";

/** Options of {@link open} in a browser tab. */
export interface BrowserOpenOptions
  extends Omit<OpenOptions, "engine" | "worker" | "workflows" | "serve" | "reducers" | "migrations"> {
  /** Name of the store: every page of this site that opens the same name shares it. */
  path?: string;
  /** The same, by a name that fits better. */
  name?: string;
  /**
   * Makes the Worker in which workflow code runs. Its entry file is yours, so that your bundler finds it:
   * `serveRealm(() => import("./workflows.ts"))` of "temporalex/realm". The same as `worker.realmEntry`, which Node and Deno know too.
   */
  realm?: () => WebWorker;
  /** For pages without a realm worker (tests, trials): definitions that run in the page itself, or modules together with `sources`. */
  workflows?: WorkerOptions["workflows"];
  /** Texts of the workflow modules by path, where `workflows` names modules. */
  sources?: WorkerOptions["sources"];
  /** Makes the Worker in which the engine runs. Default: the package's own file. With a bundler, and for reducers: an entry that calls `serveEngine`. */
  engineWorker?: () => WebWorker;
  /**
   * The core, as `useCore` takes it: the addresses of the package's `worker.wasm` (for the tab's workflow code) and `engine.wasm`. A tab
   * that never leads needs neither. Default: what useCore was given, or the copies in the package's code.
   */
  core?: CoreSources;
  /** Where SQLite's .wasm file is. Default: beside SQLite's code, where most bundlers put it. */
  sqliteWasm?: string | URL;
  /** Ask the browser to keep the store when the device runs out of space. Default: true. The answer is in `persisted`. */
  persist?: boolean;
  /** False: this tab never leads; it only calls. It needs no workflows. Default: true. */
  lead?: boolean;
  /** Options of the engine; they count in the tab that leads. */
  engine?: { namespace?: string; limits?: EngineLimits; synchronous?: Synchronous };
  /** Options of the worker; it runs in the tab that leads. */
  worker?: Omit<WorkerOptions, "service" | "taskQueue" | "workflows" | "activities" | "realm" | "sources">;
}

/** Reads of the application's tables from a page. Rejects with a DatabaseError for a statement that does not only read. */
export interface TabTables {
  /** The first row of a query; undefined: there is none. */
  get<T extends object = SqlRow>(sql: string, ...params: SqlValue[]): Promise<T | undefined>;
  /** All rows of a query. */
  all<T extends object = SqlRow>(sql: string, ...params: SqlValue[]): Promise<T[]>;
}

/** A tab with an open store. */
export interface BrowserApp extends Pick<App, "client" | "done" | "close"> {
  /** Runs workflows and activities while this tab leads. */
  readonly worker: WorkflowWorker | undefined;
  /** What this tab is doing: its role, and what it waits for. */
  readonly status: TabStatus;
  /** The role alone. */
  readonly role: TabStatus["role"];
  /** Calls back at each change of `status`; the answer ends that. */
  onStatus(listener: (status: TabStatus) => void): () => void;
  /** Whether the browser has promised to keep the store. It may ask its user first, so this can take as long as they do. */
  readonly persisted: Promise<boolean>;
  /** What the site may keep and keeps, in bytes, as far as the browser says. */
  storage(): Promise<{ readonly usage: number | undefined; readonly quota: number | undefined; readonly persisted: boolean }>;
  /** The whole store as one SQLite file; Node and Deno can open it too. */
  exportStore(): Promise<Blob>;
  /**
   * Replaces the store by an exported one, after it has been checked. Rejects with a NotAStoreError, StoreVersionError or StoreCorruptError,
   * and with a StoreNotEmptyError when there are runs and `force` is not set; then nothing has changed.
   */
  importStore(file: Blob | ArrayBuffer | Uint8Array<ArrayBuffer>, options?: { force?: boolean }): Promise<void>;
  /** The application's own tables, for reading; the tab that leads is asked. They are made by the migrations of `serveEngine`. */
  readonly tables: TabTables;
  /**
   * Fires the oldest open timer of that name, or id, of a workflow that was started with `timers: "manual"`; the tab that leads is asked.
   * Rejects with a ServiceError for a timer or a workflow that is not there, and for one whose timers fire when they are due.
   */
  fireTimer(workflowId: string, name: string, runId?: string): Promise<void>;
  /** Removes closed runs with their histories; answers how many. Their space is used again before the store grows. In a full store it fails, too. */
  purge(options: PurgeOptions): Promise<number>;
  /** Looks for damage in the store: one sentence for each, none when all is well. Reads everything. */
  checkStore(): Promise<readonly string[]>;
  /** As `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** How long `close` waits for activities that were told to stop. */
const CLOSE_MS = 10_000;
/** And for the engine worker to commit and close its files. */
const ENGINE_CLOSE_MS = 3000;

/**
 * Opens the store of this name in this tab. Resolves when the tab leads and its worker runs, or when it has found the tab that leads. Rejects
 * with a StoreUnavailableError (no files: private window, http, old browser), StoreVersionError, StoreCorruptError, StoreFullError,
 * StoreBusyError, PageOutdatedError, EngineWorkerError, or with what is wrong with the workflows.
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
  const { activities, workflows, sources, realm, taskQueue = "default", converter, lead = true } = options;
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
  // Before this tab can lead: at its turn the site may have the files of another version. A tab that never leads needs none.
  const runsWorkflows = workflows !== undefined || realm !== undefined || options.worker?.realmEntry !== undefined;
  const [core] = lead ? await Promise.all([coreModule("engine"), runsWorkflows && coreModule("worker")]) : [];
  const { codec, encodeCommonAttributes } = options;
  // Before anything is opened: a codec that is none must not leave plain text in the store.
  codecsOf(options);
  const shared = { logger, codec, encodeCommonAttributes, ...(converter !== undefined && { converter }) };
  const namespace = options.engine?.namespace ?? "default";
  const tab = new Tab({
    name,
    logger,
    engineWorker: options.engineWorker ?? defaultEngineWorker,
    init: core && {
      core,
      namespace,
      sqliteWasm: options.sqliteWasm === undefined ? undefined : new URL(options.sqliteWasm, location.href).href,
      limits: options.engine?.limits,
      synchronous: options.engine?.synchronous,
      coded: codec !== undefined,
    },
    worker: () =>
      Promise.resolve({
        shutdownForceMs: CLOSE_MS,
        namespace,
        ...shared,
        ...options.worker,
        taskQueue,
        ...(workflows !== undefined && { workflows }),
        ...(sources !== undefined && { sources }),
        ...(realm !== undefined && { realmEntry: realm }),
        ...(activities !== undefined && { activities }),
      }),
  });
  try {
    await tab.ready;
  } catch (e) {
    await tab.close(0);
    throw e;
  }
  const client = new Client({ namespace, ...shared, ...options.client, service: tab.service, taskQueue });
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
      const [{ usage, quota }, kept] = await Promise.all([navigator.storage.estimate(), isPersisted()]);
      return { usage, quota, persisted: kept };
    },
    exportStore: () => tab.service.export(),
    importStore: (file, { force = false } = {}) => tab.service.import(file instanceof Blob ? file : new Blob([file]), force),
    purge: ({ closedBefore, limit = Infinity }) => tab.service.purge(closedBefore, limit),
    checkStore: () => tab.service.check(),
    fireTimer: (workflowId, name, runId) => tab.service.fireTimer(workflowId, name, runId),
    tables: {
      get: async <T extends object>(sql: string, ...params: SqlValue[]) =>
        (await tab.service.read(sql, params))[0] as T | undefined,
      all: async <T extends object>(sql: string, ...params: SqlValue[]) => [...await tab.service.read(sql, params)] as T[],
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
    throw new TypeError("open in a tab needs the name of the store: set `path` to 1 to 100 characters");
  }
  return chosen;
}

function checkPage(): void {
  if (typeof document === "undefined" || typeof Worker === "undefined" || typeof BroadcastChannel === "undefined") {
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

/** Asks for persistence; "no" where the browser cannot tell. */
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
