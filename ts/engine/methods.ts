// The methods of WorkflowService that the state machine serves, by its own numbers.
import { EngineMethod } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { MethodName } from "../service/raw.ts";

export const ENGINE_METHODS: { readonly [name in MethodName]?: EngineMethod } = {
  startWorkflowExecution: EngineMethod.ENGINE_METHOD_START_WORKFLOW_EXECUTION,
  signalWorkflowExecution: EngineMethod.ENGINE_METHOD_SIGNAL_WORKFLOW_EXECUTION,
  signalWithStartWorkflowExecution: EngineMethod.ENGINE_METHOD_SIGNAL_WITH_START_WORKFLOW_EXECUTION,
  requestCancelWorkflowExecution: EngineMethod.ENGINE_METHOD_REQUEST_CANCEL_WORKFLOW_EXECUTION,
  terminateWorkflowExecution: EngineMethod.ENGINE_METHOD_TERMINATE_WORKFLOW_EXECUTION,
  describeWorkflowExecution: EngineMethod.ENGINE_METHOD_DESCRIBE_WORKFLOW_EXECUTION,
  getWorkflowExecutionHistory: EngineMethod.ENGINE_METHOD_GET_WORKFLOW_EXECUTION_HISTORY,
  queryWorkflow: EngineMethod.ENGINE_METHOD_QUERY_WORKFLOW,
  updateWorkflowExecution: EngineMethod.ENGINE_METHOD_UPDATE_WORKFLOW_EXECUTION,
  pollWorkflowExecutionUpdate: EngineMethod.ENGINE_METHOD_POLL_WORKFLOW_EXECUTION_UPDATE,
  pollWorkflowTaskQueue: EngineMethod.ENGINE_METHOD_POLL_WORKFLOW_TASK_QUEUE,
  respondWorkflowTaskCompleted: EngineMethod.ENGINE_METHOD_RESPOND_WORKFLOW_TASK_COMPLETED,
  respondWorkflowTaskFailed: EngineMethod.ENGINE_METHOD_RESPOND_WORKFLOW_TASK_FAILED,
  respondQueryTaskCompleted: EngineMethod.ENGINE_METHOD_RESPOND_QUERY_TASK_COMPLETED,
  pollActivityTaskQueue: EngineMethod.ENGINE_METHOD_POLL_ACTIVITY_TASK_QUEUE,
  recordActivityTaskHeartbeat: EngineMethod.ENGINE_METHOD_RECORD_ACTIVITY_TASK_HEARTBEAT,
  recordActivityTaskHeartbeatById: EngineMethod.ENGINE_METHOD_RECORD_ACTIVITY_TASK_HEARTBEAT_BY_ID,
  respondActivityTaskCompleted: EngineMethod.ENGINE_METHOD_RESPOND_ACTIVITY_TASK_COMPLETED,
  respondActivityTaskCompletedById:
    EngineMethod.ENGINE_METHOD_RESPOND_ACTIVITY_TASK_COMPLETED_BY_ID,
  respondActivityTaskFailed: EngineMethod.ENGINE_METHOD_RESPOND_ACTIVITY_TASK_FAILED,
  respondActivityTaskFailedById: EngineMethod.ENGINE_METHOD_RESPOND_ACTIVITY_TASK_FAILED_BY_ID,
  respondActivityTaskCanceled: EngineMethod.ENGINE_METHOD_RESPOND_ACTIVITY_TASK_CANCELED,
  respondActivityTaskCanceledById: EngineMethod.ENGINE_METHOD_RESPOND_ACTIVITY_TASK_CANCELED_BY_ID,
  resetStickyTaskQueue: EngineMethod.ENGINE_METHOD_RESET_STICKY_TASK_QUEUE,
  resetWorkflowExecution: EngineMethod.ENGINE_METHOD_RESET_WORKFLOW_EXECUTION,
  pauseActivity: EngineMethod.ENGINE_METHOD_PAUSE_ACTIVITY,
  unpauseActivity: EngineMethod.ENGINE_METHOD_UNPAUSE_ACTIVITY,
  resetActivity: EngineMethod.ENGINE_METHOD_RESET_ACTIVITY,
  updateActivityOptions: EngineMethod.ENGINE_METHOD_UPDATE_ACTIVITY_OPTIONS,
  updateWorkflowExecutionOptions: EngineMethod.ENGINE_METHOD_UPDATE_WORKFLOW_EXECUTION_OPTIONS,
  shutdownWorker: EngineMethod.ENGINE_METHOD_SHUTDOWN_WORKER,
};

/**
 * How long a server lets a call wait until it responds without a result, in ms. Other calls wait
 * until their own deadline.
 */
export const LONG_POLL_MS: { readonly [name in MethodName]?: number } = {
  pollWorkflowTaskQueue: 60_000,
  pollActivityTaskQueue: 60_000,
  pollNexusTaskQueue: 60_000,
  getWorkflowExecutionHistory: 20_000,
  updateWorkflowExecution: 20_000,
  executeMultiOperation: 20_000,
  pollWorkflowExecutionUpdate: 20_000,
  pollActivityExecution: 20_000,
  describeActivityExecution: 20_000,
};
