// The database as reducers, activities and the application use it: the application's tables in the
// store's file. The engine controls transactions; its own tables are read-only.
import type { SqlDatabase, SqlRow, SqlStatement, SqlValue } from "../sqlite/driver.ts";
import { outsideName } from "../sqlite/sql_pieces.ts";

export type { SqlRow, SqlValue };

/** Reads and writes of the application's tables in the store's file. Synchronous. */
export interface Database {
  /** Runs a statement that changes rows; returns the number of changed rows. */
  run(sql: string, ...params: SqlValue[]): number;
  /** Returns the first row of a query; undefined if the result is empty. */
  get<T extends object = SqlRow>(sql: string, ...params: SqlValue[]): T | undefined;
  /** Returns all rows of a query. */
  all<T extends object = SqlRow>(sql: string, ...params: SqlValue[]): T[];
}

/**
 * A statement or value that this database rejects, tables that it does not offer, or a call that is
 * not possible inside a transaction.
 */
export class DatabaseError extends Error {
  override name = "DatabaseError";
}

/** Throws if a transaction is open, which the call would end. */
export function refuseInTransaction(isOpen: boolean, call: string): void {
  if (!isOpen) return;
  throw new DatabaseError(
    `${call} is not possible inside a transaction or reducer: do it before or after`,
  );
}

/** The engine's tables in the same file. */
export const OWN_TABLES: readonly string[] = [
  "store",
  "migrations",
  "runs",
  "history",
  "items",
  "search_attributes",
  "waits",
  "run_states",
  "table_migrations",
  "temporalex_schedules",
  "temporalex_batch_operations",
  "temporalex_deployments",
  "temporalex_task_queues",
  "temporalex_run_counts",
  "temporalex_activities",
  "temporalex_activity_attributes",
];

/**
 * Texts, quoted names and comments; the first opening delimiter decides, so one inside another is
 * ignored.
 */
const QUOTED =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;
/** Removes comments and the content of texts from a statement; quoted names stay. */
export const bareOf = (sql: string): string =>
  sql.replace(
    QUOTED,
    (found) => found.startsWith("'") ? "''" : /^(?:--|\/\*)/.test(found) ? " " : found,
  ).trim();
const NAME = `["\`\\[]?(?:${OWN_TABLES.join("|")})["\`\\]]?(?![\\w$])`;
/** A schema before the name, quoted or not. */
const SCHEMA = `(?:["\`\\[]?\\w+["\`\\]]?\\s*\\.\\s*)?`;
const WRITES_OWN = new RegExp(
  `\\b(?:into|update(?:\\s+or\\s+\\w+)?|from|join|table(?:\\s+if\\s+(?:not\\s+)?exists)?|on)\\s*${SCHEMA}${NAME}` +
    // The engine's indexes are named after their table and an underscore.
    `|\\bindex(?:\\s+if\\s+(?:not\\s+)?exists)?\\s*${SCHEMA}["\`\\[]?(?:runs|history|items|search_attributes|waits)_`,
  "i",
);
/** Not EXPLAIN: some libraries leave it open, and then SQLite cannot commit. */
const READS = new Set(["SELECT", "VALUES"]);
const CHANGES = new Set(["INSERT", "UPDATE", "DELETE", "REPLACE", "WITH"]);

/** A parameter: `?`, `?1`, `:name`, `@name`, `$name`. */
const PLACE = /\?\d*|(?<![\w$])[:@$]\w+/g;

/** Number of values that a statement needs: a repeated number or name is one parameter. */
function placesOf(sql: string): number {
  const names = new Set<string>();
  let places = 0;
  for (const [place] of sql.replace(QUOTED, " ").matchAll(PLACE)) {
    if (place.length > 1 && place.startsWith("?")) {
      places = Math.max(places, Number(place.slice(1)));
    } else if (place === "?" || !names.has(place)) places++;
    names.add(place);
  }
  return places;
}

/** The statement without comments and texts, and its first word. */
function looked(sql: string): { readonly bare: string; readonly word: string } {
  const bare = bareOf(sql);
  return { bare, word: (/^[a-z]+/i.exec(bare)?.[0] ?? "").toUpperCase() };
}

/** Throws for a statement that reaches outside the store, whatever the library offers. */
export function refuseOutside(sql: string): void {
  const outside = outsideName(sql);
  if (outside !== undefined) {
    throw new DatabaseError(
      `${outside} is not available: it accesses data outside the store (${short(sql)})`,
    );
  }
}

/** Throws for a statement that would write the engine's tables. */
export function refuseOwnTables(sql: string): void {
  const { bare } = looked(sql);
  if (WRITES_OWN.test(bare)) {
    throw new DatabaseError(
      `a statement uses a table of the engine (${OWN_TABLES.join(", ")}): ${short(sql)}`,
    );
  }
}

const short = (sql: string): string => {
  const line = sql.replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 200)}...` : line;
};

const MAX_PREPARED = 200;

interface Prepared {
  readonly statement: SqlStatement;
  readonly writes: boolean;
  /**
   * It returns rows: libraries that take one step of it leave it open, and then SQLite cannot
   * commit.
   */
  readonly rows: boolean;
  readonly places: number;
}

/** Keywords that make a WITH statement a write. Some are also names of functions and columns. */
const WRITES =
  /\b(?:insert\s+(?:or|into)|replace\s+into|update\s+(?:or\s|[\w"`\[])|delete\s+from)/i;
