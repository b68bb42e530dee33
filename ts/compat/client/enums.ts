// Enumerations of `@temporalio/client`.
import { type EnumCodec, enumCodec } from "../common/enum_codecs.ts";
import { type InBothSpellings, inBothSpellings, type Members } from "../common/options.ts";

function members<K extends string>(...names: K[]): Members<K> {
  return Object.fromEntries(names.map((name) => [name, name])) as unknown as Members<K>;
}

const REJECT = ["NONE", "NOT_OPEN", "NOT_COMPLETED_CLEANLY"] as const;
/** In which states a workflow is not to be asked. */
export const QueryRejectCondition: InBothSpellings<"QUERY_REJECT_CONDITION_", QueryRejectCondition> = inBothSpellings(
  "QUERY_REJECT_CONDITION_",
  REJECT,
);
/** In which states a workflow is not to be asked. */
export type QueryRejectCondition = (typeof REJECT)[number];
const reject: EnumCodec<"QUERY_REJECT_CONDITION_", (typeof REJECT)[number]> = enumCodec("QUERY_REJECT_CONDITION_", REJECT);
/** The number of a condition. Throws a ValueError for another name. */
export const encodeQueryRejectCondition: typeof reject[0] = reject[0];
/** The condition of a number. */
export const decodeQueryRejectCondition: typeof reject[1] = reject[1];

/** How far an update has come. */
export const WorkflowUpdateStage: Members<"ADMITTED" | "ACCEPTED" | "COMPLETED"> & { readonly UNSPECIFIED: undefined } = {
  ADMITTED: "ADMITTED",
  ACCEPTED: "ACCEPTED",
  COMPLETED: "COMPLETED",
  UNSPECIFIED: undefined,
};
/** How far an update has come. */
export type WorkflowUpdateStage = "ADMITTED" | "ACCEPTED" | "COMPLETED" | undefined;

const OVERLAPS = ["SKIP", "BUFFER_ONE", "BUFFER_ALL", "CANCEL_OTHER", "TERMINATE_OTHER", "ALLOW_ALL"] as const;
/** What a schedule does while the workflow of the last time is running. */
export const ScheduleOverlapPolicy: Members<(typeof OVERLAPS)[number]> & { readonly UNSPECIFIED: undefined } = {
  ...members(...OVERLAPS),
  UNSPECIFIED: undefined,
};
/** What a schedule does while the workflow of the last time is running. */
export type ScheduleOverlapPolicy = (typeof OVERLAPS)[number] | undefined;
const overlap: EnumCodec<"SCHEDULE_OVERLAP_POLICY_", (typeof OVERLAPS)[number]> = enumCodec("SCHEDULE_OVERLAP_POLICY_", OVERLAPS);
/** The number of a policy. Throws a ValueError for another name. */
export const encodeScheduleOverlapPolicy: typeof overlap[0] = overlap[0];
/** The policy of a number. */
export const decodeScheduleOverlapPolicy: typeof overlap[1] = overlap[1];

const REACHABILITIES = ["NEW_WORKFLOWS", "EXISTING_WORKFLOWS", "OPEN_WORKFLOWS", "CLOSED_WORKFLOWS"] as const;
/** What workflows a build may be needed for. */
export const ReachabilityType: Members<(typeof REACHABILITIES)[number]> = members(...REACHABILITIES);
/** What workflows a build may be needed for. */
export type ReachabilityType = (typeof REACHABILITIES)[number];
const reachability: EnumCodec<"TASK_REACHABILITY_", (typeof REACHABILITIES)[number]> = enumCodec(
  "TASK_REACHABILITY_",
  REACHABILITIES,
);
/** The number of a reachability. Throws a ValueError for another name. */
export const encodeTaskReachability: typeof reachability[0] = reachability[0];
/** The reachability of a number. */
export const decodeTaskReachability: typeof reachability[1] = reachability[1];

