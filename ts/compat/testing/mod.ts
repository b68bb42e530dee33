// `@temporalio/testing`: environments for tests of workflows and activities.
import { fileURLToPath } from "node:url";
import { bundled, ownFile } from "../../platform/own_code.ts";

export { type ClientOptionsForTestEnv, TimeSkippingWorkflowClient } from "./client.ts";
export {
  type ExistingServerConnectionOptions,
  type ExistingServerTestWorkflowEnvironmentOptions,
  type LocalTestWorkflowEnvironmentOptions,
  TestWorkflowEnvironment,
  type TimeSkippingTestWorkflowEnvironmentOptions,
} from "./environment.ts";
export type { NexusEndpointIdentifier } from "./nexus_endpoints.ts";
export {
  type CancelReason,
  defaultActivityInfo,
  type Emitter,
  MockActivityEnvironment,
  type MockActivityEnvironmentOptions,
} from "./mock_activity_environment.ts";
export type {
  DevServerConfig,
  EphemeralServerExecutable,
  TimeSkippingServerConfig,
} from "./server_options.ts";
export {
  type EndlessWait,
  EndlessWaitError,
  type EndlessWaits,
} from "../../testing/endless_wait.ts";
export { EndlessSkipError } from "./time_control.ts";

/**
 * Modules for `interceptors.workflowModules` of a worker: a failed `assert` in a workflow fails the
 * workflow, not its task. Empty if this package is part of a bundle.
 */
export const workflowInterceptorModules: string[] = bundled
  ? []
  : [fileURLToPath(ownFile("compat/testing/assert_to_failure_interceptor", ""))];
