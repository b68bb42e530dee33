// The client: starts, messages and reads workflows, and completes activities from outside.
export {
  ActivityClient,
  type ListActivitiesOptions,
  type StartActivityOptions,
} from "./activities/activity_client.ts";
export type {
  ActivityDescription,
  ActivityStatus,
  ActivitySummary,
} from "./activities/descriptions.ts";
export { ActivityHandle, type ResetActivityOptions } from "./activities/handle.ts";
export type { ActivityStartOptions, ActivityTaskOptions } from "./activities/options.ts";
export { type ActivityAddress } from "./activity_completion.ts";
export { type CallSettings } from "./calls.ts";
export {
  Client,
  type ClientOptions,
  type ListOptions,
  type SignalWithStartOptions,
  type StartOptions,
} from "./client.ts";
export type { AppFunction, FunctionArgs } from "./functions.ts";
export type { WorkflowCount, WorkflowCountGroup } from "./counts.ts";
export type { AnyWorkflow, WorkflowArgs, WorkflowResult } from "./definitions.ts";
export type {
  PendingActivity,
  PendingChild,
  PendingProcedure,
  PendingWorkflowTask,
  WorkflowDescription,
  WorkflowStatus,
  WorkflowSummary,
} from "./descriptions.ts";
export * from "./errors.ts";
export { type HandleSettings, type ResultOptions, WorkflowHandle } from "./handle.ts";
export { type HistoryOptions } from "./history.ts";
export type { PayloadHeaders } from "./context.ts";
export type {
  ActivityPage,
  AnyClientInput,
  ClientInterceptor,
  ClientOperation,
  ClientOperations,
  Next,
  SchedulePage,
  StartedActivity,
  StartedWorkflow,
  WorkflowPage,
} from "./interceptors.ts";
export type {
  ActivityChange,
  ActivityTarget,
  CallFunctionInput,
  CancelInput,
  ChangeActivityInput,
  CreateScheduleInput,
  ListInput,
  PatchScheduleInput,
  QueryInput,
  ResetInput,
  SignalInput,
  SignalWithStartInput,
  StartActivityInput,
  StartInput,
  TerminateInput,
  UpdateInput,
  UpdateScheduleInput,
  UpdateWithStartInput,
  WorkflowTarget,
} from "./operation_inputs.ts";
export type { OpenProcedure, ProcedureAddress, WhichProcedure } from "./procedures.ts";
export type { ReapplyExclude, ResetOptions, ResetPoint } from "./reset_options.ts";
export type {
  TransactionSignalWithStartOptions,
  TransactionStartOptions,
  TransactionWorkflows,
} from "./transaction_workflows.ts";
export type { WorkflowSelection } from "./belonging.ts";
export { WorkflowSet } from "./workflow_set.ts";
export type { TaskPriority } from "../base/priority.ts";
export type { RetryPolicy, WorkflowOptions } from "./options.ts";
export type {
  StartUpdateWithStartOptions,
  UpdateOfStart,
  UpdateWithStart,
  UpdateWithStartOptions,
} from "./update_with_start.ts";
export type {
  ScheduleActionDescription,
  ScheduleActionTaken,
  ScheduleDescription,
  ScheduleStartedWorkflow,
  ScheduleSummary,
} from "./schedules/descriptions.ts";
export { ScheduleHandle } from "./schedules/handle.ts";
export type { SchedulePatch } from "./schedules/options.ts";
export type {
  Backfill,
  ScheduleAction,
  ScheduleOptions,
  ScheduleOverlapPolicy,
  SchedulePolicies,
  ScheduleState,
  ScheduleUpdateOptions,
} from "./schedules/options.ts";
export { type ListSchedulesOptions, ScheduleClient } from "./schedules/schedule_client.ts";
export type {
  CalendarField,
  CalendarSpec,
  CalendarSpecDescription,
  DayOfWeek,
  IntervalSpec,
  LooseRange,
  Month,
  ScheduleRange,
  ScheduleSpec,
  ScheduleSpecDescription,
} from "./schedules/spec.ts";
export { type StartUpdateOptions, UpdateHandle, type UpdateOptions } from "./updates.ts";
export { type FailureType, findFailure, isFailure } from "../converter/failures.ts";
export {
  defineSearchAttributeKey,
  type SearchAttributeKey,
  type SearchAttributePair,
  type SearchAttributes,
  type SearchAttributeType,
  type SearchAttributeTypes,
  type SearchAttributeValue,
  TypedSearchAttributes,
} from "../converter/search_attributes.ts";
export {
  DEFAULT_PAYLOAD_LIMITS,
  type PayloadLimits,
  PayloadTooLargeError,
} from "../service/limits.ts";
export {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../service/raw.ts";
export type { SubscriptionFilter } from "../converter/subscriptions.ts";
export type { MissedSubscriber } from "../service/broadcast.ts";
export { type RetryOptions } from "../service/retry.ts";
export { type LogFields, type Logger, type LogLevel, silentLogger } from "../base/logger.ts";
export { consoleLogger } from "../platform/host.ts";
export { type CodecOptions, type PayloadCodec, PayloadCodecError } from "../codec/codec.ts";
export { decodeHistory } from "../codec/message_codec.ts";
export { payloadFromBytes, payloadToBytes } from "../codec/payload_bytes.ts";
