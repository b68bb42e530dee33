// Watches a changing set of files by notifications of their folders (editors replace files, which a
// watch on the file would lose) and by polling (notifications do not work in containers and on
// network drives). A change is reported if a file differs from its given stamp and has been at
// rest, because editors and compilers write several files in sequence.
import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";

export interface WatchOptions {
  /** Time without changes before a change is reported. Default: 100 ms. */
  readonly restMs?: number;
  /** Polling interval. Default: 1 s. */
  readonly lookMs?: number;
}

/** Delay in which notifications are collected: a busy folder must not cause constant work. */
const GATHER_MS = 20;

/** Returns a stamp of a file's content from its metadata; "" if the file does not exist. */
function stamp(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return "";
  }
}

export class FileWatch {
  readonly #changed: (paths: readonly string[]) => void;
  readonly #restMs: number;
  readonly #look: ReturnType<typeof setInterval>;
  readonly #folders = new Map<string, FSWatcher>();
  #files = new Map<string, string>();
  #rest: ReturnType<typeof setTimeout> | undefined;
  /** Timer of the collection delay. */
  #soon: ReturnType<typeof setTimeout> | undefined;
  #hasMore = false;
  #seen = "";

  /**
   * Calls `changed` with the files that differ from their stamps in `set`; at most once for each
   * `set`.
   */
  constructor(
    changed: (paths: readonly string[]) => void,
    { restMs = 100, lookMs = 1000 }: WatchOptions = {},
  ) {
    this.#changed = changed;
    this.#restMs = restMs;
    this.#look = setInterval(() => this.#check(), lookMs);
  }

  /**
   * Returns the stamps of the files, also of missing ones. Call before the files are read: a change
   * in between would be lost.
   */
  static stamps(paths: Iterable<string>): Map<string, string> {
    return new Map([...paths].map((path) => [path, stamp(path)]));
  }

  /** Watches these files with these stamps. */
  set(files: ReadonlyMap<string, string>): void {
    this.#files = new Map(files);
    this.#seen = "";
    // Missing files (such as package.json of each parent folder) are only polled.
    const wanted = new Set([...files].filter(([, at]) => at !== "").map(([path]) => dirname(path)));
    for (const [folder, watcher] of this.#folders) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const folder of wanted) if (!this.#folders.has(folder)) this.#watchFolder(folder);
    this.#check();
  }

  #watchFolder(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#notified());
      // The folder is gone, or the system has no more watches: polling continues.
      watcher.on("error", () => {
        watcher.close();
        this.#folders.delete(folder);
      });
      this.#folders.set(folder, watcher);
    } catch {
      // The folder does not exist (yet).
    }
  }

  #notified(): void {
    if (this.#soon !== undefined) {
      this.#hasMore = true;
      return;
    }
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      if (!this.#hasMore) return;
      this.#hasMore = false;
      this.#notified();
    }, GATHER_MS);
    this.#check();
  }

  #check(): void {
    const now = [...this.#files.keys()].map((path) => [path, stamp(path)] as const);
    const differing = now.filter(([path, at]) => this.#files.get(path) !== at);
    if (differing.length === 0) {
      clearTimeout(this.#rest);
      this.#rest = undefined;
      return;
    }
    const seen = JSON.stringify(differing);
    if (seen === this.#seen && this.#rest !== undefined) return;
    this.#seen = seen;
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      this.#rest = undefined;
      // At rest: the files are unchanged since the last check.
      if (JSON.stringify(differing.map(([path]) => [path, stamp(path)])) !== this.#seen) {
        return this.#check();
      }
      this.#files = new Map();
      this.#changed(differing.map(([path]) => path));
    }, this.#restMs);
  }

  close(): void {
    clearInterval(this.#look);
    clearTimeout(this.#rest);
    clearTimeout(this.#soon);
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }
}
