// The page opens without a network once its service worker is there. Where there is none (no secure origin, forbidden, a server that has none)
// nothing else is missing.
import { served } from "../served/about.ts";
import { type Signal, signal } from "@preact/signals";

/** The page's files are kept in this browser. */
export const isReadyOffline: Signal<boolean> = signal(false);

export async function keepOffline(): Promise<void> {
  // A page in development has no list of files.
  // What a command serves is its own as long as it runs, and is kept nowhere.
  if (!import.meta.env.PROD || served !== undefined || !("serviceWorker" in navigator)) return;
  try {
    await navigator.serviceWorker.register(new URL("sw.js", document.baseURI));
    await navigator.serviceWorker.ready;
    isReadyOffline.value = true;
  } catch {
    // It works as long as there is a network.
  }
}
