// What the SQLite store needs of a SQLite library, and the choice of one. The interface is as small as the SQL needs it: parameters by
// position, rows as objects, integers and times as numbers, blobs as Uint8Array. Drivers throw the library's own errors.
import { StoreError } from "../store_errors.ts";
import type { Builtins } from "./builtins.ts";
import { libsqlLibrary } from "./drivers/libsql.ts";
import { nodeLibrary } from "./drivers/node.ts";
import { wasmLibrary } from "./drivers/wasm.ts";

export type SqlValue = string | number | Uint8Array | null;
export type SqlRow = { readonly [column: string]: SqlValue };

export interface SqlStatement {
  /** Runs it to its end; answers the number of changed rows. */
  run(params: readonly SqlValue[]): number;
  get(params: readonly SqlValue[]): SqlRow | undefined;
  all(params: readonly SqlValue[]): SqlRow[];
}

export interface SqlDatabase {
  /** One or more statements without parameters or results. */
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
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
export const DRIVER_NAMES: readonly DriverName[] = ["node:sqlite", "libsql", "node-sqlite3-wasm"];

const LOADERS: { readonly [name in DriverName]: (builtins: Builtins) => SqlLibrary | undefined } = {
  "node:sqlite": nodeLibrary,
  "libsql": libsqlLibrary,
  "node-sqlite3-wasm": wasmLibrary,
};

/** The named library, or the first that is present. */
export function loadLibrary(builtins: Builtins, name?: DriverName): SqlLibrary {
  for (const candidate of name === undefined ? DRIVER_NAMES : [name]) {
    const library = LOADERS[candidate]?.(builtins);
    if (library !== undefined) return library;
  }
  throw new StoreError(
    name === undefined
      ? "no SQLite library was found: use Node 22.5 or newer or Deno, or install the package libsql or node-sqlite3-wasm"
      : `the SQLite library ${name} is not available in this runtime (there are ${DRIVER_NAMES.join(", ")})`,
  );
}