const ID_REUSE = ["ALLOW_DUPLICATE", "ALLOW_DUPLICATE_FAILED_ONLY", "REJECT_DUPLICATE"] as const;
const ID_CONFLICT = ["FAIL", "USE_EXISTING"] as const;
const ENDS = ["RUNNING", "COMPLETED", "FAILED", "CANCELED", "TERMINATED", "TIMED_OUT"] as const;
const ACTIVITY_ENDS = [...ENDS, "PAUSED"] as const;
const PENDING = ["SCHEDULED", "STARTED", "CANCEL_REQUESTED", "PAUSED", "PAUSE_REQUESTED"] as const;
const PENDING_NEXUS = ["SCHEDULED", "BACKING_OFF", "STARTED", "BLOCKED"] as const;
const CANCELLATIONS = ["SCHEDULED", "BACKING_OFF", "SUCCEEDED", "FAILED", "TIMED_OUT", "BLOCKED"] as const;

/** May a standalone activity take an id that was used before? */
export const ActivityIdReusePolicy: Members<(typeof ID_REUSE)[number]> = members(...ID_REUSE);
/** May a standalone activity take an id that was used before? */
export type ActivityIdReusePolicy = (typeof ID_REUSE)[number];
const activityReuse: EnumCodec<"ACTIVITY_ID_REUSE_POLICY_", (typeof ID_REUSE)[number]> = enumCodec(
  "ACTIVITY_ID_REUSE_POLICY_",
  ID_REUSE,
);
/** The number of a policy. */
export const encodeActivityIdReusePolicy: typeof activityReuse[0] = activityReuse[0];
/** The policy of a number. */
export const decodeActivityIdReusePolicy: typeof activityReuse[1] = activityReuse[1];

/** What the start of a standalone activity does where its id is in use. */
export const ActivityIdConflictPolicy: Members<(typeof ID_CONFLICT)[number]> = members(...ID_CONFLICT);
/** What the start of a standalone activity does where its id is in use. */
export type ActivityIdConflictPolicy = (typeof ID_CONFLICT)[number];
const activityConflict: EnumCodec<"ACTIVITY_ID_CONFLICT_POLICY_", (typeof ID_CONFLICT)[number]> = enumCodec(
  "ACTIVITY_ID_CONFLICT_POLICY_",
  ID_CONFLICT,
);
/** The number of a policy. */
export const encodeActivityIdConflictPolicy: typeof activityConflict[0] = activityConflict[0];
/** The policy of a number. */
export const decodeActivityIdConflictPolicy: typeof activityConflict[1] = activityConflict[1];

/** How a standalone activity stands. */
export const ActivityExecutionStatus: Members<(typeof ACTIVITY_ENDS)[number]> = members(...ACTIVITY_ENDS);
/** How a standalone activity stands. */
export type ActivityExecutionStatus = (typeof ACTIVITY_ENDS)[number];
const activityStatus: EnumCodec<"ACTIVITY_EXECUTION_STATUS_", (typeof ACTIVITY_ENDS)[number]> = enumCodec(
  "ACTIVITY_EXECUTION_STATUS_",
  ACTIVITY_ENDS,
);
/** The number of a status. */
export const encodeActivityExecutionStatus: typeof activityStatus[0] = activityStatus[0];
/** The status of a number. */
export const decodeActivityExecutionStatus: typeof activityStatus[1] = activityStatus[1];

/** What an activity waits for. */
export const PendingActivityState: Members<(typeof PENDING)[number]> = members(...PENDING);
/** What an activity waits for. */
export type PendingActivityState = (typeof PENDING)[number];
const pending: EnumCodec<"PENDING_ACTIVITY_STATE_", (typeof PENDING)[number]> = enumCodec("PENDING_ACTIVITY_STATE_", PENDING);
/** The number of a state. */
export const encodePendingActivityState: typeof pending[0] = pending[0];
/** The state of a number. */
export const decodePendingActivityState: typeof pending[1] = pending[1];

