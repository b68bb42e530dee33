// `@temporalio/workflow` on this executor, with the official names and behavior. Unsupported names
// are not exported, so programs fail at load or on use, not later with a wrong result.
export {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  isCancellation,
  rootCause,
  ServerFailure,
  TemporalFailure,
  TerminatedFailure,
  TimeoutFailure,
  WorkflowExecutionAlreadyStartedError,
} from "../common/failures.ts";
export * from "../common/errors.ts";
export type {
  BaseWorkflowHandle,
  BaseWorkflowOptions,
  CommonWorkflowOptions,
  UntypedActivities,
  WithWorkflowArgs,
  Workflow,
  WorkflowDurationOptions,
  WorkflowQueryOptions,
  WorkflowQueryType,
  WorkflowResultType,
  WorkflowReturnType,
  WorkflowSignalOptions,
  WorkflowSignalType,
  WorkflowTypeOptions,
} from "../common/definitions.ts";
export {
  type ActivityInterface,
  extractWorkflowType,
  extractWorkflowTypeAndConfig,
} from "../common/definitions.ts";
export type { UnsafeRandomSource } from "./info.ts";
export type {
  ActivityProxyOptions,
  LocalActivityFunctionWithOptions,
  LocalActivityProxyOptions,
} from "./activities.ts";
export type {
  ActivityFunction,
  ActivityFunctionWithOptions,
  ActivityTypeInfoMap,
} from "../common/type_info.ts";
export {
  decodeWorkflowIdConflictPolicy,
  decodeWorkflowIdReusePolicy,
  encodeWorkflowIdConflictPolicy,
  encodeWorkflowIdReusePolicy,
  WorkflowIdConflictPolicy,
} from "../common/policies.ts";
export { createEventGroup } from "./create_event_group.ts";
export { defineWorkflowOptions, setWorkflowOptions } from "./definition.ts";
export {
  enhancedStackTraceQuery,
  NotAnActivityMethod,
  stackTraceQuery,
  WorkflowError,
  workflowMetadataQuery,
} from "./names.ts";
export type {
  EnhancedStackTrace,
  StackTrace,
  StackTraceFileLocation,
  StackTraceFileSlice,
  StackTraceSDKInfo,
} from "./names.ts";
export {
  ActivityCancellationType,
  ChildWorkflowCancellationType,
  ParentClosePolicy,
  type RetryPolicy,
  WorkflowIdReusePolicy,
} from "../common/options.ts";
export {
  jsonPayloadConverter as defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
} from "../../converter/payload.ts";
export type { UpdateInfo } from "../context.ts";
export {
  type ActivityInterfaceFor,
  LocalActivityDoBackoff,
  type LocalActivityInterfaceFor,
  proxyActivities,
  proxyLocalActivities,
  scheduleActivity,
  scheduleLocalActivity,
} from "./activities.ts";
export {
  addDefaultWorkflowOptions,
  type ChildWorkflowHandle,
  executeChild,
  type ExternalWorkflowHandle,
  getExternalWorkflowHandle,
  startChild,
} from "./children.ts";
export { AsyncLocalStorage } from "../sandbox/async_local_storage.ts";
export { condition } from "./conditions.ts";
export { continueAsNew, makeContinueAsNewFunc } from "./continue_as_new.ts";
export { ContinueAsNew } from "./continue_as_new_thrown.ts";
export {
  allHandlersFinished,
  defineQuery,
  defineSignal,
  defineUpdate,
  type QueryDefinition,
  setDefaultQueryHandler,
  setDefaultSignalHandler,
  setDefaultUpdateHandler,
  setHandler,
  type SignalDefinition,
  type UpdateDefinition,
} from "./handlers.ts";
export type {
  ParentWorkflowInfo,
  RootWorkflowInfo,
  UnsafeWorkflowInfo,
  WorkflowInfo,
} from "./info.ts";
export type {
  ActivateInput,
  ActivityInput,
  ConcludeActivationInput,
  ConcludeActivationOutput,
  ContinueAsNewInput,
  ContinueAsNewInputOptions,
  DisposeInput,
  GetLogAttributesInput,
  GetMetricTagsInput,
  Headers,
  LocalActivityInput,
  Next,
  QueryInput,
  SignalInput,
  SignalWorkflowInput,
  StartChildWorkflowExecutionInput,
  StartNexusOperationInput,
  StartNexusOperationOptions,
  StartNexusOperationOutput,
  TimerInput,
  UpdateInput,
  WorkflowExecuteInput,
  WorkflowInboundCallsInterceptor,
  WorkflowInterceptors,
  WorkflowInterceptorsFactory,
  WorkflowInternalsInterceptor,
  WorkflowOutboundCallsInterceptor,
} from "./interceptors.ts";
export {
  createNexusServiceClient,
  type NexusOperationHandle,
  type NexusServiceClient,
  type NexusServiceClientOptions,
} from "./nexus.ts";
export { NexusOperationCancellationType } from "./nexus_types.ts";
export { log, type WorkflowLogger } from "./log.ts";
export { type MetricMeter, metricMeter } from "./metrics.ts";
export { getRandomStream, workflowRandom, type WorkflowRandomStream } from "./random_streams.ts";
export {
  type LoggerSinks,
  proxySinks,
  type Sink,
  type SinkCall,
  type SinkFunction,
  type Sinks,
} from "./sinks.ts";
export {
  currentUpdateInfo,
  getCurrentDetails,
  inWorkflowContext,
  setCurrentDetails,
  uuid4,
  workflowInfo,
} from "./misc.ts";
export { deprecatePatch, patched } from "./patches.ts";
export { CancellationScope, type CancellationScopeOptions } from "./scope.ts";
export type {
  ActivityOptions,
  ChildWorkflowOptions,
  ContinueAsNewOptions,
  EventGroupMarker,
  LocalActivityOptions,
  TimerOptions,
} from "./options.ts";
export { sleep } from "./timers.ts";
export { Trigger } from "./trigger.ts";
export { upsertMemo, upsertSearchAttributes } from "./upserts.ts";
export type { SearchAttributes, SearchAttributeValue } from "../common/search_attributes.ts";
