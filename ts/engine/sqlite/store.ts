// The SQLite store: prepared statements over schema.ts, one transaction per commit. Keys of runs
// and batches are assigned here (there is one writer), and the keys of recent runs are cached, so
// that a transition costs one UPDATE, one INSERT and its items. A failed commit evicts its runs.
import type { HistoryBatch } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type {
  ActivityStore,
  AttributeTypes,
  HostWrites,
  ListPage,
  ListPosition,
  ListQuery,
  PurgeOptions,
  RunRecord,
  RunWrite,
  ShownOfRuns,
  Store,
  StoredBatch,
  StoredDeployment,
  StoredRun,
  StoredSchedule,
} from "../store.ts";
import { StoreCorruptError, StoreError, StoreFencedError } from "../store_errors.ts";
import type { Condition } from "../visibility/condition.ts";
import { adoptRuns } from "./adopted_runs.ts";
import { checkFile } from "./check.ts";
import { conditionSql } from "./condition_sql.ts";
import type { SqlDatabase, SqlRow, SqlStatement, SqlValue } from "./driver.ts";
import { isOfStorage, storeError } from "./errors.ts";
import { HistoryIndex } from "./history_index.ts";
import { HostRows } from "./host_rows.ts";
import { Indexed, keysOfNew, keysOfRow, type RunKeys } from "./indexed.ts";
import { BUSY_MS, type OpenFile, openFile, type SqliteOptions } from "./open.ts";
import { LogGuard } from "./log_guard.ts";
import { isLocked, storeBusy } from "./write_lock.ts";
import { type Migration, MIGRATIONS } from "./schema.ts";
import { readOnlyRows } from "./read_only_sql.ts";
import { countByStatus, countRuns, listPage } from "./lists.ts";
import { closingValues, constantValues, numberColumn, stepValues, stored, toRow } from "./rows.ts";
import { greatestKey, once, purgeableSql, statements } from "./statements.ts";
import { refuseInTransaction, UserTables } from "../tables/database.ts";
import { vacuum } from "./vacuum.ts";
import { migrateTables, type TableMigration } from "../tables/migrations.ts";

const MAX_REMEMBERED = 50_000;
const PURGE_SLICE = 200;

/** A store in one SQLite file, or in a browser's private file system. */
export class SqliteStore implements Store {
  readonly description: string;
  /** Path of the file. */
  readonly path: string;
  readonly activities: ActivityStore;
  readonly taskQueueConfigs: HostRows["taskQueues"];
  readonly #file: OpenFile;
  readonly #database: SqlDatabase;
  readonly #sql: ReturnType<typeof statements>;
  readonly #index: HistoryIndex;
  readonly #indexed: Indexed;
  readonly #hostRows: HostRows;
  readonly #remembered = new Map<string, RunKeys>();
  #epoch: number;
  /** `#changes` at the beginning of the open transaction. */
  #changesBefore = 0;
  #nextRunKey: number;
  #nextHistoryKey: number;
  #closed = false;
  /** The transaction of the next commit is open: reducers write in it. */
  #begun = false;
  /** The error of the storage in the open transaction, even if the reducer caught it. */
  #trouble: StoreError | undefined;
  #tables: UserTables | undefined;
  readonly #log: LogGuard;

  /** Opens or creates a store file. `migrations` is for tests of migrations. */
  static open(
    path: string,
    options: SqliteOptions = {},
    migrations: readonly Migration[] = MIGRATIONS,
  ): SqliteStore {
    return SqliteStore.over(openFile(path, options, migrations));
  }

  /** Creates a store over an open, prepared file. The store closes the file, also if this fails. */
  static over(file: OpenFile): SqliteStore {
    try {
      return new SqliteStore(file);
    } catch (e) {
      file.database.close();
      file.fence.release();
      throw isLocked(e)
        ? storeBusy(file.path, file.writer?.(), e)
        : storeError(e, `cannot open ${file.path}`, file.free);
    }
  }

