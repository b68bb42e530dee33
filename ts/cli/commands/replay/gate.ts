// Replays what a source has, several histories at a time, and hands out the lines in the source's order. Memory is bounded: a history is
// read when a place is free, and histories in work have a limit of bytes together.
import type { CodecOptions } from "../../../codec/codec.ts";
import { decodeHistory } from "../../../codec/message_codec.ts";
import type { HistoryFile } from "../../../history_files/history_file.ts";
import type { WorkerRealm } from "../../../realm/mod.ts";
import { brokenLine, type ReplayLine, replayLine } from "./line.ts";
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
  /** `history`: with its payloads decoded, where it is kept. */
  onLine(line: ReplayLine, history: HistoryFile | undefined): void;
  /** Whether the history is wanted beside its line. `number`: in the order of the source, from 0. */
  keeps?(line: ReplayLine, number: number): boolean;
}

interface Replayed {
  readonly line: ReplayLine;
  readonly history: HistoryFile | undefined;
  /** Of the history, where it is kept: until it is handed out it counts as one in work. */
  readonly bytes: number;
}

/** Resolves when all is replayed, or soon after the signal; then what is in work is given up. */
export async function replayAll(source: Source, options: GateOptions): Promise<void> {
  const { signal } = options;
  const places = options.threads * PER_THREAD + source.ahead;
  /** Lines by number; null where there is none to hand out. */
  const done = new Map<number, Replayed | null>();
  let begun = 0;
  let next = 0;
  let open = 0;
  let bytes = 0;
  let wake = () => {};
  const change = () => new Promise<void>((resolve) => wake = resolve);
  const handOut = () => {
    for (let one = done.get(next); one !== undefined; one = done.get(next)) {
      done.delete(next++);
      if (one === null) {
        options.onGone();
        continue;
      }
      bytes -= one.bytes;
      options.onLine(one.line, one.history);
    }
  };
  const begin = (found: Found) => {
    const number = begun++;
    open++;
    bytes += found.bytes;
    void replayOne(found, number, options).then((one) => {
      open--;
      bytes -= found.bytes - (one?.bytes ?? 0);
      done.set(number, one);
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
  for (const [, one] of [...done].toSorted(([a], [b]) => a - b)) if (one !== null) options.onLine(one.line, one.history);
}

function iterate(source: Source): AsyncIterator<Found> | Iterator<Found> {
  const histories = source.histories();
  return Symbol.asyncIterator in histories ? histories[Symbol.asyncIterator]() : histories[Symbol.iterator]();
}

/** Never rejects. */
async function replayOne(
  found: Found,
  number: number,
  { realm, codec, strict, keeps }: GateOptions,
): Promise<Replayed | null> {
  const started = performance.now();
  const ms = () => Math.round((performance.now() - started) * 10) / 10;
  try {
    const history = await found.read();
    const bytes = codec === undefined ? history.bytes : await decodeHistory(history.bytes, codec);
    const line = replayLine(found, history, await realm.replay(history.workflowId, bytes, { strict }), ms());
    if (keeps?.(line, number) !== true) return { line, history: undefined, bytes: 0 };
    return { line, history: { ...history, bytes }, bytes: bytes.length };
  } catch (e) {
    return e instanceof HistoryGone ? null : { line: brokenLine(found, e, ms()), history: undefined, bytes: 0 };
  }
}
