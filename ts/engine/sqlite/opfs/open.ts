// A browser's store: one SQLite file in the origin private file system. Requires the store's Web
// Lock (ts/browser). `temporalex/<name>/<generation>/` has a pool and, when its store is complete,
// the empty file `ready`. The highest ready generation is the store. An import fills the next one
// and marks it last, so a killed tab leaves the old or the new store. A marked one without database
// is damaged.
import type { SAHPoolUtil, Sqlite3Static } from "@sqlite.org/sqlite-wasm";
import { StoreCorruptError, StoreError } from "../../store_errors.ts";
import type { SqlLimits } from "../bounded_rows.ts";
import { checkFile } from "../check.ts";
import { storeError } from "../errors.ts";
import { checkHeader, HEADER_BYTES } from "../header.ts";
import { prepare, type StoreFence, type Synchronous } from "../open.ts";
import { type Migration, MIGRATIONS } from "../schema.ts";
import { SqliteStore } from "../store.ts";
import { OpfsDatabase } from "./database.ts";
import { folderName, privateFiles } from "./files.ts";
import { loadSqlite, openPool, type SqliteWasmOptions } from "./pool.ts";

export interface OpfsOptions extends SqliteWasmOptions {
  /** Default: "FULL". */
  readonly synchronous?: Synchronous;
  /** Checks that this engine still holds the store's lock. */
  readonly fence: StoreFence;
  /** For tests of migrations. */
  readonly migrations?: readonly Migration[];
}

const FILE = "/store.db";
const READY = "ready";
const CHUNK = 1 << 20;

/** An open store, with the operations that only browsers need. */
export class OpfsStore {
  readonly store: SqliteStore;
  readonly #sqlite: Sqlite3Static;
  readonly #pool: SAHPoolUtil;
  readonly #folder: FileSystemDirectoryHandle;
  readonly #path: string;
  readonly #generation: number;
  readonly #options: OpfsOptions;
  readonly #database: OpfsDatabase;

  /**
   * Opens or creates the store with this name. Rejects with a StoreUnavailableError,
   * StoreBusyError, StoreFullError, StoreVersionError or another StoreError.
   */
  static async open(name: string, options: OpfsOptions): Promise<OpfsStore> {
    const root = await privateFiles("a worker");
    const sqlite = await loadSqlite(options);
    try {
      const path = `temporalex/${folderName(name)}`;
      const above = await root.getDirectoryHandle("temporalex", { create: true });
      const folder = await above.getDirectoryHandle(folderName(name), { create: true });
      const { ready, highest } = await generations(folder);
      await removeOthers(folder, ready);
      const generation = ready ?? highest + 1;
      const pool = await openPool(sqlite, `${path}/${generation}`);
      let database: OpfsDatabase | undefined;
      try {
        if (ready !== undefined && !pool.getFileNames().includes(FILE)) {
          throw new StoreCorruptError(
            `the store "${name}" is damaged: its database is missing from its folder. Delete it (deleteStore), open it again, and import a backup.`,
          );
        }
        database = new OpfsDatabase(sqlite, pool, FILE);
        prepare(
          database,
          `the store "${name}"`,
          options.synchronous ?? "FULL",
          options.migrations ?? MIGRATIONS,
        );
        // Browsers reserve far more quota for a growing file than is written: a short log saves 25
        // of 38 MB.
        database.exec("PRAGMA wal_autocheckpoint=1000");
        if (ready === undefined) await markReady(folder, generation);
        return new OpfsStore(sqlite, pool, database, folder, path, generation, name, options);
      } catch (e) {
        database?.close();
        pool.pauseVfs();
        throw e;
      }
    } catch (e) {
      throw storeError(e, `cannot open the store "${name}"`);
    }
  }

  private constructor(
    sqlite: Sqlite3Static,
    pool: SAHPoolUtil,
    database: OpfsDatabase,
    folder: FileSystemDirectoryHandle,
    path: string,
    generation: number,
    name: string,
    options: OpfsOptions,
  ) {
    this.#sqlite = sqlite;
    this.#pool = pool;
    this.#database = database;
    this.#folder = folder;
    this.#path = path;
    this.#generation = generation;
    this.#options = options;
    this.store = SqliteStore.over({
      library: "@sqlite.org/sqlite-wasm",
      path: name,
      database,
      synchronous: options.synchronous ?? "FULL",
      readOnly: false,
      fence: {
        check: () => options.fence.check(),
        held: () => options.fence.held(),
        // The database is closed by now; pausing releases the file handles.
        release: () => void pool.pauseVfs(),
      },
      backup() {
        throw new StoreError(
          "a browser has no files to copy a store to: use exportStore(), which returns a Blob",
        );
      },
    });
  }

