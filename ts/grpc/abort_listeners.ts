// Calls that end when an AbortSignal is aborted. One listener per signal serves all of them, for as long as the signal is there: workers give
// thousands of calls the same one, Node warns of more than ten listeners, and adding and removing them is work.

/** A listener of an abort signal. */
export interface AbortListener {
  onAbort(): void;
}

const known = new WeakMap<AbortSignal, Set<AbortListener>>();

/** Listeners in this set are called when the signal is aborted. One that is aborted already calls none. */
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
