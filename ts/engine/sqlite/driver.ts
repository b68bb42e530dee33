// What the SQLite store needs from a SQLite library: parameters by position, rows as objects,
// integers and times as numbers, blobs as Uint8Array. Drivers throw the library's errors. Public
// types reach this file, so it uses no types of Node.

/** A value of a parameter or a column. */
export type SqlValue = string | number | Uint8Array | null;
const hasNul = (value: SqlValue) => typeof value === "string" && value.includes("\0");

/**
 * For libraries in which text ends at its first NUL. The core rejects ids and names with a NUL; in
 * search attributes and timer names it is replaced, in rows and in compared values alike.
 */
export function withoutNul(params: readonly SqlValue[]): readonly SqlValue[] {
  return params.some(hasNul)
    ? params.map((value) => hasNul(value) ? (value as string).replaceAll("\0", "\ufffd") : value)
    : params;
}

/** A row: values by column. */
export type SqlRow = { readonly [column: string]: SqlValue };

export interface SqlStatement {
  /** Runs the statement to its end and returns the number of changed rows. */
  run(params: readonly SqlValue[]): number;
  get(params: readonly SqlValue[]): SqlRow | undefined;
  all(params: readonly SqlValue[]): SqlRow[];
  /**
   * Rows one by one, for results without a bound. The statement must not be used otherwise
   * meanwhile.
   */
  iterate?(params: readonly SqlValue[]): Iterable<SqlRow>;
  /** Frees the statement, for libraries whose memory is not garbage collected. */
  close?(): void;
}

export interface SqlDatabase {
  /** Runs statements without parameters or results. */
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  /** Called before SQLite switches to a write-ahead log, for libraries that need preparation. */
  beforeLog?(): void;
  close(): void;
}

export interface SqlLibrary {
  readonly name: DriverName;
  /**
   * File locks are the operating system's: they end with the process, and other native libraries
   * respect them.
   */
  readonly nativeLocks: boolean;
  open(path: string): SqlDatabase;
}

/**
 * node:sqlite (Node >= 22.5, Deno), libsql (optional package, for Node 20), node-sqlite3-wasm
 * (otherwise in Node).
 */
export type DriverName = "node:sqlite" | "libsql" | "node-sqlite3-wasm";