  private constructor(file: OpenFile) {
    this.#file = file;
    this.#database = file.database;
    this.#log = new LogGuard(file.database, file.log);
    this.path = file.path;
    this.description =
      `SQLite store ${file.path} (${file.library}, synchronous=${file.synchronous})`;
    this.#sql = statements(file.database);
    this.#index = new HistoryIndex(file.database);
    this.#indexed = new Indexed(file.database);
    const attempt = <T>(doing: string, work: () => T) => this.#attempt(doing, work);
    const alone = (doing: string, work: () => void) => this.#alone(doing, work);
    this.#hostRows = new HostRows(file.database, attempt, alone);
    this.activities = this.#hostRows.activities;
    this.taskQueueConfigs = this.#hostRows.taskQueues;
    if (!file.readOnly) this.#database.exec("UPDATE store SET epoch = epoch + 1");
    this.#epoch = numberColumn(this.#sql.epoch.get([]), "epoch");
    this.#nextRunKey = greatestKey(file.database, "runs", "run_key") + 1;
    this.#nextHistoryKey = greatestKey(file.database, "history", "history_key") + 1;
    this.#log.begin();
    // The engine waits for other processes asynchronously: SQLite would block the event loop.
    this.#database.exec("PRAGMA busy_timeout=0");
  }

