// Replays the histories of a source concurrently and emits the lines in the source's order. Memory
// is bounded: a history is read when a slot is free, and those in progress have a common size
// limit.
import type { CodecOptions } from "../../../codec/codec.ts";
import { decodeHistory } from "../../../codec/message_codec.ts";
import type { ValueComparison } from "../../../debug/divergence/types.ts";
import type { HistoryFile } from "../../../history_files/history_file.ts";
import type { WorkerRealm } from "../../../realm/mod.ts";
import { brokenLine, type ReplayLine, replayLine } from "./line.ts";
import { type Found, HistoryGone, type Source } from "./sources/source.ts";

/** Histories per realm thread: the current one and the next one. */
const PER_THREAD = 2;

/** Maximum bytes of histories in progress; a larger one is replayed alone. */
const MAX_BYTES = 128 * 1024 * 1024;

/** Maximum lines that wait for an earlier one. */
const MAX_WAITING = 2000;

export interface GateOptions {
  readonly realm: Pick<WorkerRealm, "replay">;
  readonly threads: number;
  readonly codec: CodecOptions["codec"];
  readonly strict: boolean;
  /** How values are compared; undefined: not. */
  readonly compared?: ValueComparison | undefined;
  /** With `compared`: what changed values are. */
  readonly values?: "warn" | "error" | undefined;
  /** No history is begun after it is aborted. */
  readonly signal: AbortSignal;
  /** Called if the run of a history was deleted. */
  onGone(): void;
  /** `history`: with decoded payloads, if it is kept. */
  onLine(line: ReplayLine, history: HistoryFile | undefined): void;
  /** Returns whether `onLine` needs the history. `number`: position in the source, from 0. */
  keeps?(line: ReplayLine, number: number): boolean;
}

interface Replayed {
  readonly line: ReplayLine;
  readonly history: HistoryFile | undefined;
  /** Size of a kept history, which counts as in progress until it is emitted. */
  readonly bytes: number;
}

/**
 * Resolves when all histories are replayed, or soon after the signal, which cancels those in
 * progress.
 */
export async function replayAll(source: Source, options: GateOptions): Promise<void> {
  const { signal } = options;
  const places = options.threads * PER_THREAD + source.ahead;
  /** Lines by number; null if no line is emitted. */
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
  // Not a race against one promise of the signal, which would retain all other promises.
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
      const room = () =>
        open === 0 ||
        (open < places && bytes + value.bytes <= MAX_BYTES && done.size < MAX_WAITING);
      for (; !signal.aborted && !room(); handOut()) await change();
      if (!signal.aborted) begin(value);
      handOut();
    }
    for (; !signal.aborted && open > 0; handOut()) await change();
  } finally {
    signal.removeEventListener("abort", onAbort);
    // A busy source closes when its current step ends.
    if (signal.aborted) void Promise.resolve(iterator.return?.()).catch(() => {});
    else await iterator.return?.();
  }
  handOut();
  // After Ctrl-C lines can be missing.
  for (const [, one] of [...done].toSorted(([a], [b]) => a - b)) {
    if (one !== null) options.onLine(one.line, one.history);
  }
}

function iterate(source: Source): AsyncIterator<Found> | Iterator<Found> {
  const histories = source.histories();
  return Symbol.asyncIterator in histories
    ? histories[Symbol.asyncIterator]()
    : histories[Symbol.iterator]();
}

/** Never rejects. */
async function replayOne(
  found: Found,
  number: number,
  { realm, codec, strict, compared, values, keeps }: GateOptions,
): Promise<Replayed | null> {
  const started = performance.now();
  const ms = () => Math.round((performance.now() - started) * 10) / 10;
  try {
    const history = await found.read();
    const bytes = codec === undefined ? history.bytes : await decodeHistory(history.bytes, codec);
    const line = replayLine(
      found,
      history,
      await realm.replay(history.workflowId, bytes, {
        strict,
        ...(compared !== undefined && { values: compared }),
      }),
      ms(),
      values,
    );
    if (keeps?.(line, number) !== true) return { line, history: undefined, bytes: 0 };
    return { line, history: { ...history, bytes }, bytes: bytes.length };
  } catch (e) {
    return e instanceof HistoryGone
      ? null
      : { line: brokenLine(found, e, ms()), history: undefined, bytes: 0 };
  }
}
