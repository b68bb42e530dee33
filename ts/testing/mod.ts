// Testing workflows and activities.
export { type ActivityMocks, mockActivities, type MockedActivities, runActivity, type RunActivityOptions } from "./activities.ts";
export { KeepsFailingError, TestEnvironment, type TestEnvironmentOptions, type TestWorkerOptions } from "./environment.ts";
