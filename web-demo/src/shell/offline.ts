// Registers the service worker, which stores the page's files so that the page opens without a
// network. Without one (insecure origin, blocked, no sw.js on the server) everything else works.
import { served } from "../served/about.ts";
import { type Signal, signal } from "@preact/signals";

/** True once the page's files are stored in this browser. */
export const isReadyOffline: Signal<boolean> = signal(false);

export async function keepOffline(): Promise<void> {
  // A development build has no list of files. Pages served by a command change with its version and
  // are not stored.
  if (!import.meta.env.PROD || served !== undefined || !("serviceWorker" in navigator)) return;
  try {
    await navigator.serviceWorker.register(new URL("sw.js", document.baseURI));
    await navigator.serviceWorker.ready;
    isReadyOffline.value = true;
  } catch {
    // The page still works online.
  }
}
