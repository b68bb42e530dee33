// The worker: runs workflows and activities for a service.
import { inlineCore } from "../core/inline.ts";
import { Worker as AnyWorker } from "./worker.ts";

/** The worker of one task queue: `Worker.create({ service, taskQueue, workflows, activities })`, then `run()`. */
export const Worker: typeof AnyWorker = /* @__PURE__ */ inlineCore(AnyWorker);
/** The worker of one task queue. */
export type Worker = AnyWorker;
export { type ActivityThreads } from "./activity_pool.ts";
export { type Activities, prefixed } from "./activity_registry.ts";
export { type HeartbeatThrottle } from "./heartbeats.ts";
export type { ActivityAttempt, WorkerEvents, WorkerOptions } from "./options.ts";
export type { RealmSettings, Workflows } from "./realms.ts";
export {
  describeProblem,
  type Replacement,
  type ReplacementOptions,
  type ReplacementProblem,
  type ReplacementProgress,
  WorkflowReplacementError,
} from "./replacement.ts";
export { WorkerPollError } from "./poller.ts";
export { type TaskRealm } from "./workflow_tasks.ts";
export { type WorkerState } from "./worker.ts";
export * from "../activity/mod.ts";
