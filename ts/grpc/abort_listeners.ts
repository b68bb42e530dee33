// Calls that end when an AbortSignal is aborted. All calls of a signal share one listener for its
// lifetime: workers pass the same signal to thousands of calls, Node warns above ten listeners, and
// adding and removing listeners costs time.

/** A listener of an abort signal. */
export interface AbortListener {
  onAbort(): void;
}

const known = new WeakMap<AbortSignal, Set<AbortListener>>();

/**
 * Returns the set of listeners that are called on abort. Has no effect for a signal that is aborted
 * already.
 */
export function abortListenersOf(signal: AbortSignal): Set<AbortListener> {
  let followers = known.get(signal);
  if (followers === undefined) {
    const all: Set<AbortListener> = followers = new Set();
    known.set(signal, all);
    signal.addEventListener("abort", () => {
      for (const follower of [...all]) follower.onAbort();
    }, { once: true });
  }
  return followers;
}
