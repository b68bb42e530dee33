// A copy of an open store file, in Node and Deno.
import { StoreError } from "../store_errors.ts";
import type { Builtins } from "./builtins.ts";
import type { SqlDatabase } from "./driver.ts";
import { makeFile, removeFolder } from "./own_files.ts";

export function backupFile(
  { fs, path: paths }: Builtins,
  database: SqlDatabase,
  path: string,
): void {
  if (fs.existsSync(path)) {
    throw new StoreError(`${path} already exists; choose a new file for the backup`);
  }
  if (!fs.existsSync(paths.dirname(paths.resolve(path)))) {
    throw new StoreError(`cannot write ${path}: the folder does not exist`);
  }
  // Written under a temporary name first, so that the final name is always a complete copy. SQLite
  // accepts an empty file as a new one.
  const partial = `${path}.${globalThis.crypto.randomUUID()}.partial`;
  makeFile(fs, partial);
  try {
    database.prepare("VACUUM INTO ?").run([partial]);
    const file = fs.openSync(partial, "r+");
    fs.fsyncSync(file);
    fs.closeSync(file);
    fs.renameSync(partial, path);
  } finally {
    fs.rmSync(partial, { force: true });
    // node-sqlite3-wasm makes a lock folder for the copy, too.
    removeFolder(fs, `${partial}.lock`);
  }
}
