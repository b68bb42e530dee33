// Realms: where workflow code runs.
import { inlineCore } from "../core/inline.ts";
import { createInlineRealm as inlineRealm } from "./inline_realm.ts";
import { createWorkerRealm as workerRealm } from "./worker_realm.ts";

/** Makes an inline realm: workflow code in this thread, for unit tests and benches. */
export const createInlineRealm: typeof inlineRealm = /* @__PURE__ */ inlineCore(inlineRealm);
/** Starts a worker realm. Rejects with a WorkflowLoadError that names file and line of everything that cannot be loaded. */
export const createWorkerRealm: typeof workerRealm = /* @__PURE__ */ inlineCore(workerRealm);
export { type InlineRealmOptions } from "./inline_realm.ts";
export { formatProblem, type Problem, type ProblemCode, WorkflowLoadError } from "./loader/errors.ts";
export { RealmLostError } from "./lost_task.ts";
export {
  type CommonRealmOptions,
  type FetchHistory,
  type LogSink,
  type Realm,
  RealmDisposedError,
  type ReplayOptions,
  type ReplayVerdict,
  type RunOptions,
  type TaskOutcome,
} from "./realm.ts";
export type { WorkflowModule } from "./programs.ts";
export type { SourceHost } from "../platform/source_files.ts";
export type { WebWorker } from "../platform/threads.ts";
export { type ServedWorkflows, type ServeOptions, serveRealm } from "./serve.ts";
export { type WorkerRealm, type WorkerRealmOptions } from "./worker_realm.ts";
