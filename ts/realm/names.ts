// Exports of this folder that need neither the core nor serveRealm, which have their own files: one
// list for "temporalex/realm" and "temporalex/slim".
export { bundleWorkflows } from "../modules/bundle/mod.ts";
export type { BundleOptions, BundlePart, WorkflowBundle } from "../modules/bundle/build.ts";
export { type InlineRealmOptions } from "./inline_realm.ts";
export {
  formatProblem,
  type Problem,
  type ProblemCode,
  WorkflowLoadError,
} from "../modules/loader/errors.ts";
export { RealmLostError } from "./realm_lost.ts";
export {
  type CacheUse,
  type CommonRealmOptions,
  type FetchHistory,
  type LogSink,
  type Realm,
  RealmDisposedError,
  type RealmOutcome,
  type ReplayOptions,
  type ReplayVerdict,
  type RunOptions,
  type RunSettings,
  type TaskHead,
  type TaskOutcome,
  type VersioningBehavior,
  type WorkflowTask,
} from "./realm.ts";
export { readWorkflowTask } from "../messages/workflow_task.ts";
export type { WorkflowModule } from "./programs.ts";
export type { SourceHost } from "../platform/source_files.ts";
export type { WebWorker } from "../platform/threads.ts";
export type { WorkerRealm, WorkerRealmOptions } from "./worker_realm.ts";
