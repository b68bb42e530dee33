// The programming model for workflow code. No I/O and no platform API; the same in Node, Deno and
// browsers.
export { activities } from "./activities.ts";
export type { Activities, ActivitiesOptions, ActivityCall, ActivityOptions } from "./activities.ts";
export { localActivities } from "./local_activities.ts";
export type {
  LocalActivities,
  LocalActivitiesOptions,
  LocalActivityCall,
  LocalActivityOptions,
} from "./local_activities.ts";
export { executeChild, spawn, startChild } from "./children.ts";
export type {
  ChildArgs,
  ChildOptions,
  ChildWorkflowHandle,
  ChildWorkflowOptions,
} from "./children.ts";
export { isParallelCancellation, isReceiveCancellation } from "./cancellations.ts";
export type { OnCancel, ParallelCancellation, ReceiveCancellation } from "./cancellations.ts";
export { carry } from "./carry.ts";
export type { Carry } from "./carry.ts";
export { continueAsNew, continueAsNewWith } from "./continue_as_new.ts";
export type { ContinueAsNew, ContinueAsNewOptions } from "./continue_as_new.ts";
export { workflow } from "./definition.ts";
export type {
  DerivedId,
  ResultOf,
  RoundOptions,
  RoundResult,
  WorkflowDefinition,
  WorkflowOptions,
} from "./definition.ts";
export { externalWorkflow } from "./external.ts";
export type { ExternalWorkflow } from "./external.ts";
export { procedure, procedures, signature } from "./procedures.ts";
export type { Procedure, ProcedureOptions, Procedures, ProcedureSignature } from "./procedures.ts";
export { nexus } from "./nexus.ts";
export type {
  NexusCall,
  NexusOperationHandle,
  NexusOperationOptions,
  NexusOperations,
  NexusOptions,
  NexusService,
  NexusServiceOperations,
} from "./nexus.ts";
export { query, signal, update } from "./messages.ts";
export type {
  ArgSchemas,
  MessageOptions,
  Query,
  QueryOptions,
  Signal,
  Update,
} from "./messages.ts";
export { parallel, shield } from "./parallel.ts";
export type { ParallelOptions, ParallelOutcome, Settled } from "./parallel.ts";
export { on } from "./on.ts";
export type { Arm, Handler, SignalHandler, UpdateHandler, UpdateHandlerOptions } from "./on.ts";
export { noreply, receive, reply, spawnAsync, stop, updateState } from "./receive.ts";
export type {
  Async,
  Noreply,
  ReceiveOptions,
  ReceiveOutcome,
  ReceiveResult,
  ReceiveUntilOptions,
  ReceiveUntilResult,
  Reply,
  Stop,
  StopReply,
  TimedReceiveOptions,
  UpdateState,
} from "./receive.ts";
export type { TaskPriority } from "../base/priority.ts";
export type { RetryOptions } from "./retry.ts";
export { select, timer } from "./select.ts";
export type { SelectValue } from "./select.ts";
export type { StandardIssue, StandardResult, StandardSchemaV1 } from "./standard_schema.ts";
export {
  cancelled,
  deprecatePatch,
  log,
  now,
  patched,
  publishState,
  random,
  setCurrentDetails,
  sideEffect,
  upsertMemo,
  upsertSearchAttributes,
  uuid4,
  workflowInfo,
} from "./state.ts";
export { reducers, transact } from "./transact.ts";
export type { Reducer, Reducers } from "./transact.ts";
export { parseSignal, parseTimer, payload, signals, timers } from "./typed_names.ts";
export type { ParsedSignal, SignalPayload, Signals } from "./typed_names.ts";
export { broadcast, subscribe, unsubscribe } from "./subscriptions.ts";
export { sleep, waitForSignal } from "./waiting.ts";
export type { SignalValue } from "./waiting.ts";

export type { HandlerErrors, VersioningBehavior } from "../executor/program/definition.ts";
export type { ExecutionRef, WorkflowInfo } from "../executor/scheduler/info.ts";
export { MisuseError, NestingError, WorkflowTaskError } from "../executor/program/errors.ts";
export { defineSearchAttributeKey, TypedSearchAttributes } from "../converter/search_attributes.ts";
export type {
  SearchAttributeChange,
  SearchAttributeChanges,
  SearchAttributeKey,
  SearchAttributePair,
  SearchAttributes,
  SearchAttributeType,
  SearchAttributeTypes,
  SearchAttributeValue,
} from "../converter/search_attributes.ts";
export type { SubscriptionFilter } from "../converter/subscriptions.ts";
export type { Duration } from "../converter/duration.ts";
export {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  findFailure,
  isCancellation,
  isFailure,
  NexusHandlerFailure,
  NexusOperationFailure,
  ServerFailure,
  TemporalFailure,
  TerminatedFailure,
  TimeoutFailure,
  WorkflowExecutionAlreadyStartedError,
} from "../converter/failures.ts";
export type {
  ApplicationFailureOptions,
  FailureType,
  RetryState,
  TimeoutType,
} from "../converter/failures.ts";
// For modules of payload converters, which are loaded with the workflows.
export {
  defaultPayloadConverter,
  jsonPayloadConverter,
  LossyValueError,
  PayloadConverterError,
} from "../converter/payload.ts";
export type { Payload, PayloadConverter } from "../converter/payload.ts";
