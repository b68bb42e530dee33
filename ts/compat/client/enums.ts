// Enumerations of `@temporalio/client`.
import { type EnumCodec, enumCodec } from "../common/enum_codecs.ts";
import { type InBothSpellings, inBothSpellings, type Members } from "../common/options.ts";

function members<K extends string>(...names: K[]): Members<K> {
  return Object.fromEntries(names.map((name) => [name, name])) as unknown as Members<K>;
}

const REJECT = ["NONE", "NOT_OPEN", "NOT_COMPLETED_CLEANLY"] as const;
/** Workflow states in which a query is rejected. */
export const QueryRejectCondition: InBothSpellings<
  "QUERY_REJECT_CONDITION_",
  QueryRejectCondition
> = inBothSpellings(
  "QUERY_REJECT_CONDITION_",
  REJECT,
);
/** Workflow states in which a query is rejected. */
export type QueryRejectCondition = (typeof REJECT)[number];
const reject: EnumCodec<"QUERY_REJECT_CONDITION_", (typeof REJECT)[number]> = enumCodec(
  "QUERY_REJECT_CONDITION_",
  REJECT,
);
/** Returns the number of a condition. Throws a ValueError for an unknown name. */
export const encodeQueryRejectCondition: typeof reject[0] = reject[0];
/** Returns the condition of a number. */
export const decodeQueryRejectCondition: typeof reject[1] = reject[1];

/** Stage of an update. */
export const WorkflowUpdateStage: Members<"ADMITTED" | "ACCEPTED" | "COMPLETED"> & {
  readonly UNSPECIFIED: undefined;
} = {
  ADMITTED: "ADMITTED",
  ACCEPTED: "ACCEPTED",
  COMPLETED: "COMPLETED",
  UNSPECIFIED: undefined,
};
/** Stage of an update. */
export type WorkflowUpdateStage = "ADMITTED" | "ACCEPTED" | "COMPLETED" | undefined;

const OVERLAPS = [
  "SKIP",
  "BUFFER_ONE",
  "BUFFER_ALL",
  "CANCEL_OTHER",
  "TERMINATE_OTHER",
  "ALLOW_ALL",
] as const;
/** Policy of a schedule while the previous workflow is running. */
export const ScheduleOverlapPolicy: Members<(typeof OVERLAPS)[number]> & {
  readonly UNSPECIFIED: undefined;
} = {
  ...members(...OVERLAPS),
  UNSPECIFIED: undefined,
};
/** Policy of a schedule while the previous workflow is running. */
export type ScheduleOverlapPolicy = (typeof OVERLAPS)[number] | undefined;
const overlap: EnumCodec<"SCHEDULE_OVERLAP_POLICY_", (typeof OVERLAPS)[number]> = enumCodec(
  "SCHEDULE_OVERLAP_POLICY_",
  OVERLAPS,
);
/** Returns the number of a policy. Throws a ValueError for an unknown name. */
export const encodeScheduleOverlapPolicy: typeof overlap[0] = overlap[0];
/** Returns the policy of a number. */
export const decodeScheduleOverlapPolicy: typeof overlap[1] = overlap[1];

const REACHABILITIES = [
  "NEW_WORKFLOWS",
  "EXISTING_WORKFLOWS",
  "OPEN_WORKFLOWS",
  "CLOSED_WORKFLOWS",
] as const;
/** Workflows for which a build may be needed. */
export const ReachabilityType: Members<(typeof REACHABILITIES)[number]> = members(
  ...REACHABILITIES,
);
/** Workflows for which a build may be needed. */
export type ReachabilityType = (typeof REACHABILITIES)[number];
const reachability: EnumCodec<"TASK_REACHABILITY_", (typeof REACHABILITIES)[number]> = enumCodec(
  "TASK_REACHABILITY_",
  REACHABILITIES,
);
/** Returns the number of a reachability. Throws a ValueError for an unknown name. */
export const encodeTaskReachability: typeof reachability[0] = reachability[0];
/** Returns the reachability of a number. */
export const decodeTaskReachability: typeof reachability[1] = reachability[1];

