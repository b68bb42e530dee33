// A worker that removes the database from a store that no page has open, as a browser's cleanup or
// a bug might.
globalThis.onmessage = async ({ data }) => {
  const root = await navigator.storage.getDirectory();
  const stores = await root.getDirectoryHandle("temporalex");
  const store = await stores.getDirectoryHandle(encodeURIComponent(data));
  const generation = await store.getDirectoryHandle("1");
  for (const until = performance.now() + 30_000;;) {
    try {
      await generation.removeEntry(".opaque", { recursive: true });
      return globalThis.postMessage("done");
    } catch (e) {
      // The worker that had them open has only just been ended.
      if (performance.now() > until) return globalThis.postMessage(String(e));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
};
