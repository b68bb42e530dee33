// The first of many: the first event at which something is true of a run, the first version of the code that does not replay a history. What
// is looked for begins somewhere and stays, so each look halves what is left; a version costs a realm and a replay.
import type { DebugSession } from "./session.ts";
import type { SessionView } from "./view.ts";

/** What was found. */
export interface Bisected<T> {
  /** The first for which it holds; undefined: it holds for none. */
  readonly first: T | undefined;
  /** The last one before it; undefined: it holds for all, or there is none. */
  readonly before: T | undefined;
  /** How many were looked at. */
  readonly tried: number;
}

/** Options of a bisection. */
export interface BisectOptions<T> {
  /** Told of each look. `left`: how many are still in question. */
  readonly onTried?: (item: T, holds: boolean, left: number) => void;
  /** Ends it: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * The first of `versions` (oldest first: revisions, folders, realms) for which `holds` is true, as it is for all after it. Looks at the
 * newest one first. Rejects with what `holds` rejects with.
 */
export async function bisectVersions<T>(
  versions: readonly T[],
  holds: (version: T) => boolean | Promise<boolean>,
  { onTried, signal }: BisectOptions<T> = {},
): Promise<Bisected<T>> {
  let [low, high] = [0, versions.length];
  let tried = 0;
  while (low < high) {
    signal?.throwIfAborted();
    const at = high === versions.length ? high - 1 : low + Math.floor((high - low) / 2);
    const version = versions[at]!;
    const found = await holds(version);
    tried++;
    // Where it does not hold for the newest one, it holds for none.
    if (found) high = at;
    else low = at + 1;
    onTried?.(version, found, high - low);
  }
  return { first: versions[high], before: versions[high - 1], tried };
}

/**
 * The first position of a session at which something is true of what it shows, as it is at all positions after it. Synchronous, and
 * replays nothing. For what comes and goes, `session.code.findNext` looks at every position.
 */
export function bisectEvents(session: DebugSession, holds: (view: SessionView) => boolean): Bisected<number> {
  let [low, high] = [1, session.length + 1];
  let tried = 0;
  while (low < high) {
    const at = high > session.length ? session.length : low + Math.floor((high - low) / 2);
    tried++;
    if (holds(session.viewAt(at))) high = at;
    else low = at + 1;
  }
  const first = high > session.length ? undefined : high;
  return { first, before: high > 1 ? high - 1 : undefined, tried };
}
