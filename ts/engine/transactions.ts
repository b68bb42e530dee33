// Transactions of the application: functions that change its tables and send messages to workflows.
// They run when a batch is closed, in the transaction that commits the batch, each under a savepoint.
import { StoreBusyError, StoreError } from "./store_errors.ts";
import type { Database } from "./tables/database.ts";
import { unfinishedOf } from "./tables/reducers.ts";
import {
  type MessageHost,
  MessageTrial,
  type TransactionBroadcast,
  type TransactionCall,
  TransactionError,
  TransactionMessages,
} from "./transaction_messages.ts";

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

export const NO_TABLES =
  "this store has no tables: reducers and migrations need a store in SQLite (a path)";

const noTables = (): never => {
  throw new TypeError(NO_TABLES);
};

/** The transaction of the next commit. Reducers and application transactions of a batch share it. */
export class CommitTransaction {
  readonly #store: ReducingStore | undefined;
  #begun = false;
  #running = false;

  /** `store` is undefined for stores without tables: then nothing is rolled back. */
  constructor(store: ReducingStore | undefined) {
    this.#store = store;
  }

  /** The application's tables; a handle that throws if the store has none. */
  get tables(): Database {
    return this.#store?.tables ?? { run: noTables, get: noTables, all: noTables };
  }

  /**
   * Runs work in the transaction. An error rolls back its writes; a StoreError means that the
   * whole transaction is lost.
   */
  during<T>(work: () => T): T {
    this.#running = true;
    try {
      return this.#under(work);
    } finally {
      this.#running = false;
    }
  }

  /** Whether a function of the application runs in the transaction. */
  get isRunning(): boolean {
    return this.#running;
  }

  #under<T>(work: () => T): T {
    const store = this.#store;
    if (store === undefined) return work();
    if (this.#begun) return store.savepoint(work);
    store.begin();
    this.#begun = true;
    try {
      // The first work needs no savepoint: no earlier writes have to stay.
      return store.firstWork(work);
    } catch (e) {
      this.#begun = false;
      throw e;
    }
  }

  /** The batch was committed, or is rolled back. Returns whether there was a transaction. */
  ended(committed: boolean): boolean {
    const begun = this.#begun;
    this.#begun = false;
    if (begun && !committed) this.#store?.rollback();
    return begun;
  }
}

/** How the messages of a transaction reach the engine. */
export interface MessageScope {
  readonly call: TransactionCall;
  readonly broadcast: TransactionBroadcast;
}

/** Creates the `workflows` of one transaction. */
export type WorkflowsFactory = (scope: MessageScope) => object;

/** A database whose `workflows` send messages that are committed with its rows. */
export interface TransactionDatabase extends Database {
  /** Throws a TransactionError if the engine was opened without a client. */
  readonly workflows: object;
}

/**
 * Returns the database of one transaction or reducer: `workflows` sends messages that are committed
 * with its rows.
 */
export function transactionDatabase(
  tables: Database,
  scope: MessageScope,
  workflows: WorkflowsFactory | undefined,
): TransactionDatabase {
  let made: object | undefined;
  return {
    run: (sql, ...params) => tables.run(sql, ...params),
    get: (sql, ...params) => tables.get(sql, ...params),
    all: (sql, ...params) => tables.all(sql, ...params),
    get workflows() {
      if (workflows === undefined) {
        throw new TransactionError(
          "db.workflows is not available: this engine has no client. Reducers can send messages to " +
            "workflows in an application of open(), and in a TestEnvironment",
        );
      }
      return made ??= workflows(scope);
    },
  };
}

interface Transaction {
  readonly work: (database: TransactionDatabase) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  value?: unknown;
}

/** The transactions of an engine: waiting for the next batch, or run in the open one. */
export class Transactions {
  readonly #host: MessageHost;
  readonly #commit: CommitTransaction;
  readonly #workflows: WorkflowsFactory | undefined;
  #waiting: Transaction[] = [];
  #ran: Transaction[] = [];

  constructor(
    host: MessageHost,
    commit: CommitTransaction,
    workflows: WorkflowsFactory | undefined,
  ) {
    this.#host = host;
    this.#commit = commit;
    this.#workflows = workflows;
  }

  /** Adds a transaction to the next batch. Resolves with its value after the commit. */
  add<T>(work: (database: TransactionDatabase) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  /** Whether the open batch has a transaction that must be committed. */
  get hasRun(): boolean {
    return this.#ran.length > 0;
  }

  /**
   * Runs the waiting transactions. Returns the error if the store failed, or a message of an
   * accepted transaction was rejected; the batch is lost then.
   */
  run(): Error | undefined {
    const trial = new MessageTrial(this.#host);
    try {
      return this.#runAll(trial);
    } finally {
      trial.end();
    }
  }

  #runAll(trial: MessageTrial): Error | undefined {
    for (let one = this.#waiting.shift(); one !== undefined; one = this.#waiting.shift()) {
      const messages = new TransactionMessages(this.#host, trial);
      try {
        const { work } = one;
        const database = transactionDatabase(this.#commit.tables, messages, this.#workflows);
        one.value = this.#commit.during(() =>
          messages.during(() => runSynchronously(() => work(database)))
        );
      } catch (thrown) {
        if (this.#host.engine.poisoned) {
          // The engine replaces its core, and `lost` rejects the transaction.
          this.#ran.push(one);
          throw thrown;
        }
        messages.withdraw();
        const error = messages.trouble ?? thrown;
        if (error instanceof StoreError) {
          // A locked store is tried again: nothing of the function was kept.
          if (error instanceof StoreBusyError) this.#waiting.unshift(one);
          else this.#ran.push(one);
          return error;
        }
        one.reject(error instanceof Thrown ? error.error : error as Error);
        continue;
      }
      this.#ran.push(one);
      const refused = messages.enter();
      if (refused !== undefined) return refused;
    }
    return undefined;
  }

  /** The batch is committed. */
  committed(): void {
    const ran = this.#ran;
    this.#ran = [];
    for (const { resolve, value } of ran) resolve(value);
  }

  /** The batch is lost, with the transactions that have run. `all`: waiting ones as well. */
  lost(error: Error, all: boolean): void {
    const lost = all ? [...this.#ran, ...this.#waiting] : this.#ran;
    this.#ran = [];
    if (all) this.#waiting = [];
    for (const { reject } of lost) reject(error);
  }
}

/** A StoreError that a function has thrown: the store of the engine has not failed. */
class Thrown extends Error {
  readonly error: StoreError;

  constructor(error: StoreError) {
    super("a function threw a StoreError");
    this.error = error;
  }
}

/** Runs a function and throws a TransactionError if it returns a promise or a generator. */
function runSynchronously<T>(work: () => T): T {
  let value: T;
  try {
    value = work();
  } catch (error) {
    throw error instanceof StoreError ? new Thrown(error) : error;
  }
  const unfinished = unfinishedOf(value);
  if (unfinished === undefined) return value;
  throw new TransactionError(
    unfinished === "a promise"
      ? "a transaction returned a promise and was rolled back: its function must be synchronous; do asynchronous work before or after it"
      : "a transaction returned a generator and was rolled back: the body of a generator function has not run; use a function without *",
  );
}
