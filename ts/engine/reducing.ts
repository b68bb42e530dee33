// The reducers of a batch run in the transaction that commits the batch. The core names the tasks
// with reducer calls and gets their results (core-rs/src/engine/mod.rs). The writes of a task are
// rolled back if a reducer fails the task, or if the core rejects the completion (task lost).
import { encodeFailure } from "../converter/failure_converter.ts";
import type { CoreEngine } from "../core/engine.ts";
import type {
  TransactCall,
  TransactResult,
  TransactTask,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { EmbeddedEngineOptions } from "./options.ts";
import type { Store } from "./store.ts";
import { StoreError } from "./store_errors.ts";
import {
  type CommitTransaction,
  NO_TABLES,
  type ReducingStore,
  transactionDatabase,
} from "./transactions.ts";
import { type MessageHost, TransactionMessages } from "./transaction_messages.ts";
import type { Database, SqlRow, SqlValue } from "./tables/database.ts";
import type { TableMigration } from "./tables/migrations.ts";
import { ReducerPayloads, TaskFails } from "./tables/reducer_payloads.ts";
import {
  reduce,
  ReducerError,
  type ReducerFunction,
  reducersOf,
  type ReducerTable,
  UnknownReducerError,
} from "./tables/reducers.ts";

/** A store with tables of the application. */
interface StoreWithTables extends Store, ReducingStore {
  migrate(steps: readonly TableMigration[], nowMs: number): void;
  sql(sql: string, params: readonly SqlValue[]): SqlRow[];
}

const hasTables = (store: Store): store is StoreWithTables =>
  "savepoint" in store && "migrate" in store;

/** Returns the application's tables in a store. */
export function tablesOf(store: Store): Database {
  if (!hasTables(store)) throw new TypeError(NO_TABLES);
  return store.tables;
}

/** Returns the rows of a read-only statement. */
export function sqlOf(store: Store, sql: string, params: readonly SqlValue[]): SqlRow[] {
  if (!hasTables(store)) throw new TypeError(NO_TABLES);
  return store.sql(sql, params);
}

/** Runs the reducers of a batch. */
export type ReducerRunner = Pick<Reducing, "run">;

/** Returns the store for rows of the application; undefined if it has none. */
export function rowsOf(store: Store): ReducingStore | undefined {
  return hasTables(store) ? store : undefined;
}

/** Creates the reducer runner from the engine's options, and applies pending migrations. */
export function reducingOf(
  store: Store,
  options: EmbeddedEngineOptions,
  commit: CommitTransaction,
  host: MessageHost,
): ReducerRunner {
  const { reducers, migrations, reducing } = options;
  if (reducing !== undefined) return reducing;
  if (reducers === undefined && migrations === undefined) return NO_REDUCERS;
  if (!hasTables(store)) throw new TypeError(NO_TABLES);
  const payloads = reducers === undefined ? undefined : new ReducerPayloads(options);
  if (migrations !== undefined) store.migrate(migrations, Date.now());
  return reducers === undefined ? NO_REDUCERS : new Reducing(store, reducers, payloads!, {
    commit,
    host,
    workflows: options.workflows,
  });
}

/** Used without reducers: the tasks fail. */
export const NO_REDUCERS: ReducerRunner = {
  run(tasks, engine) {
    const failure = encodeFailure(
      new ReducerError("this engine was opened without reducers: open({ path, reducers })"),
    );
    for (const { requestId } of tasks) engine.transacted({ requestId, results: [], failure });
    return undefined;
  },
};

/**
 * The only reducer of a task threw, and its caller gets the error. The savepoint of the task rolls
 * back its writes.
 */
class Answered extends Error {
  readonly result: TransactResult;

  constructor(result: TransactResult) {
    super("a reducer threw an error");
    this.result = result;
  }
}

/** The core rejected the completion. */
class NotTaken extends Error {}

const NO_BYTES = new Uint8Array(0);

interface ReducingContext {
  readonly commit: CommitTransaction;
  readonly host: MessageHost;
  readonly workflows: EmbeddedEngineOptions["workflows"];
}

class Reducing {
  readonly #store: ReducingStore;
  readonly #reducers: ReadonlyMap<string, ReducerFunction>;
  readonly #payloads: ReducerPayloads;
  readonly #context: ReducingContext;
  /**
   * Failures by run id, of tasks whose messages their own commands have made impossible. The batch
   * is lost, and the task fails when its worker reports it again.
   */
  readonly #refused = new Map<string, Uint8Array>();

  constructor(
    store: ReducingStore,
    reducers: ReducerTable,
    payloads: ReducerPayloads,
    context: ReducingContext,
  ) {
    this.#store = store;
    this.#reducers = reducersOf(reducers);
    this.#payloads = payloads;
    this.#context = context;
  }

  /**
   * Runs the reducers of tasks, each task under a savepoint. Returns the error if the store failed,
   * or if messages of a task were rejected after its commands; the batch has failed then.
   */
  run(tasks: readonly TransactTask[], engine: CoreEngine): Error | undefined {
    try {
      for (const task of tasks) {
        const refused = this.#task(task, engine);
        if (refused !== undefined) return refused;
      }
    } catch (e) {
      if (e instanceof StoreError) return e;
      throw e;
    }
  }

  /**
   * One savepoint for the task, and one for each of several reducers, so that each can be rolled
   * back alone. Their messages enter after the commands of the task.
   */
  #task({ requestId, runId, calls }: TransactTask, engine: CoreEngine): Error | undefined {
    const { commit, host } = this.#context;
    const fails = (failure: Uint8Array) => engine.transacted({ requestId, results: [], failure });
    const impossible = this.#refused.get(runId);
    if (impossible !== undefined) {
      this.#refused.delete(runId);
      fails(impossible);
      return undefined;
    }
    const messages = new TransactionMessages(host);
    const taken = (results: TransactResult[]) => {
      messages.ended();
      return engine.transacted({ requestId, results, failure: NO_BYTES });
    };
    const work = () => {
      const results = calls.map((call) => this.#call(call, calls.length > 1, messages));
      if (!taken(results)) throw new NotTaken();
    };
    try {
      commit.during(work);
    } catch (e) {
      messages.withdraw();
      if (e instanceof TaskFails) fails(e.failure);
      else if (e instanceof Answered) taken([e.result]);
      else if (!(e instanceof NotTaken)) throw e;
      return undefined;
    }
    const refused = messages.enter();
    if (refused === undefined) return undefined;
    this.#refused.set(
      runId,
      encodeFailure(
        new ReducerError(
          `a message of a reducer was rejected after the commands of its workflow task: ${refused.message}`,
        ),
      ),
    );
    return refused;
  }

  #call({ marker }: TransactCall, apart: boolean, messages: TransactionMessages): TransactResult {
    const { name, args, awaited, required } = this.#payloads.read(marker);
    const database = transactionDatabase(this.#store.tables, messages, this.#context.workflows);
    const reduced = () =>
      messages.during(() => {
        this.#payloads.checkArguments(name, marker);
        return this.#payloads.result(name, marker, reduce(this.#reducers, name, database, args()));
      });
    try {
      return {
        result: apart ? this.#store.savepoint(reduced) : reduced(),
        failure: NO_BYTES,
        awaited,
      };
    } catch (e) {
      if (e instanceof StoreError || e instanceof TaskFails) throw e;
      const failure = this.#payloads.failure(e);
      const isRecorded = awaited || required;
      if (!isRecorded || e instanceof UnknownReducerError) throw new TaskFails(failure);
      // The next task ends a run that requires the reducer, also where no code waits.
      const result = { result: NO_BYTES, failure, awaited: true };
      if (!apart) throw new Answered(result);
      return result;
    }
  }
}
