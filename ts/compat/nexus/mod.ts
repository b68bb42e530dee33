// `@temporalio/nexus`: Temporal in handlers of Nexus operations. Services and handlers are created
// with the program's own package `nexus-rpc`.
export {
  getClient,
  log,
  metricMeter,
  type OperationInfo,
  operationInfo,
  type TemporalCancelOperationContext,
  type TemporalStartOperationContext,
} from "./context.ts";
export type {
  NexusUpdateWorkflowOptions,
  UpdatableWorkflowHandle,
  WorkflowHandle,
} from "./handles.ts";
export { TemporalOperationResult } from "./results.ts";
export {
  type ActivityOptions,
  type ActivityOptionsFor,
  type CancelActivityOptions,
  type CancelWorkflowRunOptions,
  type CancelWorkflowUpdateOptions,
  type NexusTypedActivityClient,
  type TemporalNexusClient,
  TemporalOperationHandler,
  type TemporalOperationHandlerOptions,
  type TemporalOperationStartHandler,
} from "./temporal_operation.ts";
export {
  signalWithStartWorkflow,
  startWorkflow,
  WorkflowRunOperationHandler,
  type WorkflowRunOperationStartHandler,
  type WorkflowSignalWithStartOptions,
  type WorkflowStartOptions,
} from "./workflow_run.ts";
