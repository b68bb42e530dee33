// SQLite's WASM build on the origin private file system, through its "SAH pool": a folder of files
// with opaque names, all opened at once and exclusively, for synchronous access. Only in a
// dedicated worker. If a pool cannot be opened (a killed tab holds its files a little longer), the
// library by default removes the folder: `preserveOnInitFailure` must be set. File system errors
// appear only in its log.
import type { SAHPoolUtil, Sqlite3Static } from "@sqlite.org/sqlite-wasm";
import {
  StoreBusyError,
  StoreError,
  StoreFullError,
  StoreUnavailableError,
} from "../../store_errors.ts";

/**
 * URL of the library's binary, for bundlers that do not find it. Default: `sqlite3.wasm` next to
 * the library's code.
 */
export interface SqliteWasmOptions {
  readonly sqliteWasm?: string | undefined;
}

let loading: Promise<Sqlite3Static> | undefined;
let complaint: Error | undefined;

/** Returns and clears the last error of the file system during SQLite's calls. */
export function takeComplaint(): Error | undefined {
  const taken = complaint;
  complaint = undefined;
  return taken;
}

function listen(...parts: unknown[]): void {
  for (const part of parts) if (part instanceof Error) complaint = part;
}

/** Loads SQLite once. */
export function loadSqlite({ sqliteWasm }: SqliteWasmOptions = {}): Promise<Sqlite3Static> {
  loading ??= (async () => {
    (globalThis as { sqlite3ApiConfig?: unknown }).sqlite3ApiConfig = {
      error: listen,
      warn: listen,
      log: () => {},
    };
    const { default: init } = await import("@sqlite.org/sqlite-wasm");
    const start = init as unknown as (
      options: { locateFile?: () => string },
    ) => Promise<Sqlite3Static>;
    const restore = withoutSharedMemory();
    try {
      return await start(sqliteWasm === undefined ? {} : { locateFile: () => sqliteWasm });
    } catch (e) {
      loading = undefined;
      throw new StoreUnavailableError(
        `SQLite could not be loaded (${
          (e as Error).message
        }): serve the file sqlite3.wasm of @sqlite.org/sqlite-wasm next to the ` +
          `bundled code, or set sqliteWasm to its URL; a content security policy needs script-src 'wasm-unsafe-eval'`,
        "unsupported",
        { cause: e },
      );
    } finally {
      restore();
    }
  })();
  return loading;
}

/**
 * In an isolated page the library would also set up its other file system, which starts a worker
 * from a file that is not served. It does so if SharedArrayBuffer exists, which this worker does
 * not use. Returns a function that restores SharedArrayBuffer.
 */
function withoutSharedMemory(): () => void {
  const shared = Object.getOwnPropertyDescriptor(globalThis, "SharedArrayBuffer");
  if (shared?.configurable !== true) return () => {};
  Reflect.deleteProperty(globalThis, "SharedArrayBuffer");
  return () => void Object.defineProperty(globalThis, "SharedArrayBuffer", shared);
}

/** How long files may stay in use after their owner was killed, in ms. */
const BUSY_MS = 10_000;
const POLL_MS = 25;
/** The database, its log, its journal, and spare files for SQLite's temporary ones. */
const CAPACITY = 6;
let pools = 0;

/** Opens the pool in a folder, waiting for files that are still in use. */
export async function openPool(
  sqlite: Sqlite3Static,
  directory: string,
  waitMs = BUSY_MS,
): Promise<SAHPoolUtil> {
  const until = performance.now() + waitMs;
  for (;;) {
    const name = `temporalex-${++pools}`;
    try {
      const options = { name, directory, initialCapacity: CAPACITY, preserveOnInitFailure: true };
      const pool = await sqlite.installOpfsSAHPoolVfs(options);
      await pool.reserveMinimumCapacity(CAPACITY);
      return pool;
    } catch (e) {
      takeComplaint();
      const inUse = e instanceof DOMException &&
        (e.name === "NoModificationAllowedError" || e.name === "InvalidStateError");
      if (!inUse) throw poolError(e as Error, directory);
      if (performance.now() > until) {
        throw new StoreBusyError(
          `the files of ${directory} are still in use after ${
            waitMs / 1000
          } s: another tab of this site has them open without the lock, ` +
            "or does not respond. Close the other tabs of this site and retry.",
          { cause: e },
        );
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

function poolError(e: Error, directory: string): Error {
  if (e.name === "QuotaExceededError") return quotaError(`cannot open ${directory}`, e);
  if (e.name === "SecurityError" || e.name === "NotAllowedError") {
    return new StoreUnavailableError(
      `the browser denies access to files (${e.message}), for example in a private window or with blocked site data: use an ordinary window`,
      "blocked",
      { cause: e },
    );
  }
  return new StoreError(`cannot open ${directory}: ${e.message}`, { cause: e });
}

/** The error for an exhausted quota of the site. */
export function quotaError(doing: string, e: Error): StoreError {
  return new StoreFullError(
    `${doing}: the storage quota of this site is used up (${e.message}). Acknowledged changes are safe; free space on the ` +
      "device, or raise the quota, and the store continues. Removing runs needs some space too: purge in time.",
    { cause: e },
  );
}
