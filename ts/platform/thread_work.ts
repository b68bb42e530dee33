// Whether workflow code runs in this thread now. An embedded engine in the same thread then keeps
// its batch of calls open: otherwise each completed task of an inline realm needs a separate
// commit.

const sources = new Set<() => boolean>();

/** `isRunning` is called at each check. Returns the function that removes it. */
export function addThreadWork(isRunning: () => boolean): () => void {
  sources.add(isRunning);
  return () => void sources.delete(isRunning);
}

export function hasThreadWork(): boolean {
  for (const isRunning of sources) if (isRunning()) return true;
  return false;
}
