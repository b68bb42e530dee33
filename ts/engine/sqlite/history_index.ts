// Positions of the history batches of runs. In the file they are a chain from newest to oldest
// (schema.ts); this index keeps the part that was walked, so that paging through a long history
// walks it once. Bounded: the least recently read runs are evicted.
import { cutBatch } from "../history_bytes.ts";
import { StoreCorruptError, StoreError } from "../store_errors.ts";
import type { SqlDatabase, SqlStatement } from "./driver.ts";

/** Batches from some event to the end, oldest first. */
interface Known {
  keys: number[];
  firsts: number[];
  /** Key of the batch before the oldest known one; 0 at the beginning. */
  before: number;
}

const MAX_RUNS = 256;
const MAX_BATCHES = 500_000;

export class HistoryIndex {
  readonly #runs = new Map<number, Known>();
  readonly #walk: SqlStatement;
  readonly #events: SqlStatement;
  #batches = 0;

  constructor(database: SqlDatabase) {
    this.#walk = database.prepare(
      `WITH RECURSIVE chain (history_key, prev, first_event_id, last_event_id) AS (
         SELECT history_key, prev, first_event_id, last_event_id FROM history WHERE history_key = ?1 AND run_key = ?2
         UNION ALL
         SELECT h.history_key, h.prev, h.first_event_id, h.last_event_id FROM chain JOIN history h ON h.history_key = chain.prev
          WHERE chain.first_event_id > ?3 AND h.run_key = ?2
       ) SELECT * FROM chain ORDER BY history_key`,
    );
    this.#events = database.prepare("SELECT events FROM history WHERE history_key = ?");
  }

  /**
   * Returns the events `from`..`to` of a run whose newest batch is `newest` and last event is
   * `last`.
   */
  read(runKey: number, newest: number, last: number, from: number, to: number): Uint8Array[] {
    if (from < 1 || to > last || from > to) {
      throw new StoreError(
        `events ${from} to ${to} were requested from a history of ${last} events`,
      );
    }
    const known = this.#known(runKey, newest, last, from);
    const { keys, firsts } = known;
    // The last batch that begins at or before `from`.
    let low = 0;
    for (let high = keys.length - 1; low < high;) {
      const middle = (low + high + 1) >> 1;
      if (firsts[middle]! <= from) low = middle;
      else high = middle - 1;
    }
    const parts: Uint8Array[] = [];
    for (let i = low; i < keys.length && firsts[i]! <= to; i++) {
      const events = this.#events.get([keys[i]!])?.["events"];
      if (!(events instanceof Uint8Array)) {
        throw new StoreCorruptError(
          `the history events from event ${firsts[i]} are missing (table history, history_key ${
            keys[i]
          }); restore a backup of the store`,
        );
      }
      parts.push(cutBatch(events, firsts[i]!, (firsts[i + 1] ?? last + 1) - 1, from, to));
    }
    return parts;
  }

  #known(runKey: number, newest: number, last: number, from: number): Known {
    const known = this.#runs.get(runKey) ?? { keys: [], firsts: [], before: newest };
    if (known.keys.length === 0 || known.firsts[0]! > from) this.#extend(known, runKey, from, last);
    this.#runs.delete(runKey);
    this.#runs.set(runKey, known);
    this.#shrink();
    return known;
  }

  /** Walks toward the beginning until `from` is known. */
  #extend(known: Known, runKey: number, from: number, last: number): void {
    const older = this.#walk.all([known.before, runKey, from]);
    let next = known.firsts[0] ?? last + 1;
    for (let i = older.length - 1; i >= 0 && older[i]!["last_event_id"] === next - 1; i--) {
      next = older[i]!["first_event_id"] as number;
    }
    if (next > from) {
      throw new StoreCorruptError(`the history of a run has a gap before event ${next}`);
    }
    known.keys = older.map((row) => row["history_key"] as number).concat(known.keys);
    known.firsts = older.map((row) => row["first_event_id"] as number).concat(known.firsts);
    known.before = older[0]!["prev"] as number;
    this.#batches += older.length;
  }

  /** Adds a committed batch. */
  appended(runKey: number, key: number, first: number): void {
    const known = this.#runs.get(runKey);
    if (known === undefined) return;
    known.keys.push(key);
    known.firsts.push(first);
    this.#batches++;
  }

  forget(runKey: number): void {
    const known = this.#runs.get(runKey);
    if (known === undefined) return;
    this.#batches -= known.keys.length;
    this.#runs.delete(runKey);
  }

  #shrink(): void {
    for (const key of this.#runs.keys()) {
      // The run that was just read is last and stays, however long it is.
      if (this.#runs.size === 1 || (this.#runs.size <= MAX_RUNS && this.#batches <= MAX_BATCHES)) {
        return;
      }
      this.forget(key);
    }
  }
}
