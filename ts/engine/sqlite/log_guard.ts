// A store's side of the log check: each commit is read back, a log that is whole is checkpointed from time to time, and a damaged one
// never is, not even when SQLite closes the file.
import { StoreCorruptError } from "../store_errors.ts";
import type { SqlDatabase } from "./driver.ts";
import type { LogCheck } from "./log_check.ts";

/** Frames of a log (4 KiB each) after which it is copied into the file. */
export const CHECKPOINT_FRAMES = 4000;

export class LogGuard {
  readonly #database: SqlDatabase;
  readonly #log: LogCheck | undefined;
  #damaged = false;
  #reported = false;

  /** `log`: undefined where no other program can reach the files (browsers). */
  constructor(database: SqlDatabase, log: LogCheck | undefined) {
    this.#database = database;
    this.#log = log;
  }

  /** Takes the log for whole as it is. */
  begin(): void {
    this.#log?.begin();
  }

  /** Before a transaction. Throws a StoreCorruptError when another program has damaged the log or the file. */
  check(): void {
    this.#reporting(() => this.#log?.check());
  }

  /** After an error of SQLite: throws when damage is its cause. */
  explain(): void {
    this.#reporting(() => this.#log?.checkAll());
  }

  /** SQLite has found damage. */
  damaged(): void {
    this.#damaged = true;
  }

  /** After a commit: it counts when the log holds it. */
  readBack(): void {
    const log = this.#log;
    if (log === undefined) return;
    this.#reporting(() => log.note());
    if (log.frames < CHECKPOINT_FRAMES) return;
    try {
      this.#database.prepare("PRAGMA wal_checkpoint(PASSIVE)").all([]);
    } catch {
      // A full disk, for one: the log keeps everything, and the next commit tries again.
    }
  }

  /** Empties the log into the file before it is closed. Returns damage that was not reported before. */
  empty(): StoreCorruptError | undefined {
    // A hole may be in the frames of the commit that failed: a checkpoint would copy it into the file.
    if (this.#damaged) return undefined;
    const reported = this.#reported;
    try {
      this.explain();
      // Also: libsql keeps a closed database open until its statements are collected.
      this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all([]);
    } catch (e) {
      // Else a reader of another program is in the way: the log is read at the next opening.
      if (!reported && e instanceof StoreCorruptError) return e;
    }
    return undefined;
  }

  /** To be called right before the database is closed. */
  close(): void {
    if (this.#damaged) this.#log?.endAtHole();
    this.#log?.close();
  }

  #reporting(check: () => void): void {
    try {
      check();
    } catch (e) {
      this.#damaged = this.#reported = true;
      throw e;
    }
  }
}
