// The core of the whole page: core.wasm from this page's own origin, fetched once, compiled while it arrives, posted to every worker.
import coreUrl from "temporalex/core.wasm?url";
import { useCore } from "temporalex/slim";

useCore(fetch(new URL(coreUrl, import.meta.url)));
