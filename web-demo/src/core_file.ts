// worker.wasm, the core's half for workers: fetched once from the page's origin, for shop and
// debugger. The half of the engine is fetched when the shop is opened.
import workerUrl from "temporalex/worker.wasm?url";

/** The response of the fetch, for `useCore`, which compiles it during the download. */
export const workerFile: Promise<Response> = fetch(new URL(workerUrl, import.meta.url));
// The error is thrown where the file is needed. This handler prevents an unhandled rejection until
// then.
workerFile.catch(() => {});
