// The reducers of a batch: the core names the tasks whose commands have some, they run in the transaction in which the batch will be
// committed, and the core is told what they came to (core-rs/src/engine/mod.rs). What a task's reducers wrote is taken back when one of
// them fails the task, or when the core does not take the completion (its task was lost meanwhile).
import { encodeFailure } from "../converter/failure_converter.ts";
import type { CoreEngine } from "../core/engine.ts";
import type { TransactCall, TransactResult, TransactTask } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
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

/** A store whose transactions reducers can write in. */
export interface ReducingStore {
  /** The user's tables. */
  readonly tables: Database;
  /** Opens the transaction of the next commit. */
  begin(): void;
  /** Takes the open transaction back. */
  rollback(): void;
  /** Runs work under a savepoint; what it throws is thrown again, and what it wrote is taken back. */
  savepoint<T>(work: () => T): T;
  /** The same for the first work of a transaction, without a savepoint: the transaction is taken back, and must be begun again. */
  firstWork<T>(work: () => T): T;
}

/** A store with tables of the application. */
interface StoreWithTables extends Store, ReducingStore {
  migrate(steps: readonly TableMigration[], nowMs: number): void;
  sql(sql: string, params: readonly SqlValue[]): SqlRow[];
}

const hasTables = (store: Store): store is StoreWithTables => "savepoint" in store && "migrate" in store;

const NO_TABLES = "this store has no tables: reducers and migrations need a store in SQLite (a path)";

/** The application's tables in a store. */
export function tablesOf(store: Store): Database {
  if (!hasTables(store)) throw new TypeError(NO_TABLES);
  return store.tables;
}

/** The rows of a statement that reads. */
export function sqlOf(store: Store, sql: string, params: readonly SqlValue[]): SqlRow[] {
  if (!hasTables(store)) throw new TypeError(NO_TABLES);
  return store.sql(sql, params);
}

/** What runs the reducers of a batch. */
export type ReducerRunner = Pick<Reducing, "run" | "ended">;

/** What the engine's options say of reducers; the tables are brought to their newest step. */
export function reducingOf(store: Store, options: EmbeddedEngineOptions): ReducerRunner {
  const { reducers, migrations, reducing } = options;
  if (reducing !== undefined) return reducing;
  if (reducers === undefined && migrations === undefined) return NO_REDUCERS;
  if (!hasTables(store)) throw new TypeError(NO_TABLES);
  const payloads = reducers === undefined ? undefined : new ReducerPayloads(options);
  if (migrations !== undefined) store.migrate(migrations, Date.now());
  return reducers === undefined ? NO_REDUCERS : new Reducing(store, reducers, payloads!);
}

/** In place of reducers where there are none: the tasks fail. */
export const NO_REDUCERS: ReducerRunner = {
  ended() {},
  run(tasks, engine) {
    const failure = encodeFailure(new ReducerError("this engine was opened without reducers: open({ path, reducers })"));
    for (const { requestId } of tasks) engine.transacted({ requestId, results: [], failure });
    return undefined;
  },
};

/** The only reducer of a task has thrown, and its wait is answered with that: what it wrote goes with the task's savepoint. */
class Answered extends Error {
  readonly result: TransactResult;

  constructor(result: TransactResult) {
    super("a reducer threw an error");
    this.result = result;
  }
}

/** The core did not take the completion. */
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

  /** Runs the reducers of some tasks, each task under a savepoint. Answers what the store failed with; then the batch has failed. */
  run(tasks: readonly TransactTask[], engine: CoreEngine): StoreError | undefined {
    try {
      for (const task of tasks) this.#task(task, engine);
    } catch (e) {
      this.ended(false);
      if (e instanceof StoreError) return e;
      throw e;
    }
  }

  /** The batch was committed, or its transaction is taken back. */
  ended(committed: boolean): void {
    if (!this.#begun) return;
    this.#begun = false;
    if (!committed) this.#store.rollback();
  }

  /** One savepoint for the task, and one for each of its reducers if it has several: what one wrote is taken back alone. */
  #task({ requestId, calls }: TransactTask, engine: CoreEngine): void {
    const taken = (results: TransactResult[]) => engine.transacted({ requestId, results, failure: NO_BYTES });
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

  /** The first task of a transaction needs no savepoint: nothing lies before it that would have to stay. */
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
    const reduced = () => this.#payloads.result(reduce(this.#reducers, name, this.#store.tables, args()));
    try {
      return { result: apart ? this.#store.savepoint(reduced) : reduced(), failure: NO_BYTES, awaited };
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
