// `@temporalio/common`.
export * from "./activity_cancellation.ts";
export * from "./data_converter.ts";
export {
  type AutoUpgradeVersioningOverride,
  convertDeploymentVersion,
  type PinnedVersioningOverride,
  toCanonicalString,
  type VersioningIntent,
  type VersioningOverride,
  type WorkerDeploymentVersion,
} from "./deployments.ts";
export {
  cutoffStackTrace,
  type DefaultEncodedFailureAttributes,
  DefaultFailureConverter,
  type DefaultFailureConverterOptions,
  type FailureConverter,
} from "./default_failure_converter.ts";
export * from "./definitions.ts";
export {
  CompleteAsyncError,
  ExternalStorageNotConfiguredError,
  IllegalStateError,
  NamespaceNotFoundError,
  PayloadConverterError,
  ValueError,
  WorkflowNotFoundError,
} from "./errors.ts";
export * from "./external_storage.ts";
export { type ProtoFailure } from "./failure_converter.ts";
export * from "./failures.ts";
export type { Headers, Next } from "./interceptors.ts";
export * from "./logger.ts";
export * from "./metrics.ts";
export {
  ActivityCancellationType,
  type ActivityOptions,
  HandlerUnfinishedPolicy,
  type LocalActivityOptions,
  type RetryPolicy,
  WorkflowIdReusePolicy,
} from "./options.ts";
export {
  BinaryPayloadConverter,
  CompositePayloadConverter,
  DefaultPayloadConverter,
  defaultPayloadConverter,
  encodingKeys,
  type EncodingType,
  encodingTypes,
  JsonPayloadConverter,
  METADATA_ENCODING_KEY,
  METADATA_MESSAGE_TYPE_KEY,
  type Payload,
  type PayloadConverter,
  type PayloadConverterWithEncoding,
  rawPayloadTypeBrand,
  RawValue,
  rawValueTypeInfo,
  UndefinedPayloadConverter,
} from "./payload_converters.ts";
export * from "./payloads.ts";
export {
  decodeApplicationFailureCategory,
  decodeInitialVersioningBehavior,
  decodeRetryState,
  decodeTimeoutType,
  decodeVersioningBehavior,
  decodeWorkflowIdConflictPolicy,
  decodeWorkflowIdReusePolicy,
  encodeApplicationFailureCategory,
  encodeInitialVersioningBehavior,
  encodeRetryState,
  encodeTimeoutType,
  encodeVersioningBehavior,
  encodeWorkflowIdConflictPolicy,
  encodeWorkflowIdReusePolicy,
  InitialVersioningBehavior,
  SuggestContinueAsNewReason,
  VersioningBehavior,
  WorkflowIdConflictPolicy,
} from "./policies.ts";
export * from "./priority.ts";
export {
  msNumberToTs,
  msOptionalToTs,
  msToTs,
  optionalTsToDate,
  optionalTsToMs,
  type Timestamp,
  tsToDate,
  tsToMs,
} from "./proto_time.ts";
export { compileRetryPolicy, decompileRetryPolicy } from "./retry_policy.ts";
export {
  defineSearchAttributeKey,
  type SearchAttributeKey,
  type SearchAttributePair,
  type SearchAttributes,
  SearchAttributeType,
  type SearchAttributeUpdatePair,
  type SearchAttributeValue,
  TypedSearchAttributes,
} from "./search_attributes.ts";
export { decode as str, encode as u8, errorCode, errorMessage } from "./text.ts";
export { type Duration, msOptionalToNumber, msToNumber } from "./time.ts";
export * from "./type_info.ts";
/** A duration in the format of npm's `ms`. */
export type StringValue = string;