const ID_REUSE = ["ALLOW_DUPLICATE", "ALLOW_DUPLICATE_FAILED_ONLY", "REJECT_DUPLICATE"] as const;
const ID_CONFLICT = ["FAIL", "USE_EXISTING"] as const;
const ENDS = ["RUNNING", "COMPLETED", "FAILED", "CANCELED", "TERMINATED", "TIMED_OUT"] as const;
const ACTIVITY_ENDS = [...ENDS, "PAUSED"] as const;
const PENDING = ["SCHEDULED", "STARTED", "CANCEL_REQUESTED", "PAUSED", "PAUSE_REQUESTED"] as const;
const PENDING_NEXUS = ["SCHEDULED", "BACKING_OFF", "STARTED", "BLOCKED"] as const;
const CANCELLATIONS = [
  "SCHEDULED",
  "BACKING_OFF",
  "SUCCEEDED",
  "FAILED",
  "TIMED_OUT",
  "BLOCKED",
] as const;

/** Whether the id of a closed standalone activity can be reused. */
export const ActivityIdReusePolicy: Members<(typeof ID_REUSE)[number]> = members(...ID_REUSE);
/** Whether the id of a closed standalone activity can be reused. */
export type ActivityIdReusePolicy = (typeof ID_REUSE)[number];
const activityReuse: EnumCodec<"ACTIVITY_ID_REUSE_POLICY_", (typeof ID_REUSE)[number]> = enumCodec(
  "ACTIVITY_ID_REUSE_POLICY_",
  ID_REUSE,
);
/** Returns the number of a policy. */
export const encodeActivityIdReusePolicy: typeof activityReuse[0] = activityReuse[0];
/** Returns the policy of a number. */
export const decodeActivityIdReusePolicy: typeof activityReuse[1] = activityReuse[1];

/** What a start does if the id of the standalone activity is in use. */
export const ActivityIdConflictPolicy: Members<(typeof ID_CONFLICT)[number]> = members(
  ...ID_CONFLICT,
);
/** What a start does if the id of the standalone activity is in use. */
export type ActivityIdConflictPolicy = (typeof ID_CONFLICT)[number];
const activityConflict: EnumCodec<"ACTIVITY_ID_CONFLICT_POLICY_", (typeof ID_CONFLICT)[number]> =
  enumCodec(
    "ACTIVITY_ID_CONFLICT_POLICY_",
    ID_CONFLICT,
  );
/** Returns the number of a policy. */
export const encodeActivityIdConflictPolicy: typeof activityConflict[0] = activityConflict[0];
/** Returns the policy of a number. */
export const decodeActivityIdConflictPolicy: typeof activityConflict[1] = activityConflict[1];

/** Status of a standalone activity. */
export const ActivityExecutionStatus: Members<(typeof ACTIVITY_ENDS)[number]> = members(
  ...ACTIVITY_ENDS,
);
/** Status of a standalone activity. */
export type ActivityExecutionStatus = (typeof ACTIVITY_ENDS)[number];
const activityStatus: EnumCodec<"ACTIVITY_EXECUTION_STATUS_", (typeof ACTIVITY_ENDS)[number]> =
  enumCodec(
    "ACTIVITY_EXECUTION_STATUS_",
    ACTIVITY_ENDS,
  );
/** Returns the number of a status. */
export const encodeActivityExecutionStatus: typeof activityStatus[0] = activityStatus[0];
/** Returns the status of a number. */
export const decodeActivityExecutionStatus: typeof activityStatus[1] = activityStatus[1];

/** State of a pending activity. */
export const PendingActivityState: Members<(typeof PENDING)[number]> = members(...PENDING);
/** State of a pending activity. */
export type PendingActivityState = (typeof PENDING)[number];
const pending: EnumCodec<"PENDING_ACTIVITY_STATE_", (typeof PENDING)[number]> = enumCodec(
  "PENDING_ACTIVITY_STATE_",
  PENDING,
);
/** Returns the number of a state. */
export const encodePendingActivityState: typeof pending[0] = pending[0];
/** Returns the state of a number. */
export const decodePendingActivityState: typeof pending[1] = pending[1];