/** May a standalone operation take an id that was used before? */
export const NexusOperationIdReusePolicy: Members<(typeof ID_REUSE)[number]> = members(...ID_REUSE);
/** May a standalone operation take an id that was used before? */
export type NexusOperationIdReusePolicy = (typeof ID_REUSE)[number];
const nexusReuse: EnumCodec<"NEXUS_OPERATION_ID_REUSE_POLICY_", (typeof ID_REUSE)[number]> = enumCodec(
  "NEXUS_OPERATION_ID_REUSE_POLICY_",
  ID_REUSE,
);
/** The number of a policy. */
export const encodeNexusOperationIdReusePolicy: typeof nexusReuse[0] = nexusReuse[0];
/** The policy of a number. */
export const decodeNexusOperationIdReusePolicy: typeof nexusReuse[1] = nexusReuse[1];

/** What the start of a standalone operation does where its id is in use. */
export const NexusOperationIdConflictPolicy: Members<(typeof ID_CONFLICT)[number]> = members(...ID_CONFLICT);
/** What the start of a standalone operation does where its id is in use. */
export type NexusOperationIdConflictPolicy = (typeof ID_CONFLICT)[number];
const nexusConflict: EnumCodec<"NEXUS_OPERATION_ID_CONFLICT_POLICY_", (typeof ID_CONFLICT)[number]> = enumCodec(
  "NEXUS_OPERATION_ID_CONFLICT_POLICY_",
  ID_CONFLICT,
);
/** The number of a policy. */
export const encodeNexusOperationIdConflictPolicy: typeof nexusConflict[0] = nexusConflict[0];
/** The policy of a number. */
export const decodeNexusOperationIdConflictPolicy: typeof nexusConflict[1] = nexusConflict[1];

/** How a standalone operation stands. */
export const NexusOperationExecutionStatus: Members<(typeof ENDS)[number]> = members(...ENDS);
/** How a standalone operation stands. */
export type NexusOperationExecutionStatus = (typeof ENDS)[number];
const nexusStatus: EnumCodec<"NEXUS_OPERATION_EXECUTION_STATUS_", (typeof ENDS)[number]> = enumCodec(
  "NEXUS_OPERATION_EXECUTION_STATUS_",
  ENDS,
);
/** The number of a status. */
export const encodeNexusOperationExecutionStatus: typeof nexusStatus[0] = nexusStatus[0];
/** The status of a number. */
export const decodeNexusOperationExecutionStatus: typeof nexusStatus[1] = nexusStatus[1];

/** What an operation waits for. */
export const PendingNexusOperationState: Members<(typeof PENDING_NEXUS)[number]> = members(...PENDING_NEXUS);
/** What an operation waits for. */
export type PendingNexusOperationState = (typeof PENDING_NEXUS)[number];
const nexusPending: EnumCodec<"PENDING_NEXUS_OPERATION_STATE_", (typeof PENDING_NEXUS)[number]> = enumCodec(
  "PENDING_NEXUS_OPERATION_STATE_",
  PENDING_NEXUS,
);
/** The number of a state. */
export const encodePendingNexusOperationState: typeof nexusPending[0] = nexusPending[0];
/** The state of a number. */
export const decodePendingNexusOperationState: typeof nexusPending[1] = nexusPending[1];

/** How the cancellation of an operation stands. */
export const NexusOperationCancellationState: Members<(typeof CANCELLATIONS)[number]> = members(...CANCELLATIONS);
/** How the cancellation of an operation stands. */
export type NexusOperationCancellationState = (typeof CANCELLATIONS)[number];
const nexusCancellation: EnumCodec<"NEXUS_OPERATION_CANCELLATION_STATE_", (typeof CANCELLATIONS)[number]> = enumCodec(
  "NEXUS_OPERATION_CANCELLATION_STATE_",
  CANCELLATIONS,
);
/** The number of a state. */
export const encodeNexusOperationCancellationState: typeof nexusCancellation[0] = nexusCancellation[0];
/** The state of a number. */
export const decodeNexusOperationCancellationState: typeof nexusCancellation[1] = nexusCancellation[1];