/** Would roll back the engine's transaction, with the work of other workflows. */
const ENDS_TRANSACTION = /\bor\s+rollback\b/i;

const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 63n - 1n;

/**
 * What is wrong with a value; undefined if every library returns it unchanged. Other values crash
 * some libraries.
 */
function problemOf(value: unknown): string | undefined {
  switch (typeof value) {
    case "number":
      return undefined;
    case "string":
      return value.includes("\0")
        ? "is a string with a NUL character, where some libraries truncate it: pass a Uint8Array"
        : undefined;
    case "bigint":
      return value < MIN_INTEGER || value > MAX_INTEGER
        ? "is a bigint of more than 64 bits: pass it as a string"
        : undefined;
    case "boolean":
      return `is ${value}, and SQLite has no booleans: pass 1 or 0`;
    case "undefined":
      return "is undefined: pass null";
    case "object":
      if (value === null || value instanceof Uint8Array) return undefined;
      return `is ${
        value instanceof Date ? "a Date" : "an object"
      }: pass a string, a number, null or a Uint8Array`;
    default:
      return `is a ${typeof value}: pass a string, a number, null or a Uint8Array`;
  }
}

/** Throws a DatabaseError for values that cannot be bound to a statement. */
export function checkValues(sql: string, values: readonly unknown[]): void {
  values.forEach((value, i) => {
    const problem = problemOf(value);
    if (problem !== undefined) throw new DatabaseError(`value ${i + 1} ${problem} (${short(sql)})`);
  });
}

function countsOf(places: number, given: number): string {
  const belong = places === 1 ? "1 value belongs" : `${places} values belong`;
  return `${belong} to this statement, and ${given} ${given === 1 ? "was" : "were"} given`;
}

/**
 * The application's tables over a connection. `mayWrite` returns whether a transaction of the
 * engine is open; `failed` gets the error of a statement, and returns the error to throw.
 */
export class UserTables implements Database {
  readonly #database: SqlDatabase;
  readonly #mayWrite: () => boolean;
  readonly #prepared = new Map<string, Prepared>();
  readonly #failed: (error: unknown) => unknown;
  #changes: SqlStatement | undefined;

  constructor(
    database: SqlDatabase,
    mayWrite: () => boolean,
    failed: (error: unknown) => unknown = (error) => error,
  ) {
    this.#database = database;
    this.#mayWrite = mayWrite;
    this.#failed = failed;
  }

  #forget(): void {
    for (const { statement } of this.#prepared.values()) statement.close?.();
    this.#prepared.clear();
  }

  #statement(sql: string, params: readonly SqlValue[]): Prepared {
    let found = this.#prepared.get(sql);
    if (found === undefined) {
      if (typeof sql !== "string") {
        throw new DatabaseError(`a statement must be a string, not ${typeof sql}`);
      }
      const { bare, word } = looked(sql);
      if (!READS.has(word) && !CHANGES.has(word)) {
        const why = word === "EXPLAIN"
          ? "use app.engine.sql"
          : "the engine controls transactions, and migrations create tables";
        throw new DatabaseError(
          `${word === "" ? "an empty statement" : word} is not for this handle: ${why} (${
            short(sql)
          })`,
        );
      }
      refuseOutside(sql);
      if (/;\s*\S/.test(bare)) {
        throw new DatabaseError(`pass one statement at a time (${short(sql)})`);
      }
      const writes = !READS.has(word) && !(word === "WITH" && !WRITES.test(bare));
      if (writes) refuseOwnTables(sql);
      if (ENDS_TRANSACTION.test(bare)) {
        throw new DatabaseError(
          `OR ROLLBACK would end the engine's transaction: use OR ABORT (${short(sql)})`,
        );
      }
      const rows = !writes || /\breturning\b/i.test(bare);
      if (this.#prepared.size >= MAX_PREPARED) this.#forget();
      found = { statement: this.#database.prepare(sql), writes, rows, places: placesOf(sql) };
      this.#prepared.set(sql, found);
    }
    if (found.writes && !this.#mayWrite()) {
      throw new DatabaseError(
        `only reducers and transactions can write (${short(sql)})`,
      );
    }
    // A library may bind a previous value in place of a missing one.
    if (found.places !== params.length) {
      throw new DatabaseError(`${countsOf(found.places, params.length)} (${short(sql)})`);
    }
    checkValues(sql, params);
    return found;
  }

  #attempt<T>(sql: string, params: readonly SqlValue[], work: (prepared: Prepared) => T): T {
    const prepared = this.#statement(sql, params);
    try {
      return work(prepared);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  run(sql: string, ...params: SqlValue[]): number {
    return this.#attempt(sql, params, ({ statement, writes, rows }) => {
      if (!rows) return statement.run(params);
      statement.all(params);
      if (!writes) return 0;
      this.#changes ??= this.#database.prepare("SELECT changes() AS n");
      return Number(this.#changes.get([])!["n"]);
    });
  }

  get<T extends object = SqlRow>(sql: string, ...params: SqlValue[]): T | undefined {
    const row = this.#attempt(sql, params, ({ statement }) => statement.get(params));
    return row === undefined ? undefined : { ...row } as unknown as T;
  }

  all<T extends object = SqlRow>(sql: string, ...params: SqlValue[]): T[] {
    return this.#attempt(sql, params, ({ statement }) => statement.all(params)).map((row) =>
      ({ ...row }) as unknown as T
    );
  }
}
