// A store whose driver locks the file for one process (node-sqlite3-wasm), for a query: the file and its log as they are at one moment. SQLite is
// not at work between two turns of the process that holds it, so what is copied in one turn is what was committed; frames of a transaction
// that is open have no commit behind them, and a reader passes over them.
import { constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoreError } from "../../engine/store_errors.ts";

/** Of file and log together: about half a second in which the engine stands still. */
const MOST_BYTES = 512 * 1024 * 1024;

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** To be called in the process that holds the store. The copy is for its owner alone, and removed after `use`. */
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
      if (existsSync(`${path}${end}`)) copyFileSync(`${path}${end}`, `${copy}${end}`, constants.COPYFILE_FICLONE);
    }
    return await use(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
