// Copies a store whose driver locks the file for one process (node-sqlite3-wasm), for a query.
// SQLite is idle between two turns of the holding process, so a copy within one turn has all
// commits. Readers skip log frames of an open transaction, because no commit follows them.
import { constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoreError } from "../../engine/store_errors.ts";

/** Maximum size of file and log; the engine is blocked for about half a second meanwhile. */
const MOST_BYTES = 512 * 1024 * 1024;

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Call in the process that holds the store. Only the owner can read the copy; it is removed after
 * `use`.
 */
export async function withCopy<T>(path: string, use: (copy: string) => Promise<T>): Promise<T> {
  const bytes = sizeOf(path) + sizeOf(`${path}-wal`);
  if (bytes > MOST_BYTES) {
    throw new StoreError(
      `${path} has ${bytes} bytes, and its driver locks the file for one process, so queries read a copy of at most ${MOST_BYTES} bytes; ` +
        "stop the process and retry, or run it with node:sqlite (Node 22.5 or newer) or libsql",
    );
  }
  const folder = mkdtempSync(join(tmpdir(), "temporalex-sql-"));
  try {
    const copy = join(folder, "store");
    for (const end of ["", "-wal"]) {
      if (existsSync(`${path}${end}`)) {
        copyFileSync(`${path}${end}`, `${copy}${end}`, constants.COPYFILE_FICLONE);
      }
    }
    return await use(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
