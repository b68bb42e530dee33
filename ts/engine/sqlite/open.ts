// Opens a store file: takes the fence, checks the file before SQLite opens it (files of other
// programs must not be touched), configures SQLite, and creates or migrates the schema. On failure
// everything is closed and the fence released. For browsers see opfs/open.ts.
import { NotAStoreError, StoreCorruptError, StoreError } from "../store_errors.ts";
import { backupFile } from "./backup.ts";
import { type Builtins, builtins, type FileSystem } from "./builtins.ts";
import type { DriverName, SqlDatabase } from "./driver.ts";
import { loadLibrary } from "./libraries.ts";
import { storeError } from "./errors.ts";
import { Fence } from "./fence.ts";
import { takeBackCreation } from "./hot_journal.ts";
import { LogCheck } from "./log_check.ts";
import { CHECKPOINT_FRAMES } from "./log_guard.ts";
import { freeBytes, makeFile, readAt, readKept } from "./own_files.ts";
import { isLocked, storeBusy, writerOf } from "./write_lock.ts";
import { checkHeader, HEADER_BYTES, notAStore, tooNew } from "./header.ts";
import {
  APPLICATION_ID,
  fileVersion,
  isUnmade,
  migrate,
  type Migration,
  MIGRATIONS,
  schemaVersion,
} from "./schema.ts";

/**
 * FULL: acknowledged changes survive power loss. NORMAL: they survive a crash of the process, but a
 * power loss may undo the last ones.
 */
export type Synchronous = "FULL" | "NORMAL";

/** Options of a SQLite store. */
export interface SqliteOptions {
  /** Default: the first of node:sqlite, libsql and node-sqlite3-wasm that is present. */
  driver?: DriverName;
  /** Default: "FULL". */
  synchronous?: Synchronous;
  /**
   * The store is closed again soon. Other processes that open it meanwhile wait instead of failing.
   */
  visit?: boolean;
  /** Changes nothing and leaves no files. The file must exist, with the schema of this version. */
  readOnly?: boolean;
  /**
   * How long opening blocks while another process has the file locked for writing, in ms. Default:
   * 2000.
   */
  busyMs?: number;
}

/** How long blocking work waits for another process that writes, in ms. */
export const BUSY_MS = 2000;

/** Excludes other writers of an open file. */
export interface StoreFence {
  /**
   * Throws a StoreFencedError if this engine is no longer the owner. Called before every commit.
   */
  check(): void;
  /** Whether `check` would pass. */
  held(): boolean;
  /** Releases the store. `forget` also removes the fence's files next to the store. */
  release(forget?: boolean): void;
}

export interface OpenFile {
  /** Name of the SQLite library, for messages. */
  readonly library: string;
  readonly path: string;
  readonly database: SqlDatabase;
  readonly fence: StoreFence;
  readonly synchronous: Synchronous;
  readonly readOnly: boolean;
  /** Copies the open file to a new one. */
  backup(path: string): void;
  /** Checks the log for changes by other programs. */
  readonly log?: LogCheck;
  /** Free bytes of the disk, if known. */
  free?(): number | undefined;
  /** The program that has the file locked for writing, if known. */
  writer?(): string | undefined;
}

export function openFile(
  path: string,
  options: SqliteOptions,
  migrations: readonly Migration[] = MIGRATIONS,
): OpenFile {
  const found = builtins();
  if (found === undefined) {
    throw new StoreError(
      'a SQLite file needs the file system of Node or Deno, and this runtime has none: in a browser\'s tab use open of "temporalex/browser"',
    );
  }
  const library = loadLibrary(found, options.driver);
  const absolute = resolvePath(found, path);
  const synchronous = options.synchronous ?? "FULL";
  // SQLite treats an unknown value as NORMAL.
  if (synchronous !== "FULL" && synchronous !== "NORMAL") {
    throw new TypeError(
      `synchronous must be "FULL" or "NORMAL", not ${JSON.stringify(synchronous)}`,
    );
  }
  const { readOnly = false } = options;
  const writer = () => writerOf(found, absolute);
  const free = () => freeBytes(found.fs, found.path.dirname(absolute));
  if (readOnly && !found.fs.existsSync(absolute)) {
    throw new StoreError(`the store ${absolute} does not exist`);
  }
  const fence = new Fence(found, library, absolute, options.visit);
  let database: SqlDatabase | undefined;
  let known = false;
  let made = false;
  try {
    if (!library.nativeLocks) takeBackCreation(found, absolute);
    known = inspect(found, absolute, migrations, lingering.has(absolute) ? readKept : readAt);
    if (readOnly && !known) {
      throw new StoreError(`${absolute} does not contain a store: the file is empty`);
    }
    if (!readOnly) made = makeFile(found.fs, absolute);
    database = library.open(absolute);
    if (readOnly && isUnmade(database)) {
      throw new StoreError(`${absolute} does not contain a store: the file is empty`);
    }
    if (readOnly && fileVersion(database) < schemaVersion(migrations)) {
      throw new StoreError(
        `${absolute} was written by an older version of temporalex; open it once to upgrade it`,
      );
    }
    prepare(database, absolute, synchronous, migrations, options.busyMs);
    fence.watchFile();
    if (library.name === "libsql") lingering.add(absolute);
    const opened = database;
    const backup = (to: string) => backupFile(found, opened, to);
    const log = new LogCheck(
      found.fs,
      absolute,
      Number(database.prepare("PRAGMA page_size").get([])?.["page_size"]),
    );
    // A checkpoint within COMMIT would copy frames that are not read back yet, so the store
    // checkpoints.
    database.exec("PRAGMA wal_autocheckpoint=0");
    return {
      library: library.name,
      path: absolute,
      database,
      fence,
      synchronous,
      readOnly,
      backup,
      log,
      free,
      writer,
    };
  } catch (e) {
    database?.close();
    if (made && found.fs.statSync(absolute).size === 0) found.fs.rmSync(absolute, { force: true });
    fence.release(!known);
    throw isLocked(e)
      ? storeBusy(absolute, writer(), e)
      : storeError(e, `cannot open ${absolute}`, free);
  }
}

