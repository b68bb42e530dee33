// Reads a store file while an engine may have it open, for backups and checks. A reader has a
// snapshot and does not block others, so it takes no fence. node-sqlite3-wasm cannot share files:
// it takes the fence and needs a free store. Nothing is written.
import type { PurgeOptions, RunRecord, RunRow } from "../store.ts";
import {
  NotAStoreError,
  StoreError,
  type StoreHolder,
  StoreLockedError,
  StoreVersionError,
} from "../store_errors.ts";
import { backupFile } from "./backup.ts";
import { boundedRows, SQL_LIMITS, type SqlLimits } from "./bounded_rows.ts";
import { type Builtins, builtins } from "./builtins.ts";
import { checkFile } from "./check.ts";
import { conditionSql } from "./condition_sql.ts";
import type { DriverName, SqlDatabase, SqlRow, SqlValue } from "./driver.ts";
import { loadLibrary } from "./libraries.ts";
import { storeError } from "./errors.ts";
import { currentHolder, Fence } from "./fence.ts";
import { takeBackCreation } from "./hot_journal.ts";
import { HistoryIndex } from "./history_index.ts";
import { inspect, resolvePath } from "./open.ts";
import { APPLICATION_ID, fileVersion, isUnmade, MIGRATIONS, schemaVersion } from "./schema.ts";
import { refuseWriting } from "./read_only_sql.ts";
import { toRow } from "./rows.ts";
import { ROW_COLUMNS } from "./statements.ts";

export interface StoredRunState {
  readonly record: RunRecord;
  readonly row: RunRow;
  /** All events, as encoded Histories in order. Throws a StoreError if a part is missing. */
  history(): Uint8Array[];
}

const PAGE = 100;

export class StoreReader {
  readonly path: string;
  /** The process that has the store open; undefined if the store is free. */
  readonly holder: StoreHolder | undefined;
  readonly #builtins: Builtins;
  readonly #database: SqlDatabase;
  readonly #fence: Fence | undefined;

  /**
   * Throws a StoreError: no store, not a store of temporalex, another version, or open in a process
   * that cannot share it.
   */
  static open(path: string, options: { driver?: DriverName } = {}): StoreReader {
    const found = builtins();
    if (found === undefined) {
      throw new StoreError(
        "a SQLite file needs the file system of Node or Deno, and this runtime has none",
      );
    }
    const library = loadLibrary(found, options.driver);
    if (!found.fs.existsSync(path)) throw new StoreError(`the store ${path} does not exist`);
    const absolute = resolvePath(found, path);
    if (!inspect(found, absolute, MIGRATIONS)) {
      throw new NotAStoreError(`${absolute} does not contain a store: the file is empty`);
    }
    const holder = currentHolder(found, absolute);
    if (holder !== undefined && !(library.nativeLocks && holder.nativeLocks)) {
      const who = `process ${holder.pid}, which uses ${holder.driver}`;
      const alone = holder.nativeLocks ? library.name : holder.driver;
      throw new StoreLockedError(
        `${absolute} is open in ${who}, and ${alone} does not share files between processes: stop that process, or use the engine in it`,
        holder,
      );
    }
    // SQLite's locks belong to the process: the other library would consider the reader the last
    // user of the log, and remove it.
    if (holder?.isHere === true && holder.driver !== library.name) {
      throw new StoreLockedError(
        `${absolute} is open in this process with ${holder.driver}, and two libraries in one process cannot share a file: ` +
          `read it with the driver "${holder.driver}", or in another process`,
        holder,
      );
    }
    const fence = library.nativeLocks ? undefined : new Fence(found, library, absolute, true);
    let database: SqlDatabase | undefined;
    try {
      if (!library.nativeLocks && takeBackCreation(found, absolute)) {
        throw new NotAStoreError(`${absolute} does not contain a store: the file is empty`);
      }
      database = library.open(absolute);
      database.exec("PRAGMA busy_timeout=5000; PRAGMA query_only=ON; PRAGMA cache_size=-16384");
      if (isUnmade(database)) {
        throw new NotAStoreError(`${absolute} does not contain a store: the file is empty`);
      }
      if (
        Number(database.prepare("PRAGMA application_id").get([])?.["application_id"]) !==
          APPLICATION_ID
      ) {
        throw new NotAStoreError(`${absolute} is a SQLite database of another program`);
      }
      const version = fileVersion(database);
      const known = schemaVersion();
      if (version !== known) {
        throw new StoreVersionError(
          `${absolute} has schema version ${version}, but this version of temporalex reads version ${known}: ` +
            (version < known
              ? "open it once with an engine to upgrade it"
              : "use the version of temporalex that wrote it"),
          version,
          known,
        );
      }
      return new StoreReader(found, absolute, database, fence, holder);
    } catch (e) {
      database?.close();
      fence?.release();
      throw storeError(e, `cannot read ${absolute}`);
    }
  }

