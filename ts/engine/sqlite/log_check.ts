// Sees that another program has cut, removed or replaced the log (`<file>-wal`) of an open store. SQLite does not: it would write after
// the hole, say that all is well, and copy the hole into the file at the next checkpoint. A log only grows while we write; SQLite itself
// makes it shorter when everything in it is in the file, also in another process (a checkpoint with TRUNCATE), and then its index says that
// nothing is in it.
import { StoreCorruptError } from "../store_errors.ts";
import type { FileSystem } from "./builtins.ts";
import { readKept } from "./own_files.ts";

interface Seen {
  readonly id: string;
  readonly size: number;
}

/** Before each frame of a log, and before the first one. */
const FRAME_HEADER_BYTES = 24;
const LOG_HEADER_BYTES = 32;
/** Where the index (`<file>-shm`) has the number of frames, in the byte order of the machine. */
const FRAMES_AT = 16;

export class LogCheck {
  readonly #fs: FileSystem;
  readonly #path: string;
  readonly #frameBytes: number;
  #seen: Seen | undefined;

  /** `path`: of the store. */
  constructor(fs: FileSystem, path: string, pageBytes: number) {
    this.#fs = fs;
    this.#path = path;
    this.#frameBytes = pageBytes + FRAME_HEADER_BYTES;
  }

  /** What the log is now is what we made of it. */
  note(): void {
    this.#seen = this.#look();
  }

  /** Throws a StoreCorruptError when the log has lost something since `note`. */
  check(): void {
    const seen = this.#seen;
    if (seen === undefined) return;
    const now = this.#look();
    if (now?.id === seen.id && (now.size >= seen.size || this.#holdsAll(now.size))) return;
    const what = now === undefined ? "removed" : now.id !== seen.id ? "replaced" : `cut from ${seen.size} to ${now.size} bytes`;
    throw new StoreCorruptError(
      `${this.#path}-wal was ${what} by another program while the store was open: changes that were acknowledged may be gone, and nothing ` +
        "more is written. Look at what is left with temporalex store check, or restore a backup",
    );
  }

  #look(): Seen | undefined {
    try {
      const { dev, ino, size } = this.#fs.statSync(`${this.#path}-wal`);
      return { id: `${dev} ${ino}`, size };
    } catch {
      return undefined;
    }
  }

  /** Whether a log of that size holds every frame that its index counts. Without an index no other process works on the log. */
  #holdsAll(size: number): boolean {
    try {
      const header = new Uint8Array(FRAMES_AT + 4);
      readKept(this.#fs, `${this.#path}-shm`, header);
      const frames = new Uint32Array(header.buffer, FRAMES_AT, 1)[0]!;
      return frames === 0 || size >= LOG_HEADER_BYTES + frames * this.#frameBytes;
    } catch {
      return false;
    }
  }
}
