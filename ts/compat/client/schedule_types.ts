// Types of schedules in the official form.
import type { ScheduleOptions as NativeOptions } from "../../client/mod.ts";
import type {
  CalendarSpec,
  CalendarSpecDescription as NativeCalendarDescription,
  DayOfWeek,
  LooseRange,
  Month,
} from "../../client/mod.ts";
import type { Workflow } from "../common/definitions.ts";
import type { PlainMessage } from "../common/plain_proto.ts";
import type {
  SearchAttributePair,
  SearchAttributes,
  TypedSearchAttributes,
} from "../common/search_attributes.ts";
import type { Duration } from "../common/time.ts";
import type { ScheduleOverlapPolicy } from "./enums.ts";
import type { WorkflowStartOptions } from "./workflow_options.ts";

export type { CalendarSpec, DayOfWeek, LooseRange, Month };

/** The months. */
export const MONTHS = [
  ...["JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE"] as const,
  ...["JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER", "DECEMBER"] as const,
] as const;
/** The days of the week. */
export const DAYS_OF_WEEK = [
  "SUNDAY",
  "MONDAY",
  "TUESDAY",
  "WEDNESDAY",
  "THURSDAY",
  "FRIDAY",
  "SATURDAY",
] as const;

/** Values from `start` to `end`, in steps of `step`. */
export interface Range<Unit> {
  /** First value. */
  start: Unit;
  /** Last value. */
  end: Unit;
  /** Distance between values. */
  step: number;
}
/** A calendar in a description. */
export type CalendarSpecDescription = NativeCalendarDescription;
/** Times at equal distances. */
export interface IntervalSpec {
  /** Distance of the times. */
  every: Duration;
  /** Offset of the times. */
  offset?: Duration;
}
/** Times at equal distances, in milliseconds. */
export interface IntervalSpecDescription {
  /** Distance of the times. */
  every: number;
  /** Offset of the times. */
  offset: number;
}
/** Times of a schedule. */
export interface ScheduleSpec {
  /** Calendar times. */
  calendars?: CalendarSpec[];
  /** Times at equal distances. */
  intervals?: IntervalSpec[];
  cronExpressions?: string[];
  /** Times to skip. */
  skip?: CalendarSpec[];
  /** No actions before this time. */
  startAt?: Date;
  /** No actions after this time. */
  endAt?: Date;
  /** Maximum random delay of each time. */
  jitter?: Duration;
  /** Time zone. Default: UTC. */
  timezone?: string;
}
/** A spec in a description. */
export type ScheduleSpecDescription =
  & Omit<ScheduleSpec, "calendars" | "intervals" | "cronExpressions" | "skip" | "jitter">
  & {
    /** Calendar times. */
    calendars?: CalendarSpecDescription[];
    /** Times at equal distances. */
    intervals?: IntervalSpecDescription[];
    /** Times to skip. */
    skip?: CalendarSpecDescription[];
    /** Maximum random delay in milliseconds. */
    jitter?: number;
  };

/** A time range whose actions run now. */
export interface Backfill {
  /** Beginning of the range. */
  start: Date;
  /** End of the range. */
  end: Date;
  /** Policy of these actions. Default: the service's, ALLOW_ALL. */
  overlap?: ScheduleOverlapPolicy;
}

/** The workflow that a schedule starts. */
export type ScheduleOptionsStartWorkflowAction<W extends Workflow> =
  & {
    /** Discriminator. */
    type: "startWorkflow";
    /** Workflow function or type. */
    workflowType: string | W;
    /** Prefix of the ids. Default: the schedule's id and "-workflow". */
    workflowId?: string;
  }
  & Pick<
    WorkflowStartOptions<W>,
    | "taskQueue"
    | "args"
    | "memo"
    | "searchAttributes"
    | "typedSearchAttributes"
    | "retry"
    | "workflowExecutionTimeout"
    | "workflowRunTimeout"
    | "workflowTaskTimeout"
    | "staticDetails"
    | "staticSummary"
  >;
/** Action of a schedule. */
export type ScheduleOptionsAction = ScheduleOptionsStartWorkflowAction<Workflow>;

/** Options of `create`. */
export interface ScheduleOptions<A extends ScheduleOptionsAction = ScheduleOptionsAction> {
  scheduleId: string;
  /** Times of its actions. */
  spec: ScheduleSpec;
  /** The workflow that it starts. */
  action: A;
  /** Policies of its actions. */
  policies?: {
    overlap?: ScheduleOverlapPolicy;
    catchupWindow?: Duration;
    pauseOnFailure?: boolean;
  };
  memo?: Record<string, unknown>;
  /** Search attributes without types. */
  searchAttributes?: SearchAttributes;
  typedSearchAttributes?: SearchAttributePair[] | TypedSearchAttributes;
  /** Initial state, and actions at its creation. */
  state?: {
    paused?: boolean;
    note?: string;
    remainingActions?: number;
    triggerImmediately?: boolean;
    backfill?: Backfill[];
  };
}

