// Replays what a source has, several histories at a time, and hands out the lines in the source's order. Memory is bounded: a history is
// read when a place is free, and histories in work have a limit of bytes together.
import type { CodecOptions } from "../../../codec/codec.ts";
import { decodeHistory } from "../../../codec/message_codec.ts";
import type { WorkerRealm } from "../../../realm/mod.ts";
import { brokenLine, lineOf, type ReplayLine } from "./line.ts";
import { type Found, HistoryGone, type Source } from "./sources/source.ts";

/** Histories that a realm's thread has before it: one that it is at, and the next one. */
const PER_THREAD = 2;

/** Bytes of histories in work; one that is larger is replayed alone. */
const MAX_BYTES = 128 * 1024 * 1024;

/** Lines that wait for one before them. */
const MAX_WAITING = 2000;

export interface GateOptions {
  readonly realm: Pick<WorkerRealm, "replay">;
  readonly threads: number;
  readonly codec: CodecOptions["codec"];
  readonly strict: boolean;
  /** No history is begun after it. */
  readonly signal: AbortSignal;
  /** A history whose run was gone. */
  onGone(): void;
  onLine(line: ReplayLine): void;
}

/** Resolves when all is replayed, or soon after the signal; then what is in work is given up. */
export async function replayAll(source: Source, options: GateOptions): Promise<void> {
  const { signal } = options;
  const places = options.threads * PER_THREAD + source.ahead;
  /** Lines by number; null where there is none to hand out. */
  const done = new Map<number, ReplayLine | null>();
  let begun = 0;
  let next = 0;
  let open = 0;
  let bytes = 0;
  let wake = () => {};
  const change = () => new Promise<void>((resolve) => wake = resolve);
  const handOut = () => {
    for (let line = done.get(next); line !== undefined; line = done.get(next)) {
      done.delete(next++);
      if (line === null) options.onGone();
      else options.onLine(line);
    }
  };
  const begin = (found: Found) => {
    const number = begun++;
    open++;
    bytes += found.bytes;
    void replayOne(found, options).then((line) => {
      open--;
      bytes -= found.bytes;
      done.set(number, line);
      wake();
    });
  };
  // Not a race against one promise of the signal's: that would keep all that was ever in the race.
  let stop = () => {};
  const onAbort = () => {
    stop();
    wake();
  };
  signal.addEventListener("abort", onAbort);
  const iterator = iterate(source);
  try {
    while (!signal.aborted) {
      const step = await new Promise<IteratorResult<Found, unknown>>((resolve, reject) => {
        stop = () => resolve({ done: true, value: undefined });
        Promise.resolve(iterator.next()).then(resolve, reject);
      });
      if (step.done === true) break;
      const { value } = step;
      const room = () => open === 0 || (open < places && bytes + value.bytes <= MAX_BYTES && done.size < MAX_WAITING);
      for (; !signal.aborted && !room(); handOut()) await change();
      if (!signal.aborted) begin(value);
      handOut();
    }
    for (; !signal.aborted && open > 0; handOut()) await change();
  } finally {
    signal.removeEventListener("abort", onAbort);
    // A source that is in the middle of something closes when it gets there.
    if (signal.aborted) void Promise.resolve(iterator.return?.()).catch(() => {});
    else await iterator.return?.();
  }
  handOut();
  // After Ctrl-C there are gaps.
  for (const [, line] of [...done].toSorted(([a], [b]) => a - b)) if (line !== null) options.onLine(line);
}

function iterate(source: Source): AsyncIterator<Found> | Iterator<Found> {
  const histories = source.histories();
  return Symbol.asyncIterator in histories ? histories[Symbol.asyncIterator]() : histories[Symbol.iterator]();
}

/** Never rejects. */
async function replayOne(found: Found, { realm, codec, strict }: GateOptions): Promise<ReplayLine | null> {
  const started = performance.now();
  const ms = () => Math.round((performance.now() - started) * 10) / 10;
  try {
    const history = await found.read();
    const bytes = codec === undefined ? history.bytes : await decodeHistory(history.bytes, codec);
    return lineOf(found, history, await realm.replay(history.workflowId, bytes, { strict }), ms());
  } catch (e) {
    return e instanceof HistoryGone ? null : brokenLine(found, e, ms());
  }
}
