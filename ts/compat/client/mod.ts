// `@temporalio/client`.
export {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  ServerFailure,
  TemporalFailure,
  TerminatedFailure,
  TimeoutFailure,
  WorkflowExecutionAlreadyStartedError,
} from "../common/failures.ts";
export type { DataConverter } from "../common/data_converter.ts";
export type { ProtoFailure } from "../common/failure_converter.ts";
export { HandlerUnfinishedPolicy, type RetryPolicy } from "../common/options.ts";
export { defaultPayloadConverter, type Payload } from "../common/payload_converters.ts";
export {
  CompleteAsyncError,
  ExternalStorageNotConfiguredError,
  IllegalStateError,
  NamespaceNotFoundError,
  PayloadConverterError,
  ValueError,
  WorkflowNotFoundError,
} from "../common/errors.ts";
export type {
  ActivityInterface,
  BaseWorkflowHandle,
  BaseWorkflowOptions,
  CommonWorkflowOptions,
  HistoryAndWorkflowId,
  QueryDefinition,
  QueryDefinitionOptions,
  SignalDefinition,
  SignalDefinitionOptions,
  UntypedActivities,
  UpdateDefinition,
  UpdateDefinitionOptions,
  WithWorkflowArgs,
  Workflow,
  WorkflowDurationOptions,
  WorkflowQueryAnnotatedType,
  WorkflowQueryOptions,
  WorkflowQueryType,
  WorkflowResultType,
  WorkflowReturnType,
  WorkflowSignalAnnotatedType,
  WorkflowSignalOptions,
  WorkflowSignalType,
  WorkflowTypeOptions,
  WorkflowUpdateAnnotatedType,
  WorkflowUpdateType,
  WorkflowUpdateValidatorType,
} from "../common/definitions.ts";
export type { ActivityFunction, SignalTypeInfo } from "../common/type_info.ts";
export {
  decodeWorkflowIdConflictPolicy,
  decodeWorkflowIdReusePolicy,
  encodeWorkflowIdConflictPolicy,
  encodeWorkflowIdReusePolicy,
  extractWorkflowType,
  extractWorkflowTypeAndConfig,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from "../common/workflow_options.ts";
export * from "./activity_client.ts";
export * from "./activity_types.ts";
export * from "./async_completion_client.ts";
export * from "./build_id_types.ts";
export type { CallContext, Metadata } from "./call_context.ts";
export * from "./client.ts";
export {
  type AnyConnection,
  Connection,
  type ConnectionLike,
  type ConnectionOptions,
  type ConnectionOptionsWithDefaults,
  type ConnectionPlugin,
  InternalConnectionLikeSymbol,
  LOCAL_TARGET,
  type TLSConfig,
} from "./connection.ts";
export * from "./enums.ts";
export {
  ActivityCancelledError,
  ActivityCompletionError,
  ActivityExecutionAlreadyStartedError,
  ActivityExecutionFailedError,
  ActivityNotFoundError,
  ActivityPausedError,
  ActivityResetError,
  BuildIdNotFoundError,
  isGrpcCancelledError,
  isGrpcDeadlineError,
  isGrpcServiceError,
  isServerErrorResponse,
  NexusOperationAlreadyStartedError,
  NexusOperationFailureError,
  NexusOperationNotFoundError,
  QueryNotRegisteredError,
  QueryRejectedError,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ServiceError,
  WorkflowContinuedAsNewError,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "./errors.ts";
export {
  type BackoffOptions,
  defaultGrpcRetryOptions,
  type GrpcRetryOptions,
  isRetryableError,
  makeGrpcRetryInterceptor,
} from "./grpc_retry.ts";
export * from "./infos.ts";
export type {
  ClientInterceptors,
  CreateScheduleInput,
  CreateScheduleOutput,
  Headers,
  Next,
  ScheduleClientInterceptor,
  WorkflowCancelInput,
  WorkflowClientCallsInterceptor,
  WorkflowClientCallsInterceptorFactory,
  WorkflowClientCallsInterceptorFactoryInput,
  WorkflowClientInterceptor,
  WorkflowClientInterceptors,
  WorkflowDescribeInput,
  WorkflowQueryInput,
  WorkflowSignalInput,
  WorkflowSignalWithStartInput,
  WorkflowStartInput,
  WorkflowStartOutput,
  WorkflowStartUpdateInput,
  WorkflowStartUpdateOutput,
  WorkflowStartUpdateWithStartInput,
  WorkflowStartUpdateWithStartOutput,
  WorkflowTerminateInput,
} from "./interceptors.ts";
export * from "./not_offered.ts";
export type { OperatorService, WorkflowService } from "./plain_service.ts";
export * from "./schedule_client.ts";
export * from "./schedule_types.ts";
export { WithStartWorkflowOperation } from "./with_start_operation.ts";
export * from "./workflow_client.ts";
export type {
  GetWorkflowUpdateHandleOptions,
  WorkflowHandle,
  WorkflowHandleWithFirstExecutionRunId,
  WorkflowHandleWithSignaledRunId,
  WorkflowHandleWithStartDetails,
  WorkflowUpdateHandle,
} from "./workflow_handle.ts";
export {
  type CompiledWorkflowOptions,
  compileWorkflowOptions,
  type WithCompiledWorkflowOptions,
  type WorkflowOptions,
  type WorkflowSignalWithStartOptions,
  type WorkflowSignalWithStartOptionsWithArgs,
  type WorkflowSignalWithStartOptionsWithoutArgs,
  type WorkflowStartOptions,
  type WorkflowUpdateOptions,
} from "./workflow_options.ts";
