// The worker's exports without the class that needs the core, for "temporalex/worker" and
// "temporalex/slim".
export { type ActivityThreads } from "./activities/activity_pool.ts";
export { type Activities, prefixed } from "./activities/activity_registry.ts";
export { type WorkerDeploymentOptions, type WorkerDeploymentVersion } from "./deployment.ts";
export { type HeartbeatThrottle } from "./activities/heartbeats.ts";
export type { ActivityCall, ActivityInterceptor } from "./interceptors.ts";
export type {
  NexusLink,
  NexusOutcome,
  NexusRequest,
  NexusServices,
  NexusServicesOf,
  NexusStart,
  NexusStopReason,
  NexusWorker,
} from "./nexus/nexus_call.ts";
export type { ActivityAttempt, WorkerEvents } from "./events.ts";
export type { WorkerOptions } from "./options.ts";
export type { RealmSettings, Workflows } from "./workflow/realms.ts";
export {
  describeChange,
  describeProblem,
  type Replacement,
  type ReplacementChange,
  type ReplacementOptions,
  type ReplacementProblem,
  type ReplacementProgress,
  WorkflowReplacementError,
} from "./workflow/replacement.ts";
export type {
  PollerBehavior,
  PollerBehaviorAutoscaling,
  PollerBehaviorSimpleMaximum,
} from "./polls/poller_behavior.ts";
export { WorkerPollError } from "./polls/poller.ts";
export { type WorkerState } from "./worker.ts";
export type {
  RunTrace,
  TracedCommand,
  TracedRun,
  WorkflowTracer,
} from "./workflow/workflow_tracing.ts";
export type { RunEnding } from "./workflow/run_ending.ts";
export * from "../activity/mod.ts";