/** Returns an absolute path without links, so that two names of a file share one fence. */
export function resolvePath(found: Builtins, path: string, links = 0): string {
  const { fs, path: paths } = found;
  let real: string;
  try {
    real = fs.realpathSync(path);
  } catch {
    // A link to a missing file: the store is created at its target.
    const target = linkAt(fs, path);
    if (target !== undefined && links < MAX_LINKS) {
      return resolvePath(
        found,
        paths.resolve(paths.dirname(paths.resolve(path)), target),
        links + 1,
      );
    }
    const folder = paths.dirname(paths.resolve(path));
    try {
      real = paths.join(fs.realpathSync(folder), paths.basename(path));
    } catch (e) {
      throw new StoreError(`cannot create ${path}: the folder ${folder} does not exist`, {
        cause: e,
      });
    }
  }
  if (fs.existsSync(real) && !fs.statSync(real).isFile()) {
    throw new NotAStoreError(`${real} is not a file`);
  }
  return real;
}

const MAX_LINKS = 40;

/**
 * Files opened with libsql in this process. libsql closes a connection only when the last of its
 * statements is collected.
 */
const lingering = new Set<string>();

function linkAt(fs: FileSystem, path: string): string | undefined {
  try {
    return fs.readlinkSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Reads SQLite's file header. Returns whether the file is a store; throws for another or damaged
 * file.
 */
export function inspect(
  found: Builtins,
  path: string,
  migrations: readonly Migration[],
  read = readAt,
): boolean {
  const { fs } = found;
  const sizeOf = (file: string) => (fs.existsSync(file) ? fs.statSync(file).size : -1);
  const size = sizeOf(path);
  const wal = sizeOf(`${path}-wal`);
  if (size <= 0) {
    // A crash during creation leaves an empty file and perhaps a journal, never a WAL.
    if (wal > 0) {
      throw new StoreCorruptError(
        `${path} is empty or missing, but ${path}-wal has changes of it: restore the file, or remove both`,
      );
    }
    return false;
  }
  const header = new Uint8Array(HEADER_BYTES);
  read(fs, path, header);
  checkHeader({ path, header, size, wal, journal: sizeOf(`${path}-journal`) }, migrations);
  return true;
}

/** Configures SQLite for a file that was just opened, and creates or migrates the schema. */
export function prepare(
  database: SqlDatabase,
  path: string,
  synchronous: Synchronous,
  migrations: readonly Migration[],
  busyMs = BUSY_MS,
): void {
  database.exec(`PRAGMA busy_timeout=${busyMs}`);
  const application = Number(database.prepare("PRAGMA application_id").get([])?.["application_id"]);
  if (application !== APPLICATION_ID && !isUnmade(database)) {
    throw notAStore(path, "a SQLite database of another program");
  }
  // The WAL may be ahead of the header that `inspect` read.
  const version = fileVersion(database);
  if (version > schemaVersion(migrations)) throw tooNew(path, version, schemaVersion(migrations));
  database.exec(`PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384`);
  // The first version uses a rollback journal: after a crash the file is empty or complete.
  if (version < schemaVersion(migrations)) migrate(database, migrations);
  database.beforeLog?.();
  const mode = database.prepare("PRAGMA journal_mode=WAL").get([])?.["journal_mode"];
  if (mode !== "wal") {
    throw new StoreError(
      `the file system of ${path} cannot hold SQLite's write-ahead log (it offers "${mode}"): put the store on a local disk`,
    );
  }
  database.exec(
    `PRAGMA synchronous=${synchronous}; PRAGMA wal_autocheckpoint=${CHECKPOINT_FRAMES}; PRAGMA journal_size_limit=67108864`,
  );
  // macOS: fsync alone does not flush the disk's cache.
  if (synchronous === "FULL") database.exec("PRAGMA fullfsync=1; PRAGMA checkpoint_fullfsync=1");
}
