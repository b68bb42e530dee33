// Further enumerations of `@temporalio/common`, and encoders of all of them.
import { type EnumCodec, enumCodec, makeProtoEnumConverters } from "./enum_codecs.ts";
import {
  ApplicationFailureCategory,
  RetryState,
  type RetryState as RetryStateName,
  TimeoutType,
  type TimeoutType as TimeoutTypeName,
} from "./failures.ts";
import { ActivityCancellationType, type Members, WorkflowIdReusePolicy } from "./options.ts";

type Names = { readonly [name: string]: string | undefined };
/** Members of an enumeration in the current spelling, in the order of their numbers. */
const listNames = (members: Names, prefix: string): string[] =>
  Object.keys(members).filter((name) => !name.startsWith(prefix));
const makeEnumCodec = <N extends string, P extends string>(
  members: Names,
  prefix: P,
): EnumCodec<P, N> => enumCodec(prefix, listNames(members, prefix) as N[]);

/** What a start does if a workflow with its id is running. */
export const WorkflowIdConflictPolicy: Members<"FAIL" | "USE_EXISTING" | "TERMINATE_EXISTING"> = {
  FAIL: "FAIL",
  USE_EXISTING: "USE_EXISTING",
  TERMINATE_EXISTING: "TERMINATE_EXISTING",
};
/** What a start does if a workflow with its id is running. */
export type WorkflowIdConflictPolicy = keyof typeof WorkflowIdConflictPolicy;

/** Worker versions that may continue a run. */
export const VersioningBehavior: Members<"PINNED" | "AUTO_UPGRADE"> = {
  PINNED: "PINNED",
  AUTO_UPGRADE: "AUTO_UPGRADE",
};
/** Worker versions that may continue a run. */
export type VersioningBehavior = keyof typeof VersioningBehavior;

/** Version of the next run after continue-as-new. */
export const InitialVersioningBehavior: Members<"AUTO_UPGRADE" | "USE_RAMPING_VERSION"> = {
  AUTO_UPGRADE: "AUTO_UPGRADE",
  USE_RAMPING_VERSION: "USE_RAMPING_VERSION",
};
/** Version of the next run after continue-as-new. */
export type InitialVersioningBehavior = keyof typeof InitialVersioningBehavior;

/** Why the server suggests continue-as-new. */
export const SuggestContinueAsNewReason: Members<
  "HISTORY_SIZE_TOO_LARGE" | "TOO_MANY_HISTORY_EVENTS" | "TOO_MANY_UPDATES"
> = {
  HISTORY_SIZE_TOO_LARGE: "HISTORY_SIZE_TOO_LARGE",
  TOO_MANY_HISTORY_EVENTS: "TOO_MANY_HISTORY_EVENTS",
  TOO_MANY_UPDATES: "TOO_MANY_UPDATES",
};
/** Why the server suggests continue-as-new. */
export type SuggestContinueAsNewReason = keyof typeof SuggestContinueAsNewReason;

const reuse: EnumCodec<"WORKFLOW_ID_REUSE_POLICY_", WorkflowIdReusePolicy> = makeEnumCodec<
  WorkflowIdReusePolicy,
  "WORKFLOW_ID_REUSE_POLICY_"
>(WorkflowIdReusePolicy, "WORKFLOW_ID_REUSE_POLICY_");
const conflict: EnumCodec<"WORKFLOW_ID_CONFLICT_POLICY_", WorkflowIdConflictPolicy> = makeEnumCodec<
  WorkflowIdConflictPolicy,
  "WORKFLOW_ID_CONFLICT_POLICY_"
>(
  WorkflowIdConflictPolicy,
  "WORKFLOW_ID_CONFLICT_POLICY_",
);
const behavior: EnumCodec<"VERSIONING_BEHAVIOR_", VersioningBehavior> = makeEnumCodec<
  VersioningBehavior,
  "VERSIONING_BEHAVIOR_"
>(
  VersioningBehavior,
  "VERSIONING_BEHAVIOR_",
);
const initial: EnumCodec<"CONTINUE_AS_NEW_VERSIONING_BEHAVIOR_", InitialVersioningBehavior> =
  makeEnumCodec<
    InitialVersioningBehavior,
    "CONTINUE_AS_NEW_VERSIONING_BEHAVIOR_"
  >(
    InitialVersioningBehavior,
    "CONTINUE_AS_NEW_VERSIONING_BEHAVIOR_",
  );
