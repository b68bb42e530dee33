// libsql: an optional package with prebuilt native code. For Node before 22.5.
import type { Builtins } from "../builtins.ts";
import type { SqlDatabase, SqlLibrary, SqlRow, SqlValue } from "../driver.ts";

type LibsqlRow = { [column: string]: string | number | null | ArrayBuffer | Uint8Array };
interface LibsqlStatement {
  run(params: readonly SqlValue[]): { changes: number };
  get(params: readonly SqlValue[]): LibsqlRow | undefined;
  all(params: readonly SqlValue[]): LibsqlRow[];
  iterate(params: readonly SqlValue[]): Iterable<LibsqlRow>;
}
interface LibsqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): LibsqlStatement;
  close(): void;
}

export function libsqlLibrary(builtins: Builtins): SqlLibrary | undefined {
  let Database: new (path: string) => LibsqlDatabase;
  try {
    Database = builtins.module.createRequire(import.meta.url)("libsql") as typeof Database;
  } catch {
    // Not installed, no binary for this platform, or a runtime without native modules.
    return undefined;
  }
  return { name: "libsql", nativeLocks: true, open: (path) => wrap(bounded(new Database(path))) };
}

/**
 * A text of 2^29 characters or more crashes the process: V8 has no such strings, and the library
 * does not check. SQLite's memory limit, shared by all connections of the library, is lower, so
 * such a value fails with "out of memory".
 */
const MOST_HEAP_BYTES = 500_000_000;

function bounded(database: LibsqlDatabase): LibsqlDatabase {
  database.exec(`PRAGMA hard_heap_limit=${MOST_HEAP_BYTES}`);
  return database;
}

/**
 * Blobs come as Buffer from `get` and as ArrayBuffer from `all`; both become Uint8Arrays over the
 * same memory.
 */
function row(raw: LibsqlRow): SqlRow {
  const made: { [column: string]: SqlValue } = {};
  for (const column in raw) {
    if (column === "_metadata") continue;
    const value = raw[column]!;
    if (value instanceof ArrayBuffer) made[column] = new Uint8Array(value);
    else if (value instanceof Uint8Array) {
      made[column] = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    } else made[column] = value;
  }
  return made;
}

function resetEarly(statement: LibsqlStatement, params: readonly SqlValue[]): void {
  try {
    statement.get(params);
  } catch {
    // The caller gets its own error; a statement that failed is reset.
  }
}

function wrap(database: LibsqlDatabase): SqlDatabase {
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      let statement = database.prepare(sql);
      // The library's `get` binds to the statement as it was left, and only `get` leaves it reset.
      // After other methods and errors, SQLite would keep the previous values, so the statement is
      // prepared again.
      let isReset = true;
      const leaving = () => {
        isReset = false;
        return statement;
      };
      return {
        run: (params) => leaving().run(params).changes,
        get(params) {
          if (!isReset) statement = database.prepare(sql);
          const found = leaving().get(params);
          isReset = true;
          return found === undefined ? undefined : row(found);
        },
        all: (params) => leaving().all(params).map(row),
        *iterate(params) {
          const rows = leaving().iterate(params);
          let ended = false;
          try {
            for (const raw of rows) yield row(raw);
            ended = true;
          } finally {
            // The library keeps a statement that was not read to its end open, which keeps the log
            // from being checkpointed. `get` reads one more row and resets it.
            if (!ended) resetEarly(statement, params);
          }
        },
      };
    },
    close: () => database.close(),
  };
}
