// Realms: environments in which workflow code runs.
import { inlineWorker } from "../core/inline_worker.ts";
import { createInlineRealm as inlineRealm } from "./inline_realm.ts";
import { createWorkerRealm as workerRealm } from "./start_worker_realm.ts";

/** Creates an inline realm: workflow code in this thread, for unit tests and benchmarks. */
export const createInlineRealm: typeof inlineRealm = /* @__PURE__ */ inlineWorker(inlineRealm);
/**
 * Starts a worker realm. Rejects with a WorkflowLoadError that lists the file and line of
 * everything that cannot be loaded.
 */
export const createWorkerRealm: typeof workerRealm = /* @__PURE__ */ inlineWorker(workerRealm);
export * from "./names.ts";
export { type ServedWorkflows, type ServeOptions, serveRealm } from "./serve.ts";
