// Tests of workflows and activities.
import { inlineEngine } from "../core/inline_engine.ts";
import { inlineWorker } from "../core/inline_worker.ts";
import { TestEnvironment as Environment } from "./environment.ts";

/** An engine in memory with virtual time: `await TestEnvironment.create()`. */
export const TestEnvironment: typeof Environment = /* @__PURE__ */ inlineWorker(
  /* @__PURE__ */ inlineEngine(Environment),
);
/** The test environment. */
export type TestEnvironment = Environment;
export {
  type ActivityMocks,
  mockActivities,
  type MockedActivities,
  runActivity,
  type RunActivityOptions,
} from "./activities.ts";
export { type EndlessWait, EndlessWaitError, type EndlessWaits } from "./endless_wait.ts";
export type { TestEnvironmentOptions, TestWorkerOptions } from "./environment.ts";
export { KeepsFailingError } from "./keeps_failing.ts";
