// Watches a changing set of files. Two means, because neither is enough alone: notifications of the folders (editors replace files rather
// than write them, which a watch on the file itself would lose), and a look at all files every so often (notifications do not reach into
// containers and network drives). Either way what counts is whether a file differs from when its set was given, and whether it has been at
// rest for a moment: editors and compilers write several files one after the other.
import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";

export interface WatchOptions {
  /** The files have been at rest for so long before a change is told. Default: 100 ms. */
  readonly restMs?: number;
  /** How often all files are looked at. Default: 1 s. */
  readonly lookMs?: number;
}

/** The first notification is looked at, and those of so long after it together: a busy folder must not keep us busy. */
const GATHER_MS = 20;

/** Identity of a file's content, as far as the file system tells; "" where there is none. */
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
  /** Until it is over notifications are gathered. */
  #soon: ReturnType<typeof setTimeout> | undefined;
  #hasMore = false;
  #seen = "";

  /** `changed` is called with the files that differ from when they were given to `set`; until the next `set` it is not called again. */
  constructor(changed: (paths: readonly string[]) => void, { restMs = 100, lookMs = 1000 }: WatchOptions = {}) {
    this.#changed = changed;
    this.#restMs = restMs;
    this.#look = setInterval(() => this.#check(), lookMs);
  }

  /**
   * Takes the stamps of the files; paths that do not exist yet count too. Take them before the files are read, or a change between the
   * two is lost.
   */
  static stamps(paths: Iterable<string>): Map<string, string> {
    return new Map([...paths].map((path) => [path, stamp(path)]));
  }

  /** Watches these files from now on, against these stamps. */
  set(files: ReadonlyMap<string, string>): void {
    this.#files = new Map(files);
    this.#seen = "";
    // What is not there (package.json of every folder above, say) is left to the looks.
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
      // The folder is gone, or the system has no more watches to give: the looks go on.
      watcher.on("error", () => {
        watcher.close();
        this.#folders.delete(folder);
      });
      this.#folders.set(folder, watcher);
    } catch {
      // It does not exist (yet).
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
      // At rest: the files still are as they were when this was set.
      if (JSON.stringify(differing.map(([path]) => [path, stamp(path)])) !== this.#seen) return this.#check();
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
