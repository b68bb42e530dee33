// Options of the commands and the types of their calls.
import type { Call, Options } from "../../frame/command.ts";
import { INPUT_OPTIONS, SERVICE_OPTIONS, TIME_FORMAT } from "../../service/options.ts";

/** Schedules need a cluster, so there is no --store. */
const { store: _store, ...rest } = SERVICE_OPTIONS;
const CLUSTER = {
  ...rest,
  store: {
    ...SERVICE_OPTIONS.store,
    help: "Not for schedules: they need a cluster, named by --address or --profile",
  },
} as const satisfies Options;

const SCHEDULE_ID = {
  type: "text",
  short: "s",
  value: "id",
  required: true,
  help: "Schedule id",
} as const;
const OVERLAP = [
  "Skip",
  "BufferOne",
  "BufferAll",
  "CancelOther",
  "TerminateOther",
  "AllowAll",
] as const;

const WHEN = "When it acts";
const WHAT = "What it starts";
const HOW = "How it acts";

/** Options of a schedule's contents. */
const SPEC = {
  calendar: {
    section: WHEN,
    type: "text",
    value: "json",
    many: true,
    help:
      'Moments by the calendar: \'{"hour": 6, "dayOfWeek": {"start": "MONDAY", "end": "FRIDAY"}}\'. Fields: second, minute, hour, dayOfMonth, month, year, dayOfWeek, comment',
  },
  interval: {
    section: WHEN,
    type: "text",
    value: "every[/offset]",
    many: true,
    help: 'Moments at equal distances: "90m", "1d/6h"',
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
    help: "A calendar at whose moments nothing is done",
  },
  startTime: {
    section: WHEN,
    type: "text",
    value: "time",
    help: "Nothing is done before; 2030-01-01T00:00:00Z",
  },
  endTime: { section: WHEN, type: "text", value: "time", help: "Nothing is done after" },
  jitter: {
    section: WHEN,
    type: "duration",
    value: "duration",
    help: "Each moment is put off by a random time of at most this",
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
    help: "What happens when the last workflow is still running. Default: Skip",
  },
  catchupWindow: {
    section: HOW,
    type: "duration",
    value: "duration",
    help: "How late an action may be taken. Default: a year",
  },
  remainingActions: {
    section: HOW,
    type: "number",
    value: "n",
    help: "Act so many times more. Default: no limit",
  },
  notes: {
    section: HOW,
    type: "text",
    value: "text",
    help: "For people; describe and list show it",
  },
} as const satisfies Options;

const ACTION = {
  workflowId: {
    section: WHAT,
    type: "text",
    short: "w",
    value: "id",
    help: 'Prefix of the workflow ids. Default: the schedule\'s id and "-workflow"',
  },
  ...INPUT_OPTIONS,
  executionTimeout: {
    section: WHAT,
    type: "duration",
    value: "duration",
    help: "Limit of the workflow, with all its retries",
  },
  runTimeout: { section: WHAT, type: "duration", value: "duration", help: "Limit of one run" },
  taskTimeout: {
    section: WHAT,
    type: "duration",
    value: "duration",
    help: "Limit of one workflow task",
  },
  memo: {
    section: WHAT,
    type: "text",
    value: "key=json",
    many: true,
    help: "Data that describe and list show of the workflows",
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
    help: "One line for people, shown by user interfaces",
  },
  staticDetails: { section: WHAT, type: "text", value: "text", help: "More lines for people" },
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
    help: "Queue whose workers run it",
  },
  ...ACTION,
  ...SPEC,
  ...POLICIES,
  pauseOnFailure: { section: HOW, type: "flag", help: "Pause when a workflow fails or times out" },
  paused: { section: HOW, type: "flag", help: "It takes no actions until unpause" },
  triggerImmediately: { section: HOW, type: "flag", help: "Act once at once" },
  scheduleMemo: {
    type: "text",
    value: "key=json",
    many: true,
    help: "Data that describe and list show of the schedule",
  },
  scheduleSearchAttribute: {
    type: "text",
    value: "key=json",
    many: true,
    help: "Search attributes of the schedule",
  },
  ...CLUSTER,
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
    help: "Queue whose workers run it",
  },
  ...ACTION,
  ...SPEC,
  ...POLICIES,
  pauseOnFailure: { section: HOW, ...YES_NO, help: "Pause when a workflow fails or times out" },
  unlimited: { section: HOW, type: "flag", help: "No limit of actions any more" },
  scheduleSearchAttribute: {
    type: "text",
    value: "key=json",
    many: true,
    help: "Search attributes of the schedule, in place of all",
  },
  ...CLUSTER,
} as const satisfies Options;
export type UpdateScheduleCall = Call<typeof scheduleUpdateOptions>;

export const one = { scheduleId: SCHEDULE_ID, ...CLUSTER } as const satisfies Options;
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
    help: "Which schedules, for instance 'TemporalSchedulePaused = true'",
  },
  limit: { type: "number", value: "n", help: "Show at most so many" },
  pageSize: {
    type: "number",
    value: "n",
    help: "Fetch so many at a time. Default: what the service gives",
  },
  timeFormat: TIME_FORMAT,
  ...CLUSTER,
} as const satisfies Options;
export type ListSchedulesCall = Call<typeof scheduleListOptions>;

export const pause = {
  scheduleId: SCHEDULE_ID,
  notes: {
    type: "text",
    value: "text",
    aliases: ["reason"],
    help: "Why; describe and list show it",
  },
  ...CLUSTER,
} as const satisfies Options;
export type PauseScheduleCall = Call<typeof pause>;

export const trigger = {
  scheduleId: SCHEDULE_ID,
  overlapPolicy: {
    type: "text",
    value: "policy",
    choices: OVERLAP,
    help: "What happens when a workflow of the schedule is running. Default: AllowAll",
  },
  ...CLUSTER,
} as const satisfies Options;
export type TriggerScheduleCall = Call<typeof trigger>;

export const backfill = {
  scheduleId: SCHEDULE_ID,
  startTime: {
    type: "text",
    value: "time",
    required: true,
    help: "From this moment, such as 2026-01-01T00:00:00Z",
  },
  endTime: { type: "text", value: "time", required: true, help: "To this moment" },
  overlapPolicy: {
    type: "text",
    value: "policy",
    choices: OVERLAP,
    help: "Overlap policy of these actions. Default: the schedule's",
  },
  ...CLUSTER,
} as const satisfies Options;
export type BackfillScheduleCall = Call<typeof backfill>;

export const AT = "--address localhost:7233";