  #alone(doing: string, operation: () => void): void {
    this.#blocking(doing, () => (this.#file.fence.check(), this.#transaction(operation, () => {})));
  }

  /** Like `#attempt`, but waits in SQLite while another process has the store locked. */
  #blocking<T>(doing: string, operation: () => T): T {
    refuseInTransaction(this.#begun, `${doing} ${this.path}`);
    return this.#attempt(doing, () => {
      this.#database.exec(`PRAGMA busy_timeout=${BUSY_MS}`);
      try {
        return operation();
      } finally {
        this.#database.exec("PRAGMA busy_timeout=0");
      }
    });
  }

  /** Runs an operation and converts its errors to StoreErrors. */
  #attempt<T>(doing: string, operation: () => T): T {
    if (this.#closed) throw new StoreError(`${this.path} is closed`);
    try {
      return operation();
    } catch (e) {
      if (isLocked(e)) throw storeBusy(this.path, this.#file.writer?.(), e);
      if (!(e instanceof StoreError)) this.#log.explain();
      const named = storeError(e, `${doing} ${this.path} failed`, this.#file.free);
      if (named instanceof StoreCorruptError) this.#log.damaged();
      throw named;
    }
  }

  load(workflowId: string, runId?: string): RunRecord | undefined {
    return this.#attempt("reading", () => {
      const found = this.#find(workflowId, runId);
      if (found === undefined) return undefined;
      const items = this.#sql.items.all([found["run_key"]!]);
      return {
        askedWorkflowId: workflowId,
        askedRunId: runId ?? "",
        found: true,
        row: toRow(found),
        head: found["head"] as Uint8Array,
        unavailable: "",
        history: new Uint8Array(0),
        items: items.map((item) => ({
          kind: item["kind"] as number,
          id: item["id"] as string,
          value: item["value"] as Uint8Array,
        })),
      };
    });
  }

  /** Whether a run with this id exists, under any workflow id. */
  has(runId: string): boolean {
    return this.#attempt("reading", () => this.#sql.byRunId.get([runId]) !== undefined);
  }

  #find(workflowId: string, runId: string | undefined): SqlRow | undefined {
    if (runId === undefined || runId === "") return this.#sql.latest.get([workflowId]);
    const row = this.#sql.byRunId.get([runId]);
    return row?.["workflow_id"] === workflowId ? row : undefined;
  }

  historyRange(workflowId: string, runId: string, from: number, to: number): Uint8Array[] {
    return this.#attempt("reading a history from", () => {
      const keys = this.#keys(workflowId, runId);
      return this.#index.read(keys.runKey, keys.historyKey, keys.lastEvent, from, to);
    });
  }

  #keys(workflowId: string, runId: string): RunKeys {
    let keys = this.#remembered.get(runId);
    if (keys === undefined) {
      const row = this.#find(workflowId, runId);
      if (row === undefined) {
        throw new StoreError(`run ${runId} of workflow ${workflowId} is not in the store`);
      }
      keys = keysOfRow(row);
      this.#remember(runId, keys);
    }
    return keys;
  }

  #remember(runId: string, keys: RunKeys): void {
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(runId, keys);
  }

  ready(limit: number, after: StoredRun["position"] = [0, 0]): StoredRun[] {
    return this.#attempt(
      "reading",
      () =>
        this.#sql.ready.all([after[0], limit]).map((row) =>
          stored(row, numberColumn(row, "run_key"))
        ),
    );
  }

  due(nowMs: number, limit: number, after: StoredRun["position"] = [0, 0]): StoredRun[] {
    return this.#attempt(
      "reading",
      () =>
        this.#sql.due.all([nowMs, ...after, limit]).map((row) =>
          stored(row, numberColumn(row, "wake_at_ms"))
        ),
    );
  }

  nextWake(): number {
    return this.#attempt("reading", () => numberColumn(this.#sql.nextWake.get([]), "wake"));
  }

  list(query: ListQuery, size: number, after?: ListPosition): ListPage {
    return this.#attempt("listing runs of", () => listPage(this.#database, query, size, after));
  }

  count(where?: Condition): number {
    return this.#attempt("counting runs of", () => countRuns(this.#database, where));
  }

  countByStatus(where?: Condition): ReadonlyMap<number, number> {
    return this.#attempt("counting runs of", () => countByStatus(this.#database, where));
  }

  subscribers(
    attribute: string,
    values: readonly string[],
  ): { workflowId: string; runId: string }[] {
    return this.#attempt("reading", () => this.#indexed.subscribers(attribute, values));
  }

  attributeTypes(): AttributeTypes | undefined {
    return this.#attempt("reading", () => {
      const kept = this.#sql.attributeTypes.get([])?.["attribute_types"];
      return typeof kept === "string" ? JSON.parse(kept) as AttributeTypes : undefined;
    });
  }

  setAttributeTypes(types: AttributeTypes): void {
    const json = JSON.stringify(types);
    this.#alone("registering search attributes in", () => this.#sql.setAttributeTypes.run([json]));
  }

  schedules(): StoredSchedule[] {
    return this.#attempt("reading", () => this.#hostRows.schedules.all());
  }

  batches(): StoredBatch[] {
    return this.#attempt("reading", () => this.#hostRows.batches.all());
  }

  deployments(): StoredDeployment[] {
    return this.#attempt("reading", () => this.#hostRows.deployments.all());
  }

  commit(
    writes: readonly RunWrite[],
    shown?: ShownOfRuns,
    ...host: HostWrites
  ): void {
    this.#attempt("writing to", () => {
      if (this.#file.readOnly) throw new StoreError(`${this.path} was opened for reading`);
      this.#file.fence.check();
      // A transaction of the application may have written rows only, or nothing.
      const isEmpty = writes.length === 0 && host.every((each) => (each?.size ?? 0) === 0);
      if (isEmpty && !this.#begun) return;
      if (isEmpty && this.#changes() === this.#changesBefore) return this.rollback();
      this.#transaction(() => {
        // Without a changed page the log gets no frame and looks cut; equal values change no page.
        if (writes.length === 0) this.#sql.nextEpoch.run([]);
        this.#hostRows.write(...host);
        for (const write of writes) this.#write(write, shown?.get(write.row?.runId ?? ""));
      }, () => this.#forgetAll(writes));
      if (writes.length === 0) this.#epoch++;
    });
  }

  #transaction(body: () => void, undo: () => void, always = () => {}): void {
    try {
      if (!this.#begun) this.#begin();
      body();
      this.#sql.commit.run([]);
      this.#log.readBack();
    } catch (e) {
      undo();
      this.#rollback();
      throw e;
    } finally {
      this.#begun = false;
      always();
    }
  }

  /** Number of rows that this connection has changed, also in transactions that were rolled back. */
  #changes(): number {
    return numberColumn(this.#sql.changes.get([]), "n");
  }

  #begin(): void {
    this.#log.check();
    // Not a prepared statement: libsql leaves a failed one open, and then rejects VACUUM.
    this.#database.exec("BEGIN IMMEDIATE");
    if (numberColumn(this.#sql.epoch.get([]), "epoch") !== this.#epoch) {
      throw new StoreFencedError(
        `${this.path} was opened by another engine; this engine no longer writes`,
      );
    }
  }

  #rollback(): void {
    try {
      this.#database.exec("ROLLBACK");
    } catch {
      // No transaction to roll back: SQLite has done so itself (a full disk, an I/O error).
    }
  }

  /** The application's tables. Reducers write in them, between `begin` and `commit`. */
  get tables(): UserTables {
    return this.#tables ??= new UserTables(
      this.#database,
      () => this.#begun && this.#trouble === undefined,
      (error) => {
        const named = storeError(error, `writing to ${this.path} failed`, this.#file.free);
        if (!isOfStorage(named)) return error;
        if (this.#begun) this.#trouble ??= named;
        return named;
      },
    );
  }

  /**
   * Returns the rows of a read-only statement over views, and tables of the engine and the
   * application.
   */
  sql(sql: string, params: readonly SqlValue[] = []): SqlRow[] {
    if (this.#closed) throw new StoreError(`${this.path} is closed`);
    return readOnlyRows(this.#database, sql, params);
  }

  /** Applies migrations of the application's tables: each once, in order. */
  migrate(steps: readonly TableMigration[], nowMs: number): void {
    this.#blocking("migrating the tables of", () => migrateTables(this.#database, steps, nowMs));
  }

  /** Opens the transaction of the next commit. */
  begin(): void {
    this.#attempt("writing to", () => {
      if (this.#file.readOnly) throw new StoreError(`${this.path} was opened for reading`);
      this.#file.fence.check();
      try {
        this.#begin();
        this.#begun = true;
        this.#trouble = undefined;
        this.#changesBefore = this.#changes();
      } catch (e) {
        this.#rollback();
        throw e;
      }
    });
  }

  /** Rolls back the transaction of the next commit. */
  rollback(): void {
    if (!this.#begun) return;
    this.#begun = false;
    this.#rollback();
  }

  /**
   * Runs work under a savepoint, which an error rolls back. A StoreError means a lost transaction.
   */
  savepoint<T>(work: () => T): T {
    this.#sql.savepoint.run([]);
    return this.#orTakenBack(() => {
      const result = work();
      this.#sql.release.run([]);
      return result;
    }, () => {
      this.#sql.rollbackTo.run([]);
      this.#sql.release.run([]);
    });
  }

  /**
   * Like `savepoint`, for the first work of a transaction: an error rolls back the whole
   * transaction.
   */
  firstWork<T>(work: () => T): T {
    return this.#orTakenBack(work, () => {
      this.#begun = false;
      this.#database.exec("ROLLBACK");
    });
  }

  #orTakenBack<T>(work: () => T, takeBack: () => void): T {
    try {
      const result = work();
      if (this.#trouble !== undefined) throw this.#trouble;
      return result;
    } catch (error) {
      const e = this.#trouble ?? error;
      try {
        takeBack();
      } catch {
        // SQLite has rolled back the whole transaction.
        throw storeError(e, `writing to ${this.path} failed`, this.#file.free);
      }
      throw e;
    }
  }

  #forgetAll(writes: readonly RunWrite[]): void {
    for (const { row } of writes) this.#forget(row?.runId ?? "");
  }

  #forget(runId: string): void {
    const keys = this.#remembered.get(runId);
    if (keys === undefined) return;
    this.#index.forget(keys.runKey);
    this.#remembered.delete(runId);
  }

  #write(
    write: RunWrite,
    shown?: { readonly phase: number; readonly state?: string | null },
  ): void {
    const row = write.row;
    if (row === undefined) throw new StoreError("a write has no run");
    let keys: RunKeys;
    if (write.create) {
      keys = keysOfNew(this.#nextRunKey++);
      this.#remember(row.runId, keys);
    } else keys = this.#keys(row.workflowId, row.runId);
    for (const batch of write.append) this.#append(keys, row.runId, batch);
    if (keys.lastEvent !== row.historyLength) {
      throw new StoreError(
        `run ${row.runId} declares ${row.historyLength} events, but ${keys.lastEvent} are written`,
      );
    }
    const step = stepValues(row, write.head, keys, shown?.phase ?? null);
    if (write.create) {
      this.#sql.insertRun.run([
        ...closingValues(row),
        ...step,
        ...constantValues(row, write.head),
      ]);
    } else {
      const closes = row.status !== keys.status || row.closeTimeMs !== keys.closeTimeMs;
      const changed = closes
        ? this.#sql.updateRun.run([...closingValues(row), ...step])
        : this.#sql.updateStep.run(step);
      if (changed !== 1) throw new StoreError(`run ${row.runId} is not in the store`);
    }
    Object.assign(
      keys,
      { status: row.status, closeTimeMs: row.closeTimeMs } satisfies Partial<RunKeys>,
    );
    this.#indexed.write(keys.runKey, write, keys, shown?.state);
    for (const item of write.put) {
      this.#sql.putItem.run([keys.runKey, item.kind, item.id, item.value]);
    }
    for (const item of write.remove) this.#sql.removeItem.run([keys.runKey, item.kind, item.id]);
  }

  #append(keys: RunKeys, runId: string, batch: HistoryBatch): void {
    const { firstEventId, lastEventId } = batch;
    if (firstEventId !== keys.lastEvent + 1 || lastEventId < firstEventId) {
      throw new StoreError(
        `events ${firstEventId} to ${lastEventId} do not follow event ${keys.lastEvent} of run ${runId}`,
      );
    }
    const key = this.#nextHistoryKey++;
    this.#sql.append.run([
      key,
      keys.historyKey,
      keys.runKey,
      firstEventId,
      lastEventId,
      batch.events,
    ]);
    this.#index.appended(keys.runKey, key, firstEventId);
    keys.historyKey = key;
    keys.lastEvent = lastEventId;
  }

  backup(path: string): void {
    refuseInTransaction(this.#begun, `copying ${this.path}`);
    this.#attempt("copying", () => this.#file.backup(path));
  }

  purge(options: PurgeOptions): string[] {
    refuseInTransaction(this.#begun, `purging ${this.path}`);
    return this.#attempt("purging", () => {
      if (options.where === undefined) {
        const purged = this.#purge(this.#sql.purgeable, [], options);
        const left = { ...options, limit: (options.limit ?? Infinity) - purged.length };
        this.#file.fence.check();
        const remove = (body: () => void) => this.#transaction(body, () => {});
        return [...purged, ...this.#hostRows.activities.purge(left, PURGE_SLICE, remove)];
      }
      const params: SqlValue[] = [];
      const sql = purgeableSql(conditionSql(options.where, params));
      return once(this.#database, sql, (purgeable) => this.#purge(purgeable, params, options));
    });
  }

  #purge(purgeable: SqlStatement, params: readonly SqlValue[], options: PurgeOptions): string[] {
    const purged: string[] = [];
    for (;;) {
      const slice = Math.min(PURGE_SLICE, (options.limit ?? Infinity) - purged.length);
      const rows = slice > 0 ? purgeable.all([options.closedBefore, ...params, slice]) : [];
      if (rows.length === 0) return purged;
      this.#file.fence.check();
      this.#transaction(() => {
        for (const row of rows) {
          this.#forget(row["run_id"] as string);
          this.#sql.removeHistory.run([row["history_key"]!]);
          this.#sql.removeItems.run([row["run_key"]!]);
          this.#indexed.remove(numberColumn(row, "run_key"));
          this.#sql.removeRun.run([row["run_key"]!]);
        }
      }, () => {});
      for (const row of rows) purged.push(row["run_id"] as string);
    }
  }

  /** Imports runs, all or none (adopted_runs.ts). Throws for existing and conflicting runs. */
  adopt(writes: readonly RunWrite[]): void {
    const latest = (workflowId: string) => this.load(workflowId)?.row;
    const write = (run: RunWrite, key: number) => {
      this.#nextRunKey = key;
      this.#write(run);
    };
    this.#blocking("importing into", () => {
      this.#file.fence.check();
      let next = this.#nextRunKey;
      const body = () => void (next = adoptRuns(this.#database, writes, { next, latest, write }));
      this.#transaction(body, () => this.#forgetAll(writes), () => this.#nextRunKey = next);
    });
  }

  /** Returns free space to the file system, and its size in bytes. Locks the file meanwhile. */
  shrink(): number {
    return this.#blocking("shrinking", () => {
      this.#file.fence.check();
      return vacuum(this.#database, this.#log);
    });
  }

  check(): string[] {
    try {
      return this.#attempt("checking", () => checkFile(this.#database));
    } catch (e) {
      // Severe damage makes the check itself fail.
      if (e instanceof StoreCorruptError) return [e.message];
      throw e;
    }
  }

  /**
   * Checkpoints everything into the one file and closes it. Throws a StoreCorruptError if another
   * program damaged the log and this was not reported yet; the store is closed nevertheless.
   */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    let damage: StoreCorruptError | undefined;
    try {
      if (!this.#file.readOnly && this.#file.fence.held()) damage = this.#log.empty();
      this.#log.close();
      this.#database.close();
    } finally {
      this.#file.fence.release(this.#file.readOnly);
    }
    if (damage !== undefined) throw damage;
  }
}
