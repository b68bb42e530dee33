// node:sqlite: built into Node (>= 22.5) and Deno.
import type * as Sqlite from "node:sqlite";
import type { Builtins } from "../builtins.ts";
import type { SqlDatabase, SqlLibrary, SqlRow, SqlValue } from "../driver.ts";

const EMPTY = new Uint8Array(0);
const isEmpty = (value: SqlValue): boolean => value instanceof Uint8Array && value.length === 0;

/** Node 22 binds an empty blob that it has read as NULL; a new one is bound correctly. */
function bound(params: readonly SqlValue[]): readonly SqlValue[] {
  return params.some(isEmpty) ? params.map((value) => isEmpty(value) ? EMPTY : value) : params;
}

export function nodeLibrary(builtins: Builtins): SqlLibrary | undefined {
  let sqlite: typeof Sqlite | undefined;
  try {
    sqlite = builtins.get("node:sqlite") as typeof Sqlite | undefined;
  } catch {
    // Node < 22.5, or a runtime without the module.
  }
  if (sqlite?.DatabaseSync === undefined) return undefined;
  const { DatabaseSync } = sqlite;
  const hides = iterateHidesErrors(DatabaseSync);
  return {
    name: "node:sqlite",
    nativeLocks: true,
    open: (path) => wrap(bounded(new DatabaseSync(path)), hides),
  };
}

let hidesErrors: boolean | undefined;

/**
 * In Deno 2.9 the rows of `iterate` end at an error as if they were complete. Asked of the library
 * itself, because a later Deno may throw.
 */
function iterateHidesErrors(DatabaseSync: typeof Sqlite.DatabaseSync): boolean {
  if (hidesErrors !== undefined) return hidesErrors;
  const database = new DatabaseSync(":memory:");
  try {
    const overflow = database.prepare("SELECT abs(-9223372036854775808)");
    for (const _ of overflow.iterate?.() ?? []);
    hidesErrors = true;
  } catch {
    hidesErrors = false;
  } finally {
    database.close();
  }
  return hidesErrors;
}

/** Limit of one value or row, below V8's string limit of 2^29 characters. */
const MOST_VALUE_BYTES = 500_000_000;

/** Node has `limits` since version 24. */
function bounded(database: Sqlite.DatabaseSync): Sqlite.DatabaseSync {
  const { limits } = database as { limits?: { length?: number } };
  if (limits !== undefined && typeof limits.length === "number") limits.length = MOST_VALUE_BYTES;
  return database;
}

function wrap(database: Sqlite.DatabaseSync, hides: boolean): SqlDatabase {
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        run: (params) => Number(statement.run(...bound(params)).changes),
        get: (params) => statement.get(...bound(params)) as SqlRow | undefined,
        all: (params) => statement.all(...bound(params)) as SqlRow[],
        // Since Node 22.13.
        ...(typeof statement.iterate === "function" && {
          *iterate(params) {
            yield* statement.iterate(...bound(params)) as Iterable<SqlRow>;
            // The rows ended: `all` throws the error that ended them, if there was one.
            if (hides) statement.all(...bound(params));
          },
        }),
      };
    },
    close: () => database.close(),
  };
}
