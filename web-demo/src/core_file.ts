// The worker's half of the core, which shop and debugger need: worker.wasm from this page's own origin, fetched once with the page,
// whichever part comes first. The engine's half is fetched when the shop is opened.
import workerUrl from "temporalex/worker.wasm?url";

/** The answer of the fetch; for `useCore`, which compiles it while it arrives. */
export const workerFile: Promise<Response> = fetch(new URL(workerUrl, import.meta.url));
// A failure is thrown to what needs it; until then it has no listener.
workerFile.catch(() => {});
