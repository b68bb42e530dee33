// Testing workflows and activities.
import { inlineCore } from "../core/inline.ts";
import { TestEnvironment as Environment } from "./environment.ts";

/** A whole engine in memory with virtual time: `await TestEnvironment.create()`. */
export const TestEnvironment: typeof Environment = /* @__PURE__ */ inlineCore(Environment);
/** The test environment. */
export type TestEnvironment = Environment;
export { type ActivityMocks, mockActivities, type MockedActivities, runActivity, type RunActivityOptions } from "./activities.ts";
export { EndlessWaitError, KeepsFailingError, type TestEnvironmentOptions, type TestWorkerOptions } from "./environment.ts";
