// Options of the commands and the types of their calls.
import type { Call, Options } from "../../frame/command.ts";
import { INPUT_OPTIONS, SERVICE_OPTIONS, TIME_FORMAT } from "../../service/options.ts";

const SCHEDULE_ID = {
  type: "text",
  short: "s",
  value: "id",
  required: true,
  help: "Schedule ID",
} as const;
const OVERLAP = [
  "Skip",
  "BufferOne",
  "BufferAll",
  "CancelOther",
  "TerminateOther",
  "AllowAll",
] as const;

const WHEN = "Times";
const WHAT = "Workflow to start";
const HOW = "Policies and state";

/** Options of a schedule's contents. */
const SPEC = {
  calendar: {
    section: WHEN,
    type: "text",
    value: "json",
    many: true,
    help:
      'Calendar times: \'{"hour": 6, "dayOfWeek": {"start": "MONDAY", "end": "FRIDAY"}}\'. Fields: second, minute, hour, dayOfMonth, month, year, dayOfWeek, comment',
  },
  interval: {
    section: WHEN,
    type: "text",
    value: "every[/offset]",
    many: true,
    help: 'Interval, with an optional offset: "90m", "1d/6h"',
  },
  cron: {
    section: WHEN,
    type: "text",
    value: "expression",
    many: true,
    help: 'A cron expression: "0 6 * * MON-FRI", "@daily"',
  },
  skip: {
    section: WHEN,
    type: "text",
    value: "json",
    many: true,
    help: "Calendar of times to skip",
  },
  startTime: {
    section: WHEN,
    type: "text",
    value: "time",
    help: "No actions before this time, for example 2030-01-01T00:00:00Z",
  },
  endTime: { section: WHEN, type: "text", value: "time", help: "No actions after this time" },
  jitter: {
    section: WHEN,
    type: "duration",
    value: "duration",
    help: "Maximum random delay of each action",
  },
  timeZone: {
    section: WHEN,
    type: "text",
    value: "name",
    help: "Time zone of calendars and cron expressions. Default: UTC",
  },
} as const satisfies Options;

const POLICIES = {
  overlapPolicy: {
    section: HOW,
    type: "text",
    value: "policy",
    choices: OVERLAP,
    help: "Action if the previous workflow is still running. Default: Skip",
  },
  catchupWindow: {
    section: HOW,
    type: "duration",
    value: "duration",
    help: "How late a missed action can still be taken. Default: one year",
  },
  remainingActions: {
    section: HOW,
    type: "number",
    value: "n",
    help: "Number of actions left. Default: no limit",
  },
  notes: {
    section: HOW,
    type: "text",
    value: "text",
    help: "Notes that describe and list show",
  },
} as const satisfies Options;

const ACTION = {
  workflowId: {
    section: WHAT,
    type: "text",
    short: "w",
    value: "id",
    help: 'Prefix of the workflow IDs. Default: the schedule ID and "-workflow"',
  },
  ...INPUT_OPTIONS,
  executionTimeout: {
    section: WHAT,
    type: "duration",
    value: "duration",
    help: "Time limit of the workflow, including retries",
  },
  runTimeout: { section: WHAT, type: "duration", value: "duration", help: "Time limit of one run" },
  taskTimeout: {
    section: WHAT,
    type: "duration",
    value: "duration",
    help: "Time limit of one workflow task",
  },
  memo: {
    section: WHAT,
    type: "text",
    value: "key=json",
    many: true,
    help: "Memo of the workflows",
  },
  searchAttribute: {
    section: WHAT,
    type: "text",
    value: "key=json",
    many: true,
    help: "Search attributes of the workflows",
  },
  staticSummary: {
    section: WHAT,
    type: "text",
    value: "text",
    help: "One-line description for user interfaces",
  },
  staticDetails: {
    section: WHAT,
    type: "text",
    value: "text",
    help: "Multi-line description for user interfaces",
  },
} as const satisfies Options;

