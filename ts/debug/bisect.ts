// Bisection: the first event at which a condition holds, or the first version of the code that does
// not replay a history. The condition must stay true once it is true, so each check halves the
// range. Checking a version takes a realm and a replay.
import type { DebugSession } from "./session.ts";
import type { SessionView } from "./view.ts";

/** Result of a bisection. */
export interface Bisected<T> {
  /** The first item for which the condition holds; undefined if no item matches. */
  readonly first: T | undefined;
  /** The last item before `first`; undefined if no item matches. */
  readonly before: T | undefined;
  /** Number of items that were checked. */
  readonly tried: number;
}

/** Options of a bisection. */
export interface BisectOptions<T> {
  /** Called after each check. `left`: number of items still in question. */
  readonly onTried?: (item: T, holds: boolean, left: number) => void;
  /** Aborts the bisection, which rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Returns the first of `versions` (oldest first: revisions, folders, realms) for which `holds` is
 * true, given that it is true for all after it. Checks the newest first. Rejects with errors of
 * `holds`.
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
    // If it does not hold for the newest, it holds for none.
    if (found) high = at;
    else low = at + 1;
    onTried?.(version, found, high - low);
  }
  return { first: versions[high], before: versions[high - 1], tried };
}

/**
 * Returns the first position of a session at which a condition on its view holds, given that it
 * holds at all later positions. Synchronous, without a replay. For conditions that come and go, use
 * `session.code.findNext`.
 */
export function bisectEvents(
  session: DebugSession,
  holds: (view: SessionView) => boolean,
): Bisected<number> {
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
