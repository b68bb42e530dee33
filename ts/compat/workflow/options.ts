// Options of timers, child workflows and the next run. Options of activities are in
// ../common/options.ts.
import type {
  ActivityOptions as CommonActivityOptions,
  ChildWorkflowCancellationType,
  LocalActivityOptions as CommonLocalActivityOptions,
  ParentClosePolicy,
  RetryPolicy,
  WorkflowIdReusePolicy,
} from "../common/options.ts";
import type {
  SearchAttributePair,
  SearchAttributes,
  TypedSearchAttributes,
} from "../common/search_attributes.ts";
import type { VersioningIntent } from "../common/deployments.ts";
import type { InitialVersioningBehavior } from "../common/policies.ts";
import type { Priority } from "../common/priority.ts";
import type { Duration } from "../common/time.ts";
import type { PayloadTypeInfo } from "../common/type_info.ts";

/** Marks related commands and their events for user interfaces. */
export interface EventGroupMarker {
  /**
   * Calls a function whose commands carry this marker in addition to those of surrounding scopes.
   */
  withScope<T>(fn: () => Promise<T>): Promise<T>;
}

/** Options of an activity. */
export interface ActivityOptions extends CommonActivityOptions {
  /** Event groups for user interfaces. */
  eventGroups?: EventGroupMarker[];
}

/** Options of a local activity. */
export interface LocalActivityOptions extends CommonLocalActivityOptions {
  /** Event groups for user interfaces. */
  eventGroups?: EventGroupMarker[];
}

/** Options of a timer. */
export interface TimerOptions {
  /** Text for user interfaces. */
  summary?: string;
  /** Event groups for user interfaces. */
  eventGroups?: EventGroupMarker[];
}

/** Options of a child workflow. */
export interface ChildWorkflowOptions {
  /** Id of the workflow. Default: a UUID. */
  workflowId?: string;
  /** Default: the parent's queue. */
  taskQueue?: string;
  /** Default: WAIT_CANCELLATION_COMPLETED. */
  cancellationType?: ChildWorkflowCancellationType;
  /** Default: the server's, TERMINATE. */
  parentClosePolicy?: ParentClosePolicy | number;
  /** Whether the id of a closed workflow can be reused. Default: the server's, which allows it. */
  workflowIdReusePolicy?: WorkflowIdReusePolicy | number;
  /** Default: no retries. */
  retry?: RetryPolicy;
  /** Cron schedule of repeated starts. */
  cronSchedule?: string;
  /** Limit of all runs together. */
  workflowExecutionTimeout?: Duration;
  /** Limit of one run. */
  workflowRunTimeout?: Duration;
  /** Limit of one workflow task. */
  workflowTaskTimeout?: Duration;
  memo?: Record<string, unknown>;
  /** Search attributes without types. */
  searchAttributes?: SearchAttributes;
  /** Search attributes with their types. */
  typedSearchAttributes?: SearchAttributePair[] | TypedSearchAttributes;
  /** Priority of its tasks. Default: the parent's. */
  priority?: Priority;
  /** Whether it starts with the build of the parent's worker. Default: on the parent's queue. */
  versioningIntent?: VersioningIntent;
  /** One line for user interfaces. */
  staticSummary?: string;
  /** Further lines for user interfaces. */
  staticDetails?: string;
  /** Type hints of arguments and result, for a child given by name. */
  typeInfo?: PayloadTypeInfo;
  /** Event groups for user interfaces. */
  eventGroups?: EventGroupMarker[];
}
/** Changed options of the next run. */
export interface ContinueAsNewOptions {
  /** Type of the next run. */
  workflowType?: string;
  /** Task queue of the next run. */
  taskQueue?: string;
  /** Limit of the next run. */
  workflowRunTimeout?: Duration;
  /** Limit of a workflow task of the next run. */
  workflowTaskTimeout?: Duration;
  /** Delay of the first task of the next run. */
  backoffStartInterval?: Duration;
  /** Whether it starts with the build of this run's worker. Default: on this run's queue. */
  versioningIntent?: VersioningIntent;
  /** Initial deployment version of the next run of a pinned workflow. Default: that of this run. */
  initialVersioningBehavior?: InitialVersioningBehavior;
  /** Default: the memo of this run. */
  memo?: Record<string, unknown>;
  /** Default, in both forms: those of this run. */
  searchAttributes?: SearchAttributes;
  /** Search attributes with their types. */
  typedSearchAttributes?: SearchAttributePair[] | TypedSearchAttributes;
  /**
   * Type hints of the next run's arguments. Default: those of the definition if the type is the
   * same.
   */
  typeInfo?: PayloadTypeInfo;
  /** Event groups of this run's end, for user interfaces. */
  eventGroups?: EventGroupMarker[];
}
