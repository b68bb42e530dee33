// Engine workers of browsers that lack something, chosen by the query in the worker's URL.
import { serveEngine } from "../../../../ts/browser/mod.ts";

const lack = new URL(location.href).search.slice(1);
if (lack === "private") {
  // What Firefox and Safari do in private windows.
  Object.defineProperty(navigator.storage, "getDirectory", {
    value: () => Promise.reject(new DOMException("The operation is insecure.", "SecurityError")),
  });
}
if (lack === "old") {
  delete (FileSystemFileHandle.prototype as { createSyncAccessHandle?: unknown })
    .createSyncAccessHandle;
}
if (lack === "lockless") Object.defineProperty(navigator, "locks", { value: undefined });
if (lack === "denied") {
  const refuse = () =>
    Promise.reject(
      new DOMException("Access to the Locks API is denied in this context.", "SecurityError"),
    );
  Object.defineProperty(navigator.locks, "request", { value: refuse });
}
if (lack === "crashing") {
  // On request.
  new BroadcastChannel("crash").onmessage = () => {
    throw new Error("a bug in the engine's worker");
  };
}
serveEngine();
