// Methods of WorkflowService from Empty to Empty: transports need a message type, and Empty keeps
// unknown fields, so requests and responses pass through as bytes. The list is written by hand,
// because the generated service would build all descriptors of Temporal's API.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { MethodName } from "../service/raw.ts";
import { EmptySchema } from "../messages/well_known.ts";

export type RawMethod = DescMethodUnary<typeof EmptySchema, typeof EmptySchema>;

export const SERVICE_NAME = "temporal.api.workflowservice.v1.WorkflowService";

/** Every method; the compiler compares the list with the generated service. */
const METHODS: { readonly [name in MethodName]: true } = {
  describeNamespace: true,
  listNamespaces: true,
  startWorkflowExecution: true,
  executeMultiOperation: true,
  getWorkflowExecutionHistory: true,
  getWorkflowExecutionHistoryReverse: true,
  pollWorkflowTaskQueue: true,
  respondWorkflowTaskCompleted: true,
  respondWorkflowTaskFailed: true,
  pollActivityTaskQueue: true,
  recordActivityTaskHeartbeat: true,
  recordActivityTaskHeartbeatById: true,
  respondActivityTaskCompleted: true,
  respondActivityTaskCompletedById: true,
  respondActivityTaskFailed: true,
  respondActivityTaskFailedById: true,
  respondActivityTaskCanceled: true,
  respondActivityTaskCanceledById: true,
  requestCancelWorkflowExecution: true,
  signalWorkflowExecution: true,
  signalWithStartWorkflowExecution: true,
  resetWorkflowExecution: true,
  terminateWorkflowExecution: true,
  deleteWorkflowExecution: true,
  listWorkflowExecutions: true,
  countWorkflowExecutions: true,
  getSearchAttributes: true,
  respondQueryTaskCompleted: true,
  resetStickyTaskQueue: true,
  shutdownWorker: true,
  queryWorkflow: true,
  describeWorkflowExecution: true,
  describeTaskQueue: true,
  getClusterInfo: true,
  getSystemInfo: true,
  createSchedule: true,
  describeSchedule: true,
  updateSchedule: true,
  updateTaskQueueConfig: true,
  patchSchedule: true,
  listScheduleMatchingTimes: true,
  deleteSchedule: true,
  listSchedules: true,
  countSchedules: true,
  recordWorkerHeartbeat: true,
  listWorkers: true,
  countWorkers: true,
  describeWorker: true,
  updateWorkflowExecution: true,
  pollWorkflowExecutionUpdate: true,
  pauseActivity: true,
  unpauseActivity: true,
  resetActivity: true,
  pollNexusTaskQueue: true,
  respondNexusTaskCompleted: true,
  respondNexusTaskFailed: true,
  updateActivityOptions: true,
  listOpenWorkflowExecutions: true,
  listClosedWorkflowExecutions: true,
  scanWorkflowExecutions: true,
  startBatchOperation: true,
  stopBatchOperation: true,
  describeBatchOperation: true,
  listBatchOperations: true,
  updateNamespace: true,
  startActivityExecution: true,
  describeActivityExecution: true,
  pollActivityExecution: true,
  listActivityExecutions: true,
  countActivityExecutions: true,
  requestCancelActivityExecution: true,
  terminateActivityExecution: true,
  deleteActivityExecution: true,
  pauseActivityExecution: true,
  resetActivityExecution: true,
  unpauseActivityExecution: true,
  updateActivityExecutionOptions: true,
  deleteWorkerDeployment: true,
  deleteWorkerDeploymentVersion: true,
  describeWorkerDeployment: true,
  describeWorkerDeploymentVersion: true,
  listWorkerDeployments: true,
  setWorkerDeploymentCurrentVersion: true,
  setWorkerDeploymentManager: true,
  setWorkerDeploymentRampingVersion: true,
  updateWorkerDeploymentVersionMetadata: true,
  updateWorkflowExecutionOptions: true,
};

export const METHOD_NAMES = Object.keys(METHODS) as MethodName[];

/**
 * Returns the part of a method that transports and routers use: its name and its service's name.
 */
export function emptyMethod(
  service: string,
  method: string,
  methodKind: "unary" | "server_streaming",
): unknown {
  return {
    kind: "rpc",
    name: method,
    localName: method[0]!.toLowerCase() + method.slice(1),
    methodKind,
    parent: { kind: "service", typeName: service, name: service, methods: [], method: {} },
    input: EmptySchema,
    output: EmptySchema,
    idempotency: 0,
    deprecated: false,
  };
}

const methods = new Map<MethodName, RawMethod>();

export function rawMethod(name: MethodName): RawMethod {
  let method = methods.get(name);
  if (method === undefined) {
    method = emptyMethod(
      SERVICE_NAME,
      name[0]!.toUpperCase() + name.slice(1),
      "unary",
    ) as RawMethod;
    methods.set(name, method);
  }
  return method;
}