  /** Runs statements of a page with limits of time and size; the engine waits for them. */
  within<T>(limits: SqlLimits, work: () => T): T {
    return this.#database.within(limits, work);
  }

  /**
   * Returns the store as the bytes of one SQLite file, which Node and Deno can open too.
   * Synchronous, so it is consistent.
   */
  exportFile(): Uint8Array<ArrayBuffer> {
    try {
      this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all([]);
      // Synchronous despite its type.
      return this.#pool.exportFile(FILE) as unknown as Uint8Array<ArrayBuffer>;
    } catch (e) {
      throw storeError(e, `exporting the store "${this.store.path}" failed`);
    }
  }

  /**
   * Writes a file next to the store and checks it: header, version, SQLite's integrity check,
   * invariants between the tables. Rejects with a NotAStoreError, StoreVersionError or
   * StoreCorruptError and removes the file. `adopt` makes it the store of the next `open`.
   */
  async stage(
    file: Blob,
  ): Promise<{ readonly runs: number; adopt(): Promise<void>; discard(): Promise<void> }> {
    const what = "the file to import";
    const header = new Uint8Array(HEADER_BYTES);
    header.set(new Uint8Array(await file.slice(0, HEADER_BYTES).arrayBuffer()));
    const migrations = this.#options.migrations ?? MIGRATIONS;
    checkHeader({ path: what, header, size: file.size, wal: -1, journal: -1 }, migrations);
    const generation = this.#generation + 1;
    const discard = () =>
      this.#folder.removeEntry(String(generation), { recursive: true }).catch(() => {});
    await discard();
    let runs: number;
    try {
      const pool = await openPool(this.#sqlite, `${this.#path}/${generation}`);
      let database: OpfsDatabase | undefined;
      try {
        let at = 0;
        await pool.importDb(FILE, async () => {
          if (at >= file.size) return undefined;
          const chunk = await file.slice(at, at += CHUNK).arrayBuffer();
          return new Uint8Array(chunk);
        });
        database = new OpfsDatabase(this.#sqlite, pool, FILE);
        prepare(database, what, this.#options.synchronous ?? "FULL", migrations);
        const problems = checkFile(database);
        if (problems.length > 0) {
          throw new StoreCorruptError(
            `${what} is damaged: ${problems.join("; ")}. Choose another backup.`,
          );
        }
        runs = Number(database.prepare("SELECT count(*) AS n FROM runs").get([])?.["n"]);
      } finally {
        database?.close();
        pool.pauseVfs();
      }
    } catch (e) {
      await discard();
      throw storeError(e, `cannot import ${what}`);
    }
    return { runs, discard, adopt: () => markReady(this.#folder, generation) };
  }
}

async function generations(
  folder: FileSystemDirectoryHandle,
): Promise<{ ready: number | undefined; highest: number }> {
  let ready: number | undefined;
  let highest = 0;
  for await (const [name, handle] of entries(folder)) {
    if (!/^\d{1,9}$/.test(name) || handle.kind !== "directory") continue;
    const generation = Number(name);
    highest = Math.max(highest, generation);
    if (generation > (ready ?? 0) && await hasMark(handle as FileSystemDirectoryHandle)) {
      ready = generation;
    }
  }
  return { ready, highest };
}

function entries(folder: FileSystemDirectoryHandle): AsyncIterable<[string, FileSystemHandle]> {
  return (folder as unknown as { entries(): AsyncIterable<[string, FileSystemHandle]> }).entries();
}

async function hasMark(folder: FileSystemDirectoryHandle): Promise<boolean> {
  try {
    await folder.getFileHandle(READY);
    return true;
  } catch (e) {
    if ((e as Error).name === "NotFoundError") return false;
    throw e;
  }
}

async function markReady(folder: FileSystemDirectoryHandle, generation: number): Promise<void> {
  const made = await folder.getDirectoryHandle(String(generation));
  await made.getFileHandle(READY, { create: true });
}

/** Removes replaced stores and incomplete imports. */
async function removeOthers(
  folder: FileSystemDirectoryHandle,
  keep: number | undefined,
): Promise<void> {
  for await (const [name] of entries(folder)) {
    if (name === String(keep)) continue;
    // A closing tab may still have a handle open; the next opening tries again.
    await folder.removeEntry(name, { recursive: true }).catch(() => {});
  }
}
