// The log check of a store: each commit is read back, an intact log is checkpointed from time to
// time, and a damaged one never is, not even when SQLite closes the file.
import { StoreCorruptError } from "../store_errors.ts";
import type { SqlDatabase } from "./driver.ts";
import type { LogCheck } from "./log_check.ts";

/** Frames (4 KiB each) in the log after which it is checkpointed. */
export const CHECKPOINT_FRAMES = 4000;

export class LogGuard {
  readonly #database: SqlDatabase;
  readonly #log: LogCheck | undefined;
  #damaged = false;
  #reported = false;

  /** `log`: undefined in browsers, where no other program can reach the files. */
  constructor(database: SqlDatabase, log: LogCheck | undefined) {
    this.#database = database;
    this.#log = log;
  }

  /** Accepts the log as it is. */
  begin(): void {
    this.#log?.begin();
  }

  /**
   * Checks before a transaction. Throws a StoreCorruptError if another program damaged the log or
   * file.
   */
  check(): void {
    this.#reporting(() => this.#log?.check());
  }

  /** Called after an error of SQLite: throws if damage is its cause. */
  explain(): void {
    this.#reporting(() => this.#log?.checkAll());
  }

  /** Records that SQLite found damage. */
  damaged(): void {
    this.#damaged = true;
  }

  /** Reads a commit back; it counts only if the log has it. */
  readBack(): void {
    const log = this.#log;
    if (log === undefined) return;
    this.#reporting(() => log.note());
    if (log.frames < CHECKPOINT_FRAMES) return;
    try {
      this.#database.prepare("PRAGMA wal_checkpoint(PASSIVE)").all([]);
    } catch {
      // For example a full disk: the log keeps everything, and the next commit tries again.
    }
  }

  /**
   * Checkpoints and empties the log before closing. Returns damage that was not reported before.
   */
  empty(): StoreCorruptError | undefined {
    // The frames of the failed commit may have a hole, which a checkpoint would copy into the file.
    if (this.#damaged) return undefined;
    const reported = this.#reported;
    try {
      this.explain();
      // libsql keeps a closed database open until its statements are collected.
      this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all([]);
    } catch (e) {
      // Otherwise another program is reading; the next opening reads the log.
      if (!reported && e instanceof StoreCorruptError) return e;
    }
    return undefined;
  }

  /** Must be called right before the database is closed. */
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
