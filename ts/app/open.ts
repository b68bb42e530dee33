// An application in one object: engine, worker and client in this process. The parts are available
// separately (EmbeddedEngine, Worker, Client), for example to use a cluster instead of the engine.
import { Client, type TransactionWorkflows } from "../client/mod.ts";
import { EmbeddedEngine } from "../engine/embedded_engine.ts";
import { checkFunctions } from "../engine/functions.ts";
import { MemoryStore } from "../engine/memory_store.ts";
import { ReducerPayloads } from "../engine/tables/reducer_payloads.ts";
import type { Store } from "../engine/store.ts";
import { warnOfTimeouts } from "../engine/timed_out.ts";
import { consoleLogger } from "../platform/host.ts";
import { containedLogger } from "../base/contained.ts";
import type { Logger } from "../base/logger.ts";
import type { RawService } from "../service/raw.ts";
import { WorkflowService } from "../messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { EagerStarts } from "../worker/eager_starts.ts";
import { Worker } from "../worker/worker.ts";
import { DeferredServer } from "./deferred_server.ts";
import type { SqlRow } from "../engine/sqlite/driver.ts";
import { queryOfApp, type QueryOptions } from "./sql/app_query.ts";
import { runTransaction, type Transaction } from "./transaction.ts";
import { checkOpenOptions, type OpenOptions } from "./open_options.ts";

export type { OpenOptions };

