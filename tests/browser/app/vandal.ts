// A worker that takes the database out of a store that nobody has open, as a browser's cleaning or a bug might.
globalThis.onmessage = async ({ data }) => {
  const root = await navigator.storage.getDirectory();
  const stores = await root.getDirectoryHandle("temporalex");
  const store = await stores.getDirectoryHandle(encodeURIComponent(data));
  const generation = await store.getDirectoryHandle("1");
  await generation.removeEntry(".opaque", { recursive: true });
  globalThis.postMessage("done");
};
