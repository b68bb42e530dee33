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

/** A store with transactions in which reducers can write. */
export interface ReducingStore {
  /** The application's tables. */
  readonly tables: Database;
  /** Opens the transaction of the next commit. */
  begin(): void;
  /** Rolls back the open transaction. */
  rollback(): void;
  /**
   * Runs work under a savepoint. If it throws, rolls back its writes and throws the error again.
   */
  savepoint<T>(work: () => T): T;
  /**
   * The same for the first work of a transaction, without a savepoint: an error rolls back the
   * whole transaction, which must begin again.
   */
  firstWork<T>(work: () => T): T;
}

/** A store with tables of the application. */
interface StoreWithTables extends Store, ReducingStore {
  migrate(steps: readonly TableMigration[], nowMs: number): void;
  sql(sql: string, params: readonly SqlValue[]): SqlRow[];
}

const hasTables = (store: Store): store is StoreWithTables =>
  "savepoint" in store && "migrate" in store;

const NO_TABLES =
  "this store has no tables: reducers and migrations need a store in SQLite (a path)";

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
export type ReducerRunner = Pick<Reducing, "run" | "ended">;

/** Creates the reducer runner from the engine's options, and applies pending migrations. */
export function reducingOf(store: Store, options: EmbeddedEngineOptions): ReducerRunner {
  const { reducers, migrations, reducing } = options;
  if (reducing !== undefined) return reducing;
  if (reducers === undefined && migrations === undefined) return NO_REDUCERS;
  if (!hasTables(store)) throw new TypeError(NO_TABLES);
  const payloads = reducers === undefined ? undefined : new ReducerPayloads(options);
  if (migrations !== undefined) store.migrate(migrations, Date.now());
  return reducers === undefined ? NO_REDUCERS : new Reducing(store, reducers, payloads!);
}

/** Used without reducers: the tasks fail. */
export const NO_REDUCERS: ReducerRunner = {
  ended() {},
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

class Reducing {
  readonly #store: ReducingStore;
  readonly #reducers: ReadonlyMap<string, ReducerFunction>;
  readonly #payloads: ReducerPayloads;
  #begun = false;

  constructor(store: ReducingStore, reducers: ReducerTable, payloads: ReducerPayloads) {
    this.#store = store;
    this.#reducers = reducersOf(reducers);
    this.#payloads = payloads;
  }

  /**
   * Runs the reducers of tasks, each task under a savepoint. Returns the error of the store if it
   * failed; the batch has failed then.
   */
  run(tasks: readonly TransactTask[], engine: CoreEngine): StoreError | undefined {
    try {
      for (const task of tasks) this.#task(task, engine);
    } catch (e) {
      this.ended(false);
      if (e instanceof StoreError) return e;
      throw e;
    }
  }

  /** Ends the transaction: the batch was committed, or is rolled back. */
  ended(committed: boolean): void {
    if (!this.#begun) return;
    this.#begun = false;
    if (!committed) this.#store.rollback();
  }

  /**
   * One savepoint for the task, and one for each of several reducers, so that each can be rolled
   * back alone.
   */
  #task({ requestId, calls }: TransactTask, engine: CoreEngine): void {
    const taken = (results: TransactResult[]) =>
      engine.transacted({ requestId, results, failure: NO_BYTES });
    const work = () => {
      const results = calls.map((call) => this.#call(call, calls.length > 1));
      if (!taken(results)) throw new NotTaken();
    };
    try {
      if (this.#begun) this.#store.savepoint(work);
      else this.#first(work);
    } catch (e) {
      if (e instanceof TaskFails) engine.transacted({ requestId, results: [], failure: e.failure });
      else if (e instanceof Answered) taken([e.result]);
      else if (!(e instanceof NotTaken)) throw e;
    }
  }

  /** The first task of a transaction needs no savepoint: no earlier writes have to stay. */
  #first(work: () => void): void {
    this.#store.begin();
    this.#begun = true;
    try {
      this.#store.firstWork(work);
    } catch (e) {
      this.#begun = false;
      throw e;
    }
  }

  #call({ marker }: TransactCall, apart: boolean): TransactResult {
    const { name, args, awaited, required } = this.#payloads.read(marker);
    const reduced = () =>
      this.#payloads.result(
        name,
        marker,
        reduce(this.#reducers, name, this.#store.tables, args()),
      );
    try {
      return {
        result: apart ? this.#store.savepoint(reduced) : reduced(),
        failure: NO_BYTES,
        awaited,
      };
    } catch (e) {
      if (e instanceof StoreError || e instanceof TaskFails) throw e;
      const failure = this.#payloads.failure(e);
      if (!awaited || required || e instanceof UnknownReducerError) throw new TaskFails(failure);
      const result = { result: NO_BYTES, failure, awaited };
      if (!apart) throw new Answered(result);
      return result;
    }
  }
}
