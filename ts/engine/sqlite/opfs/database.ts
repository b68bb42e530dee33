// Adapts a database of SQLite's WASM build to the driver interface.
import type {
  BindingSpec,
  Database,
  PreparedStatement,
  SAHPoolUtil,
  Sqlite3Static,
} from "@sqlite.org/sqlite-wasm";
import { StoreFullError } from "../../store_errors.ts";
import { boundedRows, type SqlLimits, tooLong } from "../bounded_rows.ts";
import {
  type SqlDatabase,
  type SqlRow,
  type SqlStatement,
  type SqlValue,
  withoutNul,
} from "../driver.ts";
import { quotaError, takeComplaint } from "./pool.ts";

/** SQLite calls the progress handler after this many steps, a fraction of a millisecond. */
const OPERATIONS = 10_000;

export class OpfsDatabase implements SqlDatabase {
  readonly #database: Database;
  readonly #sqlite: Sqlite3Static;
  readonly #changes: () => number;
  /** Limits of the running statements of a page. */
  #limits: SqlLimits | undefined;
  readonly #open = new Set<PreparedStatement>();

  /** Opens or creates a file of the pool. */
  constructor(sqlite: Sqlite3Static, pool: SAHPoolUtil, file: string) {
    this.#sqlite = sqlite;
    const Opened = pool.OpfsSAHPoolDb as unknown as new (name: string, flags: string) => Database;
    this.#database = new Opened(file, "c");
    this.#changes = () => sqlite.capi.sqlite3_changes(this.#database.pointer!);
    // The pool has no shared memory: a write-ahead log needs the exclusive mode before anything
    // else.
    this.#database.exec("PRAGMA locking_mode=exclusive");
  }

  exec(sql: string): void {
    attempt(() => void this.#database.exec(sql));
  }

  prepare(sql: string): SqlStatement {
    const statement = attempt(() => this.#database.prepare(sql));
    this.#open.add(statement);
    const use = <T>(params: readonly SqlValue[], call: () => T): T =>
      attempt(() => {
        try {
          if (params.length > 0) statement.bind(withoutNul(params) as unknown as BindingSpec);
          return call();
        } finally {
          settle(statement);
        }
      });
    return {
      run: (params) =>
        use(params, () => {
          while (statement.step());
          return this.#changes();
        }),
      get: (params) => use(params, () => (statement.step() ? row(statement) : undefined)),
      all: (params) =>
        use(params, () => {
          if (this.#limits !== undefined) {
            return boundedRows({ iterate: () => rowsOf(statement) }, [], this.#limits);
          }
          return [...rowsOf(statement)];
        }),
      close: () => {
        this.#open.delete(statement);
        statement.finalize();
      },
    };
  }

  /**
   * Runs `work`. A statement with too large a result or too long a run time throws a SqlLimitError.
   */
  within<T>(limits: SqlLimits, work: () => T): T {
    const { capi } = this.#sqlite;
    const until = performance.now() + limits.ms;
    let over = false;
    const look = () => {
      over = performance.now() > until;
      return over ? 1 : 0;
    };
    capi.sqlite3_progress_handler(this.#database.pointer!, OPERATIONS, look, 0);
    this.#limits = limits;
    try {
      return work();
    } catch (e) {
      throw over ? tooLong(limits.ms) : e;
    } finally {
      this.#limits = undefined;
      capi.sqlite3_progress_handler(this.#database.pointer!, 0, 0, 0);
    }
  }

  close(): void {
    for (const statement of this.#open) statement.finalize();
    this.#open.clear();
    this.#database.close();
  }
}

function* rowsOf(statement: PreparedStatement): Generator<SqlRow, void, void> {
  while (statement.step()) yield row(statement);
}

function row(statement: PreparedStatement): SqlRow {
  return statement.get({}) as SqlRow;
}

/** Resets a statement for its next use. After a failure `reset` throws the same error again. */
function settle(statement: PreparedStatement): void {
  try {
    statement.reset(true);
  } catch {
    // Already reported.
  }
}

/**
 * SQLite reports any failure of its file system as "disk I/O error"; the cause comes from the pool.
 */
function attempt<T>(work: () => T): T {
  takeComplaint();
  try {
    return work();
  } catch (e) {
    const complaint = takeComplaint();
    if (e instanceof StoreFullError || complaint === undefined) throw e;
    // Some browsers return a short write instead of a quota error.
    const full = complaint.name === "QuotaExceededError" ||
      /Unknown write\(\) failure/.test(complaint.message);
    throw full
      ? quotaError("writing failed", complaint)
      : new Error(`${(e as Error).message} (${complaint.message})`, { cause: e });
  }
}
