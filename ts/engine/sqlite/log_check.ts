// Detects that another program cut, removed or replaced the log (`<file>-wal`) or cut the file of
// an open store. SQLite does not: it appends after the hole, reports success, and copies the hole
// into the file at the next checkpoint. So each commit is read back before it is acknowledged, and
// only frames that were read back are checkpointed.
import { StoreCorruptError } from "../store_errors.ts";
import type { FileSystem } from "./builtins.ts";
import { HEADER_BYTES, sizeInHeader } from "./header.ts";
import {
  beginningOf,
  followLog,
  framesUntil,
  LOG_HEADER_BYTES,
  logBytes,
  type LogEnd,
  sameBytes,
} from "./log_frames.ts";
import { readKept } from "./own_files.ts";

interface SeenLog {
  readonly id: string;
  readonly size: number;
}

/** Offset of the number of frames in the index (`<file>-shm`), in the machine's byte order. */
const FRAMES_AT = 16;

export class LogCheck {
  readonly #fs: FileSystem;
  readonly #path: string;
  readonly #pageBytes: number;
  #seen: SeenLog | undefined;
  #end: LogEnd | undefined;
  #file: { readonly id: string; readonly file: number } | undefined;
  #storeBytes = 0;

  /** `path`: the store's file. */
  constructor(fs: FileSystem, path: string, pageBytes: number) {
    this.#fs = fs;
    this.#path = path;
    this.#pageBytes = pageBytes;
  }

  /** Frames in the log at the last `note`. */
  get frames(): number {
    return this.#end === undefined ? 0 : framesUntil(this.#end, this.#pageBytes);
  }

  /** Accepts log and file as they are: after opening, and after SQLite has emptied the log. */
  begin(): void {
    this.#seen = this.#end = undefined;
    this.#storeBytes = this.#sizeOfStore() ?? 0;
    this.#seen = this.#look();
    this.#end = this.#seen && this.#endNow(this.#seen);
  }

  /**
   * Reads back a commit. Throws a StoreCorruptError if the log lacks it, or lost earlier frames.
   */
  note(): void {
    const now = this.#look();
    if (now === undefined || (this.#seen !== undefined && now.id !== this.#seen.id)) {
      throw this.#damage(now);
    }
    const end = this.#endNow(now);
    if (end === undefined || (sameEnd(end, this.#end))) throw this.#damage(now);
    this.#seen = now;
    this.#end = end;
    this.#noteStore();
  }

  /** Throws a StoreCorruptError if the log or the file became shorter since `note`. */
  check(): void {
    this.#noteStore();
    const seen = this.#seen;
    if (seen === undefined) return;
    const now = this.#look();
    if (now?.id === seen.id && (now.size >= seen.size || this.#holdsAll(now.size))) return;
    throw this.#damage(now);
  }

  /** Like `check`; also finds a hole in a log that was extended after a cut. */
  checkAll(): void {
    this.check();
    const now = this.#seen && this.#look();
    if (
      now !== undefined && this.#end !== undefined && now.size > 0 &&
      this.#endNow(now) === undefined
    ) throw this.#damage(now);
  }

  /**
   * Called after damage, before SQLite closes the file with a last checkpoint. Removes the log
   * after the first hole, so that SQLite fails to read it instead of copying zeros into the file.
   * No data is lost: recovery ends at the hole.
   */
  endAtHole(): void {
    const now = this.#look();
    if (now === undefined || now.id !== this.#seen?.id) return;
    this.#end = undefined;
    const whole = this.#endNow(now)?.offset ?? 0;
    if (whole < now.size) {
      this.#fs.truncateSync(`${this.#path}-wal`, whole <= LOG_HEADER_BYTES ? 0 : whole);
    }
  }

  close(): void {
    if (this.#file !== undefined) this.#fs.closeSync(this.#file.file);
    this.#file = undefined;
  }

  #damage(now: SeenLog | undefined): StoreCorruptError {
    const seen = this.#seen;
    const what = now === undefined
      ? "removed"
      : now.id !== seen?.id
      ? "replaced"
      : now.size < seen.size
      ? `cut from ${seen.size} to ${now.size} bytes`
      : `cut or overwritten within its ${now.size} bytes`;
    return new StoreCorruptError(
      `${this.#path}-wal was ${what} by another program while the store was open: acknowledged changes may be lost, and the engine no longer ` +
        "writes. Check the store with temporalex store check, or restore a backup",
    );
  }

  #look(): SeenLog | undefined {
    try {
      const { dev, ino, size } = this.#fs.statSync(`${this.#path}-wal`);
      return { id: `${dev} ${ino}`, size };
    } catch {
      return undefined;
    }
  }

  /**
   * The end of the log's valid part; undefined if the log is invalid or lost frames before `#end`.
   */
  #endNow({ id, size }: SeenLog): LogEnd | undefined {
    const read = (into: Uint8Array, offset: number) =>
      this.#fs.readSync(this.#logFile(id), into, 0, into.length, offset);
    const header = new Uint8Array(LOG_HEADER_BYTES);
    if (size < LOG_HEADER_BYTES || read(header, 0) < LOG_HEADER_BYTES) return undefined;
    const before = this.#end;
    // SQLite restarts the log with a new header when the file has all of its frames.
    if (before === undefined || !sameBytes(header, before.header)) {
      const beginning = beginningOf(header);
      return beginning && followLog(read, beginning, this.#pageBytes);
    }
    const { lastFrame, offset } = before;
    if (lastFrame !== undefined) {
      const frame = new Uint8Array(lastFrame.length);
      read(frame, offset - frame.length);
      if (!sameBytes(frame, lastFrame)) return undefined;
    }
    return followLog(read, before, this.#pageBytes);
  }

  #logFile(id: string): number {
    if (this.#file?.id !== id) {
      this.close();
      this.#file = { id, file: this.#fs.openSync(`${this.#path}-wal`, "r") };
    }
    return this.#file.file;
  }

  /**
   * Whether a log of this size holds every frame in its index. Without an index no other process
   * uses the log.
   */
  #holdsAll(size: number): boolean {
    try {
      const header = new Uint8Array(FRAMES_AT + 4);
      readKept(this.#fs, `${this.#path}-shm`, header);
      const frames = new Uint32Array(header.buffer, FRAMES_AT, 1)[0]!;
      return frames === 0 || size >= logBytes(frames, this.#pageBytes);
    } catch {
      return false;
    }
  }

  #sizeOfStore(): number | undefined {
    try {
      return this.#fs.statSync(this.#path).size;
    } catch {
      // The fence reports a missing file.
      return undefined;
    }
  }

  /**
   * Throws if the file is shorter than before and than its own header states. A VACUUM by another
   * program reduces both.
   */
  #noteStore(): void {
    const size = this.#sizeOfStore();
    if (size === undefined || size === this.#storeBytes) return;
    if (size < this.#storeBytes) {
      const header = new Uint8Array(HEADER_BYTES);
      readKept(this.#fs, this.#path, header);
      if (size < HEADER_BYTES || sizeInHeader(header) > size) {
        throw new StoreCorruptError(
          `${this.#path} was cut from ${this.#storeBytes} to ${size} bytes by another program while the store was open: the engine no longer ` +
            "writes. Restore a backup",
        );
      }
    }
    this.#storeBytes = size;
  }
}

const sameEnd = (a: LogEnd, b: LogEnd | undefined): boolean =>
  b !== undefined && a.offset === b.offset && sameBytes(a.header, b.header);
