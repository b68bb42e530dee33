// Options and small enumerations of `@temporalio/common` in their official form.
import { ValueError } from "./errors.ts";
import type { VersioningIntent } from "./deployments.ts";
import type { Priority } from "./priority.ts";
import type { Duration } from "./time.ts";

/** What a cancellation of its scope does to an activity. */
export const ActivityCancellationType = {
  TRY_CANCEL: "TRY_CANCEL",
  WAIT_CANCELLATION_COMPLETED: "WAIT_CANCELLATION_COMPLETED",
  ABANDON: "ABANDON",
} as const;
/** What a cancellation of its scope does to an activity. */
export type ActivityCancellationType = keyof typeof ActivityCancellationType;

/** What a cancellation of its scope does to a child workflow. */
export const ChildWorkflowCancellationType = {
  ABANDON: "ABANDON",
  TRY_CANCEL: "TRY_CANCEL",
  WAIT_CANCELLATION_COMPLETED: "WAIT_CANCELLATION_COMPLETED",
  WAIT_CANCELLATION_REQUESTED: "WAIT_CANCELLATION_REQUESTED",
} as const;
/** What a cancellation of its scope does to a child workflow. */
export type ChildWorkflowCancellationType = keyof typeof ChildWorkflowCancellationType;

/** Members of an enumeration in their present spelling, by name; the order is that of the numbers, from 1. */
export type Members<K extends string> = { readonly [N in K]: N };

/** An enumeration with its members in both spellings: `ABANDON`, and `PARENT_CLOSE_POLICY_ABANDON`, as programs of before 1.12 have it. */
export type InBothSpellings<P extends string, K extends string> =
  & Members<K>
  & { readonly [N in K as `${P}${N}`]: N }
  & { readonly [N in `${P}UNSPECIFIED`]: undefined };

/** Makes one: the prefix of the older spelling, and the names. */
export function inBothSpellings<K extends string, P extends string>(prefix: P, names: readonly K[]): InBothSpellings<P, K> {
  return Object.fromEntries([
    ...names.map((name) => [name, name]),
    [`${prefix}UNSPECIFIED`, undefined],
    ...names.map((name) => [prefix + name, name]),
  ]);
}

const PARENT_CLOSE = ["TERMINATE", "ABANDON", "REQUEST_CANCEL"] as const;
/** What becomes of a child when its parent closes. */
export const ParentClosePolicy: InBothSpellings<"PARENT_CLOSE_POLICY_", ParentClosePolicy> = inBothSpellings(
  "PARENT_CLOSE_POLICY_",
  PARENT_CLOSE,
);
/** What becomes of a child when its parent closes. */
export type ParentClosePolicy = (typeof PARENT_CLOSE)[number];

const ID_REUSE = ["ALLOW_DUPLICATE", "ALLOW_DUPLICATE_FAILED_ONLY", "REJECT_DUPLICATE", "TERMINATE_IF_RUNNING"] as const;
/** May a start take an id that was used before? */
export const WorkflowIdReusePolicy: InBothSpellings<"WORKFLOW_ID_REUSE_POLICY_", WorkflowIdReusePolicy> = inBothSpellings(
  "WORKFLOW_ID_REUSE_POLICY_",
  ID_REUSE,
);
/** Whether a start may take an id that was used before. */
export type WorkflowIdReusePolicy = (typeof ID_REUSE)[number];

/** A value of an enumeration, which programs give by its name, with the older prefix, or by its number; undefined and null are 0. */
export function enumNumber(
  what: string,
  members: { readonly [name: string]: string | undefined },
  prefix: string,
  value: string | number | null | undefined,
): number {
  const names = ["UNSPECIFIED", ...Object.keys(members).filter((name) => !name.startsWith(prefix))];
  if (value === undefined || value === null) return 0;
  const plain = typeof value === "string" && value.startsWith(prefix) ? value.slice(prefix.length) : value;
  const at = typeof plain === "number" ? plain : names.indexOf(plain);
  if (names[at] === undefined) throw new ValueError(`Invalid ${what} value: '${value}'`);
  return at;
}

/** What becomes of a message handler that is still running when the workflow ends. */
export const HandlerUnfinishedPolicy = { WARN_AND_ABANDON: "WARN_AND_ABANDON", ABANDON: "ABANDON" } as const;
/** What becomes of a message handler that is still running when the workflow ends. */
export type HandlerUnfinishedPolicy = keyof typeof HandlerUnfinishedPolicy;

/** When and how often attempts are repeated. */
export interface RetryPolicy {
  /** Factor from one interval to the next. Default: 2. */
  backoffCoefficient?: number;
  /** Time until the second attempt. Default: 1 second. */
  initialInterval?: Duration;
  /** Attempts in all. Default: no limit. */
  maximumAttempts?: number;
  /** The longest time between attempts. Default: 100 times the first one. */
  maximumInterval?: Duration;
  /** Types of failures that are not tried again. */
  nonRetryableErrorTypes?: string[];
}

/** One of startToCloseTimeout and scheduleToCloseTimeout is required. */
export interface ActivityOptions {
  /** Default: a number, counted in the run. */
  activityId?: string;
  /** Default: that of the workflow. */
  taskQueue?: string;
  /** The longest time between heartbeats. */
  heartbeatTimeout?: Duration;
  /** Default: the server's policy. */
  retry?: RetryPolicy;
  /** The longest time of one attempt. */
  startToCloseTimeout?: Duration;
  /** The longest wait for a worker. */
  scheduleToStartTimeout?: Duration;
  /** The longest time in all, retries included. */
  scheduleToCloseTimeout?: Duration;
  /** Default: "TRY_CANCEL". */
  cancellationType?: ActivityCancellationType;
  /** Shown in user interfaces. */
  summary?: string;
  /** Lets the server hand the task to this worker at once. Default: true. */
  allowEagerDispatch?: boolean;
  /** Which builds may take it (deprecated). */
  versioningIntent?: VersioningIntent;
  /** Order among the tasks of its queue. */
  priority?: Priority;
}

/** Options of activities that run within the workflow task. */
export interface LocalActivityOptions extends Omit<ActivityOptions, "activityId" | "taskQueue" | "heartbeatTimeout"> {
  /** Retries that are further away than this wait in a timer of the workflow. Default: 1 minute. */
  localRetryThreshold?: Duration;
}
