// Options and small enumerations of `@temporalio/common`.
import { ValueError } from "./errors.ts";
import type { VersioningIntent } from "./deployments.ts";
import type { Priority } from "./priority.ts";
import type { Duration } from "./time.ts";

/** Effect of a scope's cancellation on an activity. */
export const ActivityCancellationType = {
  TRY_CANCEL: "TRY_CANCEL",
  WAIT_CANCELLATION_COMPLETED: "WAIT_CANCELLATION_COMPLETED",
  ABANDON: "ABANDON",
} as const;
/** Effect of a scope's cancellation on an activity. */
export type ActivityCancellationType = keyof typeof ActivityCancellationType;

/** Effect of a scope's cancellation on a child workflow. */
export const ChildWorkflowCancellationType = {
  ABANDON: "ABANDON",
  TRY_CANCEL: "TRY_CANCEL",
  WAIT_CANCELLATION_COMPLETED: "WAIT_CANCELLATION_COMPLETED",
  WAIT_CANCELLATION_REQUESTED: "WAIT_CANCELLATION_REQUESTED",
} as const;
/** Effect of a scope's cancellation on a child workflow. */
export type ChildWorkflowCancellationType = keyof typeof ChildWorkflowCancellationType;

/** Members of an enumeration by name, in the order of their numbers, from 1. */
export type Members<K extends string> = { readonly [N in K]: N };

/**
 * An enumeration with both spellings: `ABANDON`, and `PARENT_CLOSE_POLICY_ABANDON` of programs
 * before 1.12.
 */
export type InBothSpellings<P extends string, K extends string> =
  & Members<K>
  & { readonly [N in K as `${P}${N}`]: N }
  & { readonly [N in `${P}UNSPECIFIED`]: undefined };

/** Creates an enumeration from the old prefix and the names. */
export function inBothSpellings<K extends string, P extends string>(
  prefix: P,
  names: readonly K[],
): InBothSpellings<P, K> {
  return Object.fromEntries([
    ...names.map((name) => [name, name]),
    [`${prefix}UNSPECIFIED`, undefined],
    ...names.map((name) => [prefix + name, name]),
  ]);
}

const PARENT_CLOSE = ["TERMINATE", "ABANDON", "REQUEST_CANCEL"] as const;
/** What happens to a child when its parent closes. */
export const ParentClosePolicy: InBothSpellings<"PARENT_CLOSE_POLICY_", ParentClosePolicy> =
  inBothSpellings(
    "PARENT_CLOSE_POLICY_",
    PARENT_CLOSE,
  );
/** What happens to a child when its parent closes. */
export type ParentClosePolicy = (typeof PARENT_CLOSE)[number];

const ID_REUSE = [
  "ALLOW_DUPLICATE",
  "ALLOW_DUPLICATE_FAILED_ONLY",
  "REJECT_DUPLICATE",
  "TERMINATE_IF_RUNNING",
] as const;
/** Whether the id of a closed workflow can be reused. */
export const WorkflowIdReusePolicy: InBothSpellings<
  "WORKFLOW_ID_REUSE_POLICY_",
  WorkflowIdReusePolicy
> = inBothSpellings(
  "WORKFLOW_ID_REUSE_POLICY_",
  ID_REUSE,
);
/** Whether the id of a closed workflow can be reused. */
export type WorkflowIdReusePolicy = (typeof ID_REUSE)[number];

/**
 * Returns the number of an enumeration value given by name, with or without the old prefix, or by
 * number; undefined and null are 0.
 */
export function enumNumber(
  what: string,
  members: { readonly [name: string]: string | undefined },
  prefix: string,
  value: string | number | null | undefined,
): number {
  const names = ["UNSPECIFIED", ...Object.keys(members).filter((name) => !name.startsWith(prefix))];
  if (value === undefined || value === null) return 0;
  const plain = typeof value === "string" && value.startsWith(prefix)
    ? value.slice(prefix.length)
    : value;
  const at = typeof plain === "number" ? plain : names.indexOf(plain);
  if (names[at] === undefined) throw new ValueError(`Invalid ${what} value: '${value}'`);
  return at;
}

/** What happens to a running message handler when the workflow ends. */
export const HandlerUnfinishedPolicy = {
  WARN_AND_ABANDON: "WARN_AND_ABANDON",
  ABANDON: "ABANDON",
} as const;
/** What happens to a running message handler when the workflow ends. */
export type HandlerUnfinishedPolicy = keyof typeof HandlerUnfinishedPolicy;

/** Policy of retries. */
export interface RetryPolicy {
  /** Factor of consecutive intervals. Default: 2. */
  backoffCoefficient?: number;
  /** Delay of the second attempt. Default: 1 second. */
  initialInterval?: Duration;
  /** Maximum number of attempts. Default: no limit. */
  maximumAttempts?: number;
  /** Maximum interval. Default: 100 times the initial one. */
  maximumInterval?: Duration;
  /** Types of failures that are not retried. */
  nonRetryableErrorTypes?: string[];
}

/** One of startToCloseTimeout and scheduleToCloseTimeout is required. */
export interface ActivityOptions {
  /** Default: a number, counted in the run. */
  activityId?: string;
  /** Default: the workflow's queue. */
  taskQueue?: string;
  /** Maximum time between heartbeats. */
  heartbeatTimeout?: Duration;
  /** Default: the server's policy. */
  retry?: RetryPolicy;
  /** Limit of one attempt. */
  startToCloseTimeout?: Duration;
  /** Maximum wait for a worker. */
  scheduleToStartTimeout?: Duration;
  /** Limit of all attempts, including retries. */
  scheduleToCloseTimeout?: Duration;
  /** Default: "TRY_CANCEL". */
  cancellationType?: ActivityCancellationType;
  /** Text for user interfaces. */
  summary?: string;
  /** Allows the server to return the task to this worker at once. Default: true. */
  allowEagerDispatch?: boolean;
  /** Builds that may run it. Deprecated. */
  versioningIntent?: VersioningIntent;
  /** Priority in the queue. */
  priority?: Priority;
}

/** Options of activities that run within the workflow task. */
export interface LocalActivityOptions
  extends Omit<ActivityOptions, "activityId" | "taskQueue" | "heartbeatTimeout"> {
  /** Longer retry delays use a timer of the workflow. Default: 1 minute. */
  localRetryThreshold?: Duration;
}
