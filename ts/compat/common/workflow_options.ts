// `@temporalio/common/lib/workflow-options`.
export { extractWorkflowType, extractWorkflowTypeAndConfig } from "./definitions.ts";
export { WorkflowIdReusePolicy } from "./options.ts";
export {
  decodeWorkflowIdConflictPolicy,
  decodeWorkflowIdReusePolicy,
  encodeWorkflowIdConflictPolicy,
  encodeWorkflowIdReusePolicy,
  WorkflowIdConflictPolicy,
} from "./policies.ts";
