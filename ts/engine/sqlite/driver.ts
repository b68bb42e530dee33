// What the SQLite store needs of a SQLite library. The interface is as small as the SQL needs it: parameters by
// position, rows as objects, integers and times as numbers, blobs as Uint8Array. Drivers throw the library's own errors. No type of Node's is
// named here: the public types reach this file, and whoever compiles against them need not have Node's.

/** A value of a parameter or a column. */
export type SqlValue = string | number | Uint8Array | null;
const hasNul = (value: SqlValue) => typeof value === "string" && value.includes("\0");

/**
 * For libraries in which a text ends at its first NUL. The core refuses ids and names with one; in the texts that runs are found by and
 * shown with (search attributes, names of timers) it is replaced, in rows and in what they are compared with alike.
 */
export function withoutNul(params: readonly SqlValue[]): readonly SqlValue[] {
  return params.some(hasNul)
    ? params.map((value) => hasNul(value) ? (value as string).replaceAll("\0", "\ufffd") : value)
    : params;
}

/** A row: values by column. */
export type SqlRow = { readonly [column: string]: SqlValue };

export interface SqlStatement {
  /** Runs it to its end; answers the number of changed rows. */
  run(params: readonly SqlValue[]): number;
  get(params: readonly SqlValue[]): SqlRow | undefined;
  all(params: readonly SqlValue[]): SqlRow[];
  /** One row after the other, for answers that may have no end. Nothing else is asked of the statement meanwhile. */
  iterate?(params: readonly SqlValue[]): Iterable<SqlRow>;
  /** Gives its memory back; it is not used any more. For libraries whose memory the runtime does not collect. */
  close?(): void;
}

export interface SqlDatabase {
  /** One or more statements without parameters or results. */
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  /** Called before SQLite is told to write a log from now on, for libraries that must be helped with it. */
  beforeLog?(): void;
  close(): void;
}

export interface SqlLibrary {
  readonly name: DriverName;
  /** File locks of this library are the operating system's: they end with the process, and other native libraries respect them. */
  readonly nativeLocks: boolean;
  open(path: string): SqlDatabase;
}

/** node:sqlite (Node >= 22.5, Deno), libsql (the optional package, for Node 20), node-sqlite3-wasm (everywhere else in Node). */
export type DriverName = "node:sqlite" | "libsql" | "node-sqlite3-wasm";
