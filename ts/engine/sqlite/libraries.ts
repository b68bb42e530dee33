// Chooses a SQLite library from those that the runtime has.
import { StoreError } from "../store_errors.ts";
import type { Builtins } from "./builtins.ts";
import type { DriverName, SqlLibrary } from "./driver.ts";
import { libsqlLibrary } from "./drivers/libsql.ts";
import { nodeLibrary } from "./drivers/node.ts";
import { wasmLibrary } from "./drivers/wasm.ts";

export const DRIVER_NAMES: readonly DriverName[] = ["node:sqlite", "libsql", "node-sqlite3-wasm"];

const LOADERS: { readonly [name in DriverName]: (builtins: Builtins) => SqlLibrary | undefined } = {
  "node:sqlite": nodeLibrary,
  "libsql": libsqlLibrary,
  "node-sqlite3-wasm": wasmLibrary,
};

/** Returns the named library, or the first that is present. */
export function loadLibrary(builtins: Builtins, name?: DriverName): SqlLibrary {
  for (const candidate of name === undefined ? DRIVER_NAMES : [name]) {
    const library = LOADERS[candidate]?.(builtins);
    if (library !== undefined) return library;
  }
  throw new StoreError(
    name === undefined
      ? "no SQLite library was found: use Node 22.5 or newer or Deno, or install the package libsql or node-sqlite3-wasm"
      : `the SQLite library ${name} is not available in this runtime (known libraries: ${
        DRIVER_NAMES.join(", ")
      })`,
  );
}
