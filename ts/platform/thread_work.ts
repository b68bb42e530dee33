// Whether workflow code runs in this thread at this moment. An embedded engine in the same thread keeps its batch of calls open meanwhile,
// because each task that ends makes a call: without this, each task of an inline realm needs a separate commit.

const sources = new Set<() => boolean>();

/** `isRunning`: called at each question. Returns the function that removes it. */
export function addThreadWork(isRunning: () => boolean): () => void {
  sources.add(isRunning);
  return () => void sources.delete(isRunning);
}

export function hasThreadWork(): boolean {
  for (const isRunning of sources) if (isRunning()) return true;
  return false;
}
