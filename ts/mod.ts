// temporalex: durable workflows. `open` starts engine, worker and client in one process; the parts are here too. Workflow code imports
// from "temporalex/workflow" and nothing else of this package; activities import from "temporalex/activity"; tests from "temporalex/testing".
export { type App, open, type OpenOptions } from "./app/open.ts";
export * from "./client/mod.ts";
export * from "./engine/mod.ts";
export {
  type Activities,
  type ActivityAttempt,
  type ActivityThreads,
  prefixed,
  Worker,
  type WorkerEvents,
  type WorkerOptions,
  WorkerPollError,
  type WorkerState,
  type Workflows,
} from "./worker/mod.ts";
export {
  type ActivityContext,
  activityContext,
  type ActivityInfo,
  activityInfo,
  type CancelReason,
  completeAsync,
  heartbeat,
  withContext,
} from "./activity/mod.ts";
export { RealmLostError, WorkflowLoadError } from "./realm/mod.ts";
export {
  ActivityFailure,
  ApplicationFailure,
  type ApplicationFailureOptions,
  CancelledFailure,
  ChildWorkflowFailure,
  defaultPayloadConverter,
  type Duration,
  isCancellation,
  type Payload,
  type PayloadConverter,
  type RetryState,
  ServerFailure,
  TemporalFailure,
  TerminatedFailure,
  TimeoutFailure,
  type TimeoutType,
} from "./converter/mod.ts";