  private constructor(
    found: Builtins,
    path: string,
    database: SqlDatabase,
    fence: Fence | undefined,
    holder: StoreHolder | undefined,
  ) {
    this.#builtins = found;
    this.path = path;
    this.#database = database;
    this.#fence = fence;
    this.holder = holder;
  }

  /** Starts a snapshot, until `release`. */
  hold(): void {
    this.#database.exec("BEGIN");
  }

  release(): void {
    this.#database.exec("COMMIT");
  }

  /** Size of the file without its log, in bytes. */
  get bytes(): number {
    return this.#builtins.fs.statSync(this.path).size;
  }

  /**
   * SQLite's integrity check and the invariants between tables: one sentence for each kind of
   * damage.
   */
  integrity(): string[] {
    try {
      return checkFile(this.#database);
    } catch (e) {
      // Severe damage makes the check itself fail.
      return [storeError(e, "the file cannot be checked").message];
    }
  }

  /**
   * Returns the rows of a read-only statement. Throws a SqlRefusedError for other statements, a
   * SqlLimitError, and SQLite's own errors.
   */
  sql(
    sql: string,
    limits: Pick<SqlLimits, "rows" | "bytes"> = SQL_LIMITS,
    params: readonly SqlValue[] = [],
  ): SqlRow[] {
    refuseWriting(sql);
    return boundedRows(this.#database.prepare(sql), params, limits);
  }

  count(): number {
    return Number(this.#database.prepare("SELECT count(*) AS n FROM runs").get([])?.["n"]);
  }

  /** Counts what a purge with these options would remove. */
  purgeable(
    { closedBefore, where }: Omit<PurgeOptions, "limit">,
  ): { runs: number; events: number; historyBytes: number } {
    const params: SqlValue[] = [];
    const also = where === undefined ? "" : `AND (${conditionSql(where, params)})`;
    const row = this.#database.prepare(
      `SELECT count(*) AS runs, ifnull(sum(history_length), 0) AS events, ifnull(sum(history_size_bytes), 0) AS bytes FROM runs
        WHERE close_time_ms < ? AND ready = 0 AND wake_at_ms = 0 ${also}`,
    ).get([closedBefore, ...params]);
    return {
      runs: Number(row?.["runs"]),
      events: Number(row?.["events"]),
      historyBytes: Number(row?.["bytes"]),
    };
  }

  /** Returns all runs in order of creation. */
  *runs(): Generator<StoredRunState, void, void> {
    const page = this.#database.prepare(
      `SELECT ${ROW_COLUMNS}, head FROM runs WHERE run_key > ? ORDER BY run_key LIMIT ${PAGE}`,
    );
    const itemsOf = this.#database.prepare(
      "SELECT kind, id, value FROM items WHERE run_key = ? ORDER BY kind, id",
    );
    const index = new HistoryIndex(this.#database);
    for (let after = -9e15;;) {
      const rows = page.all([after]);
      if (rows.length === 0) return;
      for (const found of rows) {
        const row = toRow(found);
        const key = after = found["run_key"] as number;
        yield {
          row,
          record: {
            askedWorkflowId: row.workflowId,
            askedRunId: row.runId,
            found: true,
            row,
            head: found["head"] as Uint8Array,
            unavailable: "",
            history: new Uint8Array(0),
            items: itemsOf.all([key]).map((item) => ({
              kind: item["kind"] as number,
              id: item["id"] as string,
              value: item["value"] as Uint8Array,
            })),
          },
          history: () => {
            if (row.historyLength === 0) return [];
            return index.read(
              key,
              found["history_key"] as number,
              row.historyLength,
              1,
              row.historyLength,
            );
          },
        };
      }
    }
  }

  /** Copies the store as of now to a file that must not exist. */
  backup(path: string): void {
    try {
      // SQLite treats a copy as a write, although this file does not change.
      this.#database.exec("PRAGMA query_only=OFF");
      backupFile(this.#builtins, this.#database, path);
    } catch (e) {
      throw storeError(e, `copying ${this.path} failed`);
    } finally {
      this.#database.exec("PRAGMA query_only=ON");
    }
  }

  close(): void {
    try {
      this.#database.close();
    } finally {
      this.#fence?.release();
    }
  }
}
