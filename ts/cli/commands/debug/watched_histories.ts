// Watches the files of histories: a new export replaces the history. A file that cannot be read
// changes nothing and is reported only if it stays so, because an export may be read while it is
// written.
import { resolve } from "node:path";
import type { CodecOptions } from "../../../codec/codec.ts";
import { FileWatch } from "../worker/watch.ts";
import { fileSource } from "../replay/sources/files.ts";
import { readServed, type ServedHistory } from "./served_histories.ts";

export interface HistoryFileEvents {
  /** The history at this index was replaced. */
  changed(index: number, history: ServedHistory): void;
  /** The history can no longer be read; the previous one stays. */
  broken(history: ServedHistory, error: Error): void;
}

export interface WatchedOptions {
  readonly cwd: string;
  readonly codec: CodecOptions["codec"];
  /** Stamps of the files from before they were read (FileWatch.stamps). */
  readonly stamps: ReadonlyMap<string, string>;
  /** Time in milliseconds that a file may be unreadable before it is reported. */
  readonly patienceMs?: number;
}

const REST_MS = 50, LOOK_MS = 500, PATIENCE_MS = 1500;

export class WatchedHistories {
  readonly #histories: ServedHistory[];
  readonly #events: HistoryFileEvents;
  readonly #options: WatchedOptions;
  readonly #watch: FileWatch;
  readonly #stamps: Map<string, string>;
  /** Timers of unreadable files, by path. */
  readonly #late = new Map<string, ReturnType<typeof setTimeout>>();
  #closed = false;

  constructor(
    histories: readonly ServedHistory[],
    events: HistoryFileEvents,
    options: WatchedOptions,
  ) {
    this.#histories = [...histories];
    this.#events = events;
    this.#options = options;
    this.#stamps = new Map(options.stamps);
    this.#watch = new FileWatch((paths) => void this.#read(paths), {
      restMs: REST_MS,
      lookMs: LOOK_MS,
    });
    this.#watch.set(this.#stamps);
  }

  async #read(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      this.#stamps.set(path, FileWatch.stamps([path]).get(path)!);
      clearTimeout(this.#late.get(path));
      await this.#readFile(path);
      if (this.#closed) return;
    }
    this.#watch.set(this.#stamps);
  }

  async #readFile(path: string): Promise<void> {
    const { cwd, codec, patienceMs = PATIENCE_MS } = this.#options;
    const own = this.#histories.flatMap((history, index) =>
      resolve(cwd, history.found.file) === path ? [{ history, index }] : []
    );
    const open = new Map(own.map((each) => [each.history.found.place, each]));
    const fail = (history: ServedHistory, error: Error) =>
      this.#late.set(path, setTimeout(() => this.#events.broken(history, error), patienceMs));
    try {
      for await (const found of fileSource([own[0]!.history.found.file], cwd).histories()) {
        const known = open.get(found.place);
        if (known === undefined) {
          // Reports why the file has no history.
          await found.read();
          continue;
        }
        const next = await readServed(found, codec);
        open.delete(found.place);
        if (this.#closed) return;
        if (same(next.file.bytes, known.history.file.bytes)) continue;
        this.#histories[known.index] = next;
        this.#events.changed(known.index, next);
      }
      const [missing] = open.values();
      if (missing !== undefined) {
        fail(missing.history, new Error("the file does not have it any more"));
      }
    } catch (error) {
      fail([...open.values()][0]?.history ?? own[0]!.history, error as Error);
    }
  }

  close(): void {
    this.#closed = true;
    this.#watch.close();
    for (const timer of this.#late.values()) clearTimeout(timer);
  }
}

const same = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);