export const create = {
  scheduleId: SCHEDULE_ID,
  type: { section: WHAT, type: "text", value: "name", required: true, help: "Workflow type" },
  taskQueue: {
    section: WHAT,
    type: "text",
    short: "t",
    value: "name",
    default: "default",
    help: "Task queue of the workflows",
  },
  ...ACTION,
  ...SPEC,
  ...POLICIES,
  pauseOnFailure: { section: HOW, type: "flag", help: "Pause when a workflow fails or times out" },
  paused: { section: HOW, type: "flag", help: "Create the schedule paused" },
  triggerImmediately: { section: HOW, type: "flag", help: "Take one action immediately" },
  scheduleMemo: {
    type: "text",
    value: "key=json",
    many: true,
    help: "Memo of the schedule",
  },
  scheduleSearchAttribute: {
    type: "text",
    value: "key=json",
    many: true,
    help: "Search attributes of the schedule",
  },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type CreateScheduleCall = Call<typeof create>;

const YES_NO = { type: "text", value: "true|false", choices: ["true", "false"] } as const;
export const scheduleUpdateOptions = {
  scheduleId: SCHEDULE_ID,
  type: { section: WHAT, type: "text", value: "name", help: "Workflow type" },
  taskQueue: {
    section: WHAT,
    type: "text",
    short: "t",
    value: "name",
    help: "Task queue of the workflows",
  },
  ...ACTION,
  ...SPEC,
  ...POLICIES,
  pauseOnFailure: { section: HOW, ...YES_NO, help: "Pause when a workflow fails or times out" },
  unlimited: { section: HOW, type: "flag", help: "Remove the limit of --remaining-actions" },
  scheduleSearchAttribute: {
    type: "text",
    value: "key=json",
    many: true,
    help: "Search attributes of the schedule; replaces all existing ones",
  },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type UpdateScheduleCall = Call<typeof scheduleUpdateOptions>;

export const one = { scheduleId: SCHEDULE_ID, ...SERVICE_OPTIONS } as const satisfies Options;
export type OneScheduleCall = Call<typeof one>;

export const scheduleDescribeOptions = {
  ...one,
  timeFormat: TIME_FORMAT,
} as const satisfies Options;
export type DescribeScheduleCall = Call<typeof scheduleDescribeOptions>;

export const scheduleListOptions = {
  query: {
    type: "text",
    short: "q",
    value: "query",
    help: "List filter, for example 'TemporalSchedulePaused = true'",
  },
  limit: { type: "number", value: "n", help: "Maximum number of schedules" },
  pageSize: {
    type: "number",
    value: "n",
    help: "Schedules per request. Default: the limit of the service",
  },
  timeFormat: TIME_FORMAT,
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type ListSchedulesCall = Call<typeof scheduleListOptions>;

export const pause = {
  scheduleId: SCHEDULE_ID,
  notes: {
    type: "text",
    value: "text",
    aliases: ["reason"],
    help: "Reason that describe and list show",
  },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type PauseScheduleCall = Call<typeof pause>;

export const trigger = {
  scheduleId: SCHEDULE_ID,
  overlapPolicy: {
    type: "text",
    value: "policy",
    choices: OVERLAP,
    help: "Action if a workflow of the schedule is running. Default: AllowAll",
  },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type TriggerScheduleCall = Call<typeof trigger>;

export const backfill = {
  scheduleId: SCHEDULE_ID,
  startTime: {
    type: "text",
    value: "time",
    required: true,
    help: "Start of the time range, for example 2026-01-01T00:00:00Z",
  },
  endTime: { type: "text", value: "time", required: true, help: "End of the time range" },
  overlapPolicy: {
    type: "text",
    value: "policy",
    choices: OVERLAP,
    help: "Overlap policy of these actions. Default: the schedule's",
  },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type BackfillScheduleCall = Call<typeof backfill>;

export const AT = "--address localhost:7233";