/** Result of an update function. */
export type ScheduleUpdateOptions<A extends ScheduleOptionsAction = ScheduleOptionsAction> =
  & Omit<ScheduleOptions, "scheduleId" | "memo" | "action" | "state">
  & {
    /** The workflow that it starts. */
    action: A;
    state: Omit<NonNullable<ScheduleOptions["state"]>, "triggerImmediately" | "backfill">;
  };

/** The workflow in a listed schedule. */
export interface ScheduleSummaryStartWorkflowAction {
  /** Discriminator. */
  type: "startWorkflow";
  workflowType: string;
}
/** Action of a listed schedule. */
export type ScheduleSummaryAction = ScheduleSummaryStartWorkflowAction;
/** The workflow in a described schedule. */
export type ScheduleDescriptionStartWorkflowAction =
  & ScheduleSummaryStartWorkflowAction
  & Pick<
    WorkflowStartOptions<Workflow>,
    | "taskQueue"
    | "workflowId"
    | "args"
    | "memo"
    | "searchAttributes"
    | "typedSearchAttributes"
    | "retry"
    | "workflowExecutionTimeout"
    | "workflowRunTimeout"
    | "workflowTaskTimeout"
    | "staticSummary"
    | "staticDetails"
    | "priority"
  >;
/** Action of a described schedule. */
export type ScheduleDescriptionAction = ScheduleDescriptionStartWorkflowAction;
/** Action of a schedule, for interceptors. */
export type CompiledScheduleAction = Omit<ScheduleDescriptionAction, "workflowType" | "args"> & {
  workflowType: string;
  /** Arguments of the workflows. */
  args: unknown[];
};
/** Options of `create`, for interceptors. */
export type CompiledScheduleOptions = Omit<ScheduleOptions, "action"> & {
  action: CompiledScheduleAction;
};
/** Compiled result of an update function. */
export type CompiledScheduleUpdateOptions = Omit<ScheduleUpdateOptions, "action"> & {
  action: CompiledScheduleAction;
};

/** A workflow that a schedule has started. */
export interface ScheduleExecutionStartWorkflowActionResult {
  /** Discriminator. */
  type: "startWorkflow";
  workflow: { workflowId: string; firstExecutionRunId: string };
}
/** Result of an action. */
export type ScheduleExecutionActionResult = ScheduleExecutionStartWorkflowActionResult;
/** An action of a schedule in the past. */
export interface ScheduleExecutionResult {
  /** Time at which it was due. */
  scheduledAt: Date;
  /** Time at which it ran. */
  takenAt: Date;
  action: ScheduleExecutionActionResult;
}

/** A schedule in a list. */
export interface ScheduleSummary {
  scheduleId: string;
  /** Times of its actions. */
  spec?: ScheduleSpecDescription;
  /** The workflow that it starts. */
  action?: ScheduleSummaryAction;
  memo?: Record<string, unknown>;
  /** Search attributes without types. */
  searchAttributes?: SearchAttributes;
  typedSearchAttributes?: TypedSearchAttributes;
  state: { paused: boolean; note?: string };
  /** Past and future actions. */
  info: { recentActions: ScheduleExecutionResult[]; nextActionTimes: Date[] };
}

/** A schedule in detail. */
export type ScheduleDescription = {
  scheduleId: string;
  /** Times of its actions. */
  spec: ScheduleSpecDescription;
  /** The workflow that it starts. */
  action: ScheduleDescriptionAction;
  /** Policies of its actions. */
  policies: { overlap: ScheduleOverlapPolicy; catchupWindow: number; pauseOnFailure: boolean };
  memo?: Record<string, unknown>;
  /** Search attributes without types. */
  searchAttributes: SearchAttributes;
  typedSearchAttributes: TypedSearchAttributes;
  state: { paused: boolean; note?: string; remainingActions?: number };
  /** Past and future actions. */
  info: {
    recentActions: ScheduleExecutionResult[];
    nextActionTimes: Date[];
    numActionsTaken: number;
    numActionsMissedCatchupWindow: number;
    numActionsSkippedOverlap: number;
    createdAt: Date;
    lastUpdatedAt: Date | undefined;
    runningActions: ScheduleExecutionActionResult[];
  };
  /** The message of the service. */
  raw: PlainMessage;
};

/** Schedule options of the native client. */
export type NativeScheduleOptions = NativeOptions<string>;