const reasons: EnumCodec<"SUGGEST_CONTINUE_AS_NEW_REASON_", SuggestContinueAsNewReason> =
  makeEnumCodec<
    SuggestContinueAsNewReason,
    "SUGGEST_CONTINUE_AS_NEW_REASON_"
  >(
    SuggestContinueAsNewReason,
    "SUGGEST_CONTINUE_AS_NEW_REASON_",
  );
const timeout: EnumCodec<"TIMEOUT_TYPE_", TimeoutTypeName> = makeEnumCodec<
  TimeoutTypeName,
  "TIMEOUT_TYPE_"
>(
  TimeoutType,
  "TIMEOUT_TYPE_",
);
const retry: EnumCodec<"RETRY_STATE_", RetryStateName> = makeEnumCodec<
  RetryStateName,
  "RETRY_STATE_"
>(
  RetryState,
  "RETRY_STATE_",
);
const category: EnumCodec<"APPLICATION_ERROR_CATEGORY_", ApplicationFailureCategory> =
  makeEnumCodec<
    ApplicationFailureCategory,
    "APPLICATION_ERROR_CATEGORY_"
  >(
    ApplicationFailureCategory,
    "APPLICATION_ERROR_CATEGORY_",
  );
// These start at 0 and have no member for unset.
const cancellation: EnumCodec<"", ActivityCancellationType> = makeProtoEnumConverters<
  ActivityCancellationType,
  ""
>(
  {
    [ActivityCancellationType.TRY_CANCEL]: 0,
    [ActivityCancellationType.WAIT_CANCELLATION_COMPLETED]: 1,
    [ActivityCancellationType.ABANDON]: 2,
  } as { [name in ActivityCancellationType]: number },
  "",
);

/** Returns the number of a policy. Throws a ValueError for an unknown name. */
export const encodeWorkflowIdReusePolicy: typeof reuse[0] = reuse[0];
/** Returns the policy of a number. */
export const decodeWorkflowIdReusePolicy: typeof reuse[1] = reuse[1];
/** Returns the number of a policy. Throws a ValueError for an unknown name. */
export const encodeWorkflowIdConflictPolicy: typeof conflict[0] = conflict[0];
/** Returns the policy of a number. */
export const decodeWorkflowIdConflictPolicy: typeof conflict[1] = conflict[1];
/** Returns the number of a behavior. Throws a ValueError for an unknown name. */
export const encodeVersioningBehavior: typeof behavior[0] = behavior[0];
/** Returns the behavior of a number. */
export const decodeVersioningBehavior: typeof behavior[1] = behavior[1];
/** Returns the number of a behavior. Throws a ValueError for an unknown name. */
export const encodeInitialVersioningBehavior: typeof initial[0] = initial[0];
/** Returns the behavior of a number. */
export const decodeInitialVersioningBehavior: typeof initial[1] = initial[1];
/** Returns the number of a reason. Throws a ValueError for an unknown name. */
export const encodeSuggestContinueAsNewReason: typeof reasons[0] = reasons[0];
/** Returns the reason of a number. */
export const decodeSuggestContinueAsNewReason: typeof reasons[1] = reasons[1];
/** Returns the number of a timeout type. Throws a ValueError for an unknown name. */
export const encodeTimeoutType: typeof timeout[0] = timeout[0];
/** Returns the timeout type of a number. */
export const decodeTimeoutType: typeof timeout[1] = timeout[1];
/** Returns the number of a retry state. Throws a ValueError for an unknown name. */
export const encodeRetryState: typeof retry[0] = retry[0];
/** Returns the retry state of a number. */
export const decodeRetryState: typeof retry[1] = retry[1];
/** Returns the number of a category. Throws a ValueError for an unknown name. */
export const encodeApplicationFailureCategory: typeof category[0] = category[0];
/** Returns the category of a number. */
export const decodeApplicationFailureCategory: typeof category[1] = category[1];
/** Returns the number of a cancellation type. Throws a ValueError for an unknown name. */
export const encodeActivityCancellationType: typeof cancellation[0] = cancellation[0];
/** Returns the cancellation type of a number. */
export const decodeActivityCancellationType: typeof cancellation[1] = cancellation[1];

/** Returns the reasons of numbers; undefined without any. */
export function suggestContinueAsNewReasonsFromProto(
  numbers: readonly number[] | null | undefined,
): SuggestContinueAsNewReason[] | undefined {
  const known = (numbers ?? []).map(decodeSuggestContinueAsNewReason).filter((reason) =>
    reason !== undefined
  );
  return known.length === 0 ? undefined : known;
}
