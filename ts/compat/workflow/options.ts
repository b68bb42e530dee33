// Options of what workflow code asks for: timers, child workflows, the next run. Those of activities are in ../common/options.ts.
import type {
  ActivityOptions as CommonActivityOptions,
  ChildWorkflowCancellationType,
  LocalActivityOptions as CommonLocalActivityOptions,
  ParentClosePolicy,
  RetryPolicy,
  WorkflowIdReusePolicy,
} from "../common/options.ts";
import type { SearchAttributePair, SearchAttributes, TypedSearchAttributes } from "../common/search_attributes.ts";
import type { VersioningIntent } from "../common/deployments.ts";
import type { InitialVersioningBehavior } from "../common/policies.ts";
import type { Priority } from "../common/priority.ts";
import type { Duration } from "../common/time.ts";
import type { PayloadTypeInfo } from "../common/type_info.ts";

/** Marks commands, and the events that they leave, as belonging together in user interfaces. */
export interface EventGroupMarker {
  /** Calls a function whose commands all carry this marker, with those of the scopes around it. */
  withScope<T>(fn: () => Promise<T>): Promise<T>;
}

/** Options of an activity. */
export interface ActivityOptions extends CommonActivityOptions {
  /** Groups that it belongs to, in user interfaces. */
  eventGroups?: EventGroupMarker[];
}

/** Options of a local activity. */
export interface LocalActivityOptions extends CommonLocalActivityOptions {
  /** Groups that it belongs to, in user interfaces. */
  eventGroups?: EventGroupMarker[];
}

/** Options of a timer. */
export interface TimerOptions {
  /** Shown in user interfaces. */
  summary?: string;
  /** Groups that it belongs to, in user interfaces. */
  eventGroups?: EventGroupMarker[];
}

/** Options of a child workflow. */
export interface ChildWorkflowOptions {
  /** Id of the workflow. Default: a UUID. */
  workflowId?: string;
  /** Default: that of the parent. */
  taskQueue?: string;
  /** Default WAIT_CANCELLATION_COMPLETED. */
  cancellationType?: ChildWorkflowCancellationType;
  /** Default: the server's, which terminates. */
  parentClosePolicy?: ParentClosePolicy | number;
  /** Whether the start may take an id that was used before. Default: the server's, which allows it. */
  workflowIdReusePolicy?: WorkflowIdReusePolicy | number;
  /** Default: the child is not tried again. */
  retry?: RetryPolicy;
  /** Starts it again and again, at times of this cron expression. */
  cronSchedule?: string;
  /** The longest time of all runs together. */
  workflowExecutionTimeout?: Duration;
  /** The longest time of one run. */
  workflowRunTimeout?: Duration;
  /** The longest time of one workflow task. */
  workflowTaskTimeout?: Duration;
  /** Values that lists and descriptions show. */
  memo?: Record<string, unknown>;
  /** Search attributes in the older form. */
  searchAttributes?: SearchAttributes;
  /** Search attributes with their types. */
  typedSearchAttributes?: SearchAttributePair[] | TypedSearchAttributes;
  /** Order among tasks. Default: that of the parent. */
  priority?: Priority;
  /** Whether it begins with the build of the parent's worker. Default: on the parent's own queue. */
  versioningIntent?: VersioningIntent;
  /** A line about it for user interfaces. */
  staticSummary?: string;
  /** More about it for user interfaces. */
  staticDetails?: string;
  /** Types of arguments and result, of a child that is given by its name. */
  typeInfo?: PayloadTypeInfo;
  /** Groups that it belongs to, in user interfaces. */
  eventGroups?: EventGroupMarker[];
}
/** What the next run has in place of what this one has. */
export interface ContinueAsNewOptions {
  /** Type of the next run. */
  workflowType?: string;
  /** Its task queue. */
  taskQueue?: string;
  /** The longest time of the next run. */
  workflowRunTimeout?: Duration;
  /** The longest time of one of its tasks. */
  workflowTaskTimeout?: Duration;
  /** Time until the first task of the next run. */
  backoffStartInterval?: Duration;
  /** Whether it begins with the build of this run's worker. Default: on this run's own queue. */
  versioningIntent?: VersioningIntent;
  /** Which version of a pinned workflow's deployment the next run begins with. Default: that of this run. */
  initialVersioningBehavior?: InitialVersioningBehavior;
  /** Absent: the memo of this run. */
  memo?: Record<string, unknown>;
  /** Absent, in both forms: those of this run. */
  searchAttributes?: SearchAttributes;
  /** Search attributes with their types. */
  typedSearchAttributes?: SearchAttributePair[] | TypedSearchAttributes;
  /** Types of the next run's arguments. Default: for the same type of workflow those that it was defined with. */
  typeInfo?: PayloadTypeInfo;
  /** Groups that the end of this run belongs to, in user interfaces. */
  eventGroups?: EventGroupMarker[];
}
