// `@temporalio/common/lib/workflow-options`.
export {
  type BaseWorkflowOptions,
  type CommonWorkflowOptions,
  extractWorkflowType,
  extractWorkflowTypeAndConfig,
  type WithWorkflowArgs,
  type WorkflowDurationOptions,
  type WorkflowTypeOptions,
} from "./definitions.ts";
export { WorkflowIdReusePolicy } from "./options.ts";
export {
  decodeWorkflowIdConflictPolicy,
  decodeWorkflowIdReusePolicy,
  encodeWorkflowIdConflictPolicy,
  encodeWorkflowIdReusePolicy,
  WorkflowIdConflictPolicy,
} from "./policies.ts";
