// The core of the whole page: core.wasm from this page's own origin, fetched once with the page, whichever part comes first.
import coreUrl from "temporalex/core.wasm?url";

/** The answer of the fetch; for `useCore`, which compiles it while it arrives. */
export const coreFile: Promise<Response> = fetch(new URL(coreUrl, import.meta.url));
// Whoever uses it is told; until then nobody listens.
coreFile.catch(() => {});
