// Schedules in the official form.
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
import type { SearchAttributePair, SearchAttributes, TypedSearchAttributes } from "../common/search_attributes.ts";
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
export const DAYS_OF_WEEK = ["SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"] as const;

/** Values from `start` to `end`, each `step`-th one. */
export interface Range<Unit> {
  /** The first one. */
  start: Unit;
  /** The last one. */
  end: Unit;
  /** Distance. */
  step: number;
}
/** A calendar as the service describes it. */
export type CalendarSpecDescription = NativeCalendarDescription;
/** Moments at equal distances. */
export interface IntervalSpec {
  /** The distance. */
  every: Duration;
  /** Shifts them. */
  offset?: Duration;
}
/** Moments at equal distances, in milliseconds. */
export interface IntervalSpecDescription {
  /** The distance. */
  every: number;
  /** Shifts them. */
  offset: number;
}
/** When a schedule acts. */
export interface ScheduleSpec {
  /** Moments by the calendar. */
  calendars?: CalendarSpec[];
  /** Moments at equal distances. */
  intervals?: IntervalSpec[];
  /** Cron expressions. */
  cronExpressions?: string[];
  /** Moments at which nothing is done. */
  skip?: CalendarSpec[];
  /** Nothing is done before. */
  startAt?: Date;
  /** Nothing is done after. */
  endAt?: Date;
  /** Each moment is put off by a random time of at most this. */
  jitter?: Duration;
  /** Time zone. Default: UTC. */
  timezone?: string;
}
/** A spec as the service describes it. */
export type ScheduleSpecDescription = Omit<ScheduleSpec, "calendars" | "intervals" | "cronExpressions" | "skip" | "jitter"> & {
  /** Moments by the calendar. */
  calendars?: CalendarSpecDescription[];
  /** Moments at equal distances. */
  intervals?: IntervalSpecDescription[];
  /** Moments at which nothing is done. */
  skip?: CalendarSpecDescription[];
  /** Milliseconds. */
  jitter?: number;
};

/** A time whose actions are taken now. */
export interface Backfill {
  /** From. */
  start: Date;
  /** To. */
  end: Date;
  /** Policy of these actions. Default: ALLOW_ALL, as the service has it. */
  overlap?: ScheduleOverlapPolicy;
}

/** What a schedule starts. */
export type ScheduleOptionsStartWorkflowAction<W extends Workflow> =
  & {
    /** Says what it does. */
    type: "startWorkflow";
    /** The workflow. */
    workflowType: string | W;
    /** Begin of the ids. Default: the schedule's id and "-workflow". */
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
/** What a schedule does. */
export type ScheduleOptionsAction = ScheduleOptionsStartWorkflowAction<Workflow>;

/** Options of `create`. */
export interface ScheduleOptions<A extends ScheduleOptionsAction = ScheduleOptionsAction> {
  /** Id of the schedule. */
  scheduleId: string;
  /** When it acts. */
  spec: ScheduleSpec;
  /** What it does. */
  action: A;
  /** How it acts. */
  policies?: { overlap?: ScheduleOverlapPolicy; catchupWindow?: Duration; pauseOnFailure?: boolean };
  /** Kept with it. */
  memo?: Record<string, unknown>;
  /** Older form of search attributes. */
  searchAttributes?: SearchAttributes;
  /** Search attributes. */
  typedSearchAttributes?: SearchAttributePair[] | TypedSearchAttributes;
  /** Whether it acts, and what it does at once. */
  state?: {
    paused?: boolean;
    note?: string;
    remainingActions?: number;
    triggerImmediately?: boolean;
    backfill?: Backfill[];
  };
}

/** What an update makes of a schedule. */
export type ScheduleUpdateOptions<A extends ScheduleOptionsAction = ScheduleOptionsAction> =
  & Omit<ScheduleOptions, "scheduleId" | "memo" | "action" | "state">
  & {
    /** What it does. */
    action: A;
    /** Whether it acts. */
    state: Omit<NonNullable<ScheduleOptions["state"]>, "triggerImmediately" | "backfill">;
  };

/** What a described schedule starts. */
export interface ScheduleSummaryStartWorkflowAction {
  /** Says what it does. */
  type: "startWorkflow";
  /** Type of the workflows. */
  workflowType: string;
}
/** What a listed schedule does. */
export type ScheduleSummaryAction = ScheduleSummaryStartWorkflowAction;
/** What a described schedule starts. */
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
/** What a described schedule does. */
export type ScheduleDescriptionAction = ScheduleDescriptionStartWorkflowAction;
/** What a schedule does, as interceptors see it. */
export type CompiledScheduleAction = Omit<ScheduleDescriptionAction, "workflowType" | "args"> & {
  /** Type of the workflows. */
  workflowType: string;
  /** Their arguments. */
  args: unknown[];
};
/** Options of `create`, as interceptors see them. */
export type CompiledScheduleOptions = Omit<ScheduleOptions, "action"> & { action: CompiledScheduleAction };
/** What an update makes of a schedule, as it is sent. */
export type CompiledScheduleUpdateOptions = Omit<ScheduleUpdateOptions, "action"> & { action: CompiledScheduleAction };

/** A workflow that a schedule has started. */
export interface ScheduleExecutionStartWorkflowActionResult {
  /** Says what it did. */
  type: "startWorkflow";
  /** The workflow. */
  workflow: { workflowId: string; firstExecutionRunId: string };
}
/** What a schedule has done. */
export type ScheduleExecutionActionResult = ScheduleExecutionStartWorkflowActionResult;
/** An action that a schedule has taken. */
export interface ScheduleExecutionResult {
  /** When it was due. */
  scheduledAt: Date;
  /** When it was taken. */
  takenAt: Date;
  /** What it did. */
  action: ScheduleExecutionActionResult;
}

/** A schedule, as `list` shows it. */
export interface ScheduleSummary {
  /** Its id. */
  scheduleId: string;
  /** When it acts. */
  spec?: ScheduleSpecDescription;
  /** What it does. */
  action?: ScheduleSummaryAction;
  /** Kept with it. */
  memo?: Record<string, unknown>;
  /** Older form of search attributes. */
  searchAttributes?: SearchAttributes;
  /** Search attributes. */
  typedSearchAttributes?: TypedSearchAttributes;
  /** Whether it acts. */
  state: { paused: boolean; note?: string };
  /** What it has done, and will do. */
  info: { recentActions: ScheduleExecutionResult[]; nextActionTimes: Date[] };
}

/** A schedule, as `describe` shows it. */
export type ScheduleDescription = {
  /** Its id. */
  scheduleId: string;
  /** When it acts. */
  spec: ScheduleSpecDescription;
  /** What it does. */
  action: ScheduleDescriptionAction;
  /** How it acts. */
  policies: { overlap: ScheduleOverlapPolicy; catchupWindow: number; pauseOnFailure: boolean };
  /** Kept with it. */
  memo?: Record<string, unknown>;
  /** Older form of search attributes. */
  searchAttributes: SearchAttributes;
  /** Search attributes. */
  typedSearchAttributes: TypedSearchAttributes;
  /** Whether it acts. */
  state: { paused: boolean; note?: string; remainingActions?: number };
  /** What it has done, and will do. */
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
  /** The message. */
  raw: PlainMessage;
};

/** What the product's client takes. */
export type NativeScheduleOptions = NativeOptions<string>;