/** Whether the id of a closed standalone operation can be reused. */
export const NexusOperationIdReusePolicy: Members<(typeof ID_REUSE)[number]> = members(...ID_REUSE);
/** Whether the id of a closed standalone operation can be reused. */
export type NexusOperationIdReusePolicy = (typeof ID_REUSE)[number];
const nexusReuse: EnumCodec<"NEXUS_OPERATION_ID_REUSE_POLICY_", (typeof ID_REUSE)[number]> =
  enumCodec(
    "NEXUS_OPERATION_ID_REUSE_POLICY_",
    ID_REUSE,
  );
/** Returns the number of a policy. */
export const encodeNexusOperationIdReusePolicy: typeof nexusReuse[0] = nexusReuse[0];
/** Returns the policy of a number. */
export const decodeNexusOperationIdReusePolicy: typeof nexusReuse[1] = nexusReuse[1];

/** What a start does if the id of the standalone operation is in use. */
export const NexusOperationIdConflictPolicy: Members<(typeof ID_CONFLICT)[number]> = members(
  ...ID_CONFLICT,
);
/** What a start does if the id of the standalone operation is in use. */
export type NexusOperationIdConflictPolicy = (typeof ID_CONFLICT)[number];
const nexusConflict: EnumCodec<
  "NEXUS_OPERATION_ID_CONFLICT_POLICY_",
  (typeof ID_CONFLICT)[number]
> = enumCodec(
  "NEXUS_OPERATION_ID_CONFLICT_POLICY_",
  ID_CONFLICT,
);
/** Returns the number of a policy. */
export const encodeNexusOperationIdConflictPolicy: typeof nexusConflict[0] = nexusConflict[0];
/** Returns the policy of a number. */
export const decodeNexusOperationIdConflictPolicy: typeof nexusConflict[1] = nexusConflict[1];

/** Status of a standalone operation. */
export const NexusOperationExecutionStatus: Members<(typeof ENDS)[number]> = members(...ENDS);
/** Status of a standalone operation. */
export type NexusOperationExecutionStatus = (typeof ENDS)[number];
const nexusStatus: EnumCodec<"NEXUS_OPERATION_EXECUTION_STATUS_", (typeof ENDS)[number]> =
  enumCodec(
    "NEXUS_OPERATION_EXECUTION_STATUS_",
    ENDS,
  );
/** Returns the number of a status. */
export const encodeNexusOperationExecutionStatus: typeof nexusStatus[0] = nexusStatus[0];
/** Returns the status of a number. */
export const decodeNexusOperationExecutionStatus: typeof nexusStatus[1] = nexusStatus[1];

/** State of a pending operation. */
export const PendingNexusOperationState: Members<(typeof PENDING_NEXUS)[number]> = members(
  ...PENDING_NEXUS,
);
/** State of a pending operation. */
export type PendingNexusOperationState = (typeof PENDING_NEXUS)[number];
const nexusPending: EnumCodec<"PENDING_NEXUS_OPERATION_STATE_", (typeof PENDING_NEXUS)[number]> =
  enumCodec(
    "PENDING_NEXUS_OPERATION_STATE_",
    PENDING_NEXUS,
  );
/** Returns the number of a state. */
export const encodePendingNexusOperationState: typeof nexusPending[0] = nexusPending[0];
/** Returns the state of a number. */
export const decodePendingNexusOperationState: typeof nexusPending[1] = nexusPending[1];

/** State of an operation's cancellation. */
export const NexusOperationCancellationState: Members<(typeof CANCELLATIONS)[number]> = members(
  ...CANCELLATIONS,
);
/** State of an operation's cancellation. */
export type NexusOperationCancellationState = (typeof CANCELLATIONS)[number];
const nexusCancellation: EnumCodec<
  "NEXUS_OPERATION_CANCELLATION_STATE_",
  (typeof CANCELLATIONS)[number]
> = enumCodec(
  "NEXUS_OPERATION_CANCELLATION_STATE_",
  CANCELLATIONS,
);
/** Returns the number of a state. */
export const encodeNexusOperationCancellationState: typeof nexusCancellation[0] =
  nexusCancellation[0];
/** Returns the state of a number. */
export const decodeNexusOperationCancellationState: typeof nexusCancellation[1] =
  nexusCancellation[1];