/** A running application. */
export interface App {
  /** Starts workflows and communicates with them. */
  readonly client: Client;
  /** Runs workflows and activities in this process. */
  readonly worker: Worker;
  /** The embedded engine; also a service for other workers and clients. */
  readonly engine: EmbeddedEngine;
  /**
   * Runs a query over the store's file in a separate process; the engine continues meanwhile.
   * `engine.sql` is faster for short queries. Rejects with a SqlLimitError for more than 100,000
   * rows or 16 MiB, and after `timeoutMs` (default: 30,000).
   *
   * @example
   * const rows = await app.query("SELECT workflow_type, count(*) AS n FROM workflow GROUP BY 1", { timeoutMs: 5_000 });
   */
  query(sql: string, options?: QueryOptions): Promise<SqlRow[]>;
  /**
   * Address of the engine for other processes: a socket's path or `127.0.0.1:<port>`; undefined if
   * it is not served. Resolves shortly after `open`, so that serving does not delay the start.
   */
  readonly served: Promise<string | undefined>;
  /**
   * Runs a synchronous function in one transaction of the store: rows that it writes and messages
   * that it sends to workflows are committed together, or not at all if it throws. Resolves with
   * the function's value after the commit. Transactions of the same moment share one commit.
   * Rejects with a TransactionError if the function returns a promise or a generator.
   *
   * @example
   * const hp = await app.transaction((db, workflows) => {
   *   db.run("UPDATE npc SET hp = hp - ? WHERE id = ?", 10, 7);
   *   workflows.signal("npc-7", npcSignals.damaged, 10);
   *   return db.get<{ hp: number }>("SELECT hp FROM npc WHERE id = ?", 7)!.hp;
   * });
   */
  transaction<T>(work: (db: Transaction, workflows: TransactionWorkflows) => T): Promise<T>;
  /** Resolves after `close`; rejects if the worker has stopped by itself. */
  readonly done: Promise<void>;
  /**
   * Stops the worker (finishes running tasks, cancels activities) and closes the engine. Workflows
   * continue after the next `open`.
   */
  close(): Promise<void>;
  /** Same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Time that `close` waits for canceled activities. */
const CLOSE_MS = 10_000;

/**
 * Opens the engine and starts a worker on it.
 *
 * @example
 * const app = await open({ path: "shop.sqlite", workflows: new URL("./workflows.ts", import.meta.url), activities });
 * const receipt = await app.client.execute(order, { id: "order-1", args: [items] });
 * await app.close();
 */
export async function open(options: OpenOptions): Promise<App> {
  checkOpenOptions(options);
  // Checked before a file is created.
  if (options.reducers !== undefined) new ReducerPayloads(options);
  checkFunctions(options);
  const logger = containedLogger(options.logger ?? consoleLogger());
  const late: LateParts = { eagerStarts: new EagerStarts() };
  const { engine, client, worker } = await startParts(options, logger, late);
  late.eagerStarts.add(
    engine.namespace,
    options.taskQueue ?? DEFAULT_TASK_QUEUE,
    () => worker.reserveWorkflowTask(),
  );
  const done = worker.run();
  // Prevents an unhandled rejection.
  done.catch((error) => logger.error("the worker has stopped", { error }));
  const server = new DeferredServer(
    engine,
    options.serve !== false && options.path !== undefined && options.engine?.store === undefined,
    logger,
  );
  let closing: Promise<void> | undefined;
  // The closing engine completes pending calls; the server sends the responses before it closes.
  const close = () =>
    closing ??= worker.shutdown().then(() => server.retire()).then(() => engine.close()).then(() =>
      server.close()
    )
      .then(() => late.tables?.close());
  const query = (sql: string, options: QueryOptions = {}) => queryOfApp(engine.store, sql, options);
  return {
    client,
    worker,
    engine,
    query,
    transaction: (work) => runTransaction(engine, work),
    served: server.address,
    done,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Parts that exist only after the worker has begun to start. */
interface LateParts {
  /** Workflow tasks that starts of the client bring to the worker without a poll. */
  readonly eagerStarts: EagerStarts;
  engine?: EmbeddedEngine;
  client?: Client;
  /** The store in memory of an engine with tables; the engine does not close it. */
  tables?: Store;
}

/** Starts the worker and opens the store meanwhile. If one of them fails, the other is closed. */
async function startParts(options: OpenOptions, logger: Logger, late: LateParts) {
  let starting!: () => void;
  const started = new Promise<void>((resolve) => starting = resolve);
  const working = createWorker(options, logger, late, starting);
  const [worked, opened] = await Promise.allSettled([
    working,
    Promise.race([started, working]).then(() => openEngine(options, logger, late)),
  ]);
  if (worked.status === "rejected") {
    if (opened.status === "fulfilled") await opened.value.engine.close();
    throw worked.reason;
  }
  if (opened.status === "rejected") {
    await worked.value.shutdown();
    throw opened.reason;
  }
  return { ...opened.value, worker: worked.value };
}

const DEFAULT_TASK_QUEUE = "default";

/** Options that client and worker have in common. */
function selectSharedOptions(
  { codec, encodeCommonAttributes, converter }: OpenOptions,
  logger: Logger,
) {
  return {
    logger,
    codec,
    encodeCommonAttributes,
    ...(converter !== undefined && { converter }),
  };
}

async function openEngine(options: OpenOptions, logger: Logger, late: LateParts) {
  const { path, converter, reducers, functions, migrations, codec, encodeCommonAttributes } =
    options;
  const inMemory = path === undefined && options.engine?.store === undefined;
  if (inMemory && [reducers, functions, migrations].some((each) => each !== undefined)) {
    late.tables = (await import("../engine/sqlite/in_memory.ts")).openInMemory();
  }
  const engine = late.engine = await EmbeddedEngine.open({
    onError: (error) => logger.error("the engine failed", { error }),
    onActivityTimeout: warnOfTimeouts(logger),
    ...(inMemory && { store: late.tables ?? new MemoryStore() }),
    ...(path !== undefined && { path }),
    ...(converter !== undefined && { converter }),
    workflows: (transport) => late.client!.workflowsIn(transport),
    ...(reducers !== undefined && { reducers }),
    ...(functions !== undefined && { functions }),
    ...(migrations !== undefined && { migrations }),
    codec,
    encodeCommonAttributes,
    ...options.engine,
  });
  try {
    const client = late.client = new Client({
      namespace: engine.namespace,
      ...selectSharedOptions(options, logger),
      ...options.client,
      service: late.eagerStarts.around(engine, true),
      taskQueue: options.taskQueue ?? DEFAULT_TASK_QUEUE,
    });
    return { engine, client };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/**
 * The realm's thread starts first, and the store opens meanwhile. The worker calls its service
 * after both.
 */
function createWorker(
  options: OpenOptions,
  logger: Logger,
  late: LateParts,
  starting: () => void,
): Promise<Worker> {
  const { workflows, activities, taskQueue = DEFAULT_TASK_QUEUE, reducers } = options;
  const service: RawService = {
    call: (method, request, call) => late.engine!.call(method, request, call),
    runningTasks: () => late.engine!.runningTasks(),
    closedRuns: { watch: (listener) => late.engine!.closedRuns.watch(listener) },
    runsReducers: reducers !== undefined || options.engine?.reducers !== undefined,
    showsRuns: true,
  };
  return Worker.create({
    shutdownForceMs: CLOSE_MS,
    ...(options.engine?.namespace !== undefined && { namespace: options.engine.namespace }),
    ...selectSharedOptions(options, logger),
    ...options.worker,
    ...(workflows !== undefined && { workflows }),
    ...(activities !== undefined && { activities }),
    realmStarting: () => {
      starting();
      // Builds the descriptors for the client's first call while the thread starts.
      void WorkflowService.method;
    },
    service,
    taskQueue,
  });
}
