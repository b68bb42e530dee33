// `temporalex schedule ...`: workflows that a cluster starts by itself.
import { type Call, command, type Group, type Options } from "../../frame/command.ts";
import { INPUT_OPTIONS, SERVICE_OPTIONS, TIME_FORMAT } from "../../service/options.ts";

/** Schedules need a cluster: there is no store to name. */
const { store: _store, ...rest } = SERVICE_OPTIONS;
const CLUSTER = {
  ...rest,
  store: { ...SERVICE_OPTIONS.store, help: "Not for schedules: they need a cluster, named by --address or --profile" },
} as const satisfies Options;

const SCHEDULE_ID = { type: "text", short: "s", value: "id", required: true, help: "Schedule id" } as const;
const OVERLAP = ["Skip", "BufferOne", "BufferAll", "CancelOther", "TerminateOther", "AllowAll"] as const;

const WHEN = "When it acts";
const WHAT = "What it starts";
const HOW = "How it acts";

/** What a schedule is made of. */
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
  cron: { section: WHEN, type: "text", value: "expression", many: true, help: 'A cron expression: "0 6 * * MON-FRI", "@daily"' },
  skip: { section: WHEN, type: "text", value: "json", many: true, help: "A calendar at whose moments nothing is done" },
  startTime: { section: WHEN, type: "text", value: "time", help: "Nothing is done before; 2030-01-01T00:00:00Z" },
  endTime: { section: WHEN, type: "text", value: "time", help: "Nothing is done after" },
  jitter: { section: WHEN, type: "duration", value: "duration", help: "Each moment is put off by a random time of at most this" },
  timeZone: { section: WHEN, type: "text", value: "name", help: "Time zone of calendars and cron expressions. Default: UTC" },
} as const satisfies Options;

const POLICIES = {
  overlapPolicy: {
    section: HOW,
    type: "text",
    value: "policy",
    choices: OVERLAP,
    help: "What happens when the last workflow is still running. Default: Skip",
  },
  catchupWindow: { section: HOW, type: "duration", value: "duration", help: "How late an action may be taken. Default: a year" },
  remainingActions: { section: HOW, type: "number", value: "n", help: "Act so many times more. Default: no limit" },
  notes: { section: HOW, type: "text", value: "text", help: "For people; describe and list show it" },
} as const satisfies Options;

const ACTION = {
  workflowId: {
    section: WHAT,
    type: "text",
    short: "w",
    value: "id",
    help: "Begin of the workflows' ids. Default: the schedule's id and \"-workflow\"",
  },
  ...INPUT_OPTIONS,
  executionTimeout: { section: WHAT, type: "duration", value: "duration", help: "Limit of the workflow, with all its retries" },
  runTimeout: { section: WHAT, type: "duration", value: "duration", help: "Limit of one run" },
  taskTimeout: { section: WHAT, type: "duration", value: "duration", help: "Limit of one workflow task" },
  memo: { section: WHAT, type: "text", value: "key=json", many: true, help: "Data that describe and list show of the workflows" },
  searchAttribute: { section: WHAT, type: "text", value: "key=json", many: true, help: "Search attributes of the workflows" },
  staticSummary: { section: WHAT, type: "text", value: "text", help: "One line for people, shown by user interfaces" },
  staticDetails: { section: WHAT, type: "text", value: "text", help: "More lines for people" },
} as const satisfies Options;

const create = {
  scheduleId: SCHEDULE_ID,
  type: { section: WHAT, type: "text", value: "name", required: true, help: "Workflow type" },
  taskQueue: { section: WHAT, type: "text", short: "t", value: "name", default: "default", help: "Queue whose workers run it" },
  ...ACTION,
  ...SPEC,
  ...POLICIES,
  pauseOnFailure: { section: HOW, type: "flag", help: "Pause when a workflow fails or times out" },
  paused: { section: HOW, type: "flag", help: "It takes no actions until unpause" },
  triggerImmediately: { section: HOW, type: "flag", help: "Act once at once" },
  scheduleMemo: { type: "text", value: "key=json", many: true, help: "Data that describe and list show of the schedule" },
  scheduleSearchAttribute: { type: "text", value: "key=json", many: true, help: "Search attributes of the schedule" },
  ...CLUSTER,
} as const satisfies Options;
export type CreateScheduleCall = Call<typeof create>;

const YES_NO = { type: "text", value: "true|false", choices: ["true", "false"] } as const;
const update = {
  scheduleId: SCHEDULE_ID,
  type: { section: WHAT, type: "text", value: "name", help: "Workflow type" },
  taskQueue: { section: WHAT, type: "text", short: "t", value: "name", help: "Queue whose workers run it" },
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
export type UpdateScheduleCall = Call<typeof update>;

const one = { scheduleId: SCHEDULE_ID, ...CLUSTER } as const satisfies Options;
export type OneScheduleCall = Call<typeof one>;

const describe = { ...one, timeFormat: TIME_FORMAT } as const satisfies Options;
export type DescribeScheduleCall = Call<typeof describe>;

const list = {
  query: {
    type: "text",
    short: "q",
    value: "query",
    help: "Which schedules, for instance 'TemporalSchedulePaused = true'",
  },
  limit: { type: "number", value: "n", help: "Show at most so many" },
  pageSize: { type: "number", value: "n", help: "Fetch so many at a time. Default: what the service gives" },
  timeFormat: TIME_FORMAT,
  ...CLUSTER,
} as const satisfies Options;
export type ListSchedulesCall = Call<typeof list>;

const pause = {
  scheduleId: SCHEDULE_ID,
  notes: { type: "text", value: "text", aliases: ["reason"], help: "Why; describe and list show it" },
  ...CLUSTER,
} as const satisfies Options;
export type PauseScheduleCall = Call<typeof pause>;

const trigger = {
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

const backfill = {
  scheduleId: SCHEDULE_ID,
  startTime: { type: "text", value: "time", required: true, help: "From this moment, such as 2026-01-01T00:00:00Z" },
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

const AT = "--address localhost:7233";

export const schedule: Group = {
  summary: "workflows that a cluster starts by itself, at given times",
  description:
    `Schedules start workflows at the times of a calendar, an interval or a cron expression. They live on a Temporal cluster (--address or --profile); a store has none.`,
  commands: {
    create: command({
      summary: "make a schedule",
      description:
        "Makes a schedule. Without a calendar, an interval or a cron expression it acts when it is triggered, and else never.",
      options: create,
      examples: [
        {
          line:
            `temporalex schedule create -s daily --cron "0 6 * * MON-FRI" --time-zone Europe/Berlin --type Report -i '"sales"' ${AT}`,
        },
        { line: `temporalex schedule create -s tick --interval 90m/5m --type Tick --overlap-policy AllowAll ${AT}` },
        {
          line:
            `temporalex schedule create -s first --calendar '{"dayOfMonth": 1, "hour": [6, 18]}' --type Invoice --pause-on-failure ${AT}`,
        },
      ],
      run: async (call) => (await import("./create_update.ts")).createScheduleCommand(call),
    }),
    describe: command({
      summary: "show a schedule: when it acts, what it starts, what it has done",
      options: describe,
      examples: [{ line: `temporalex schedule describe -s daily ${AT}` }, {
        line: `temporalex schedule describe -s daily ${AT} --json | jq .info.nextActionTimes`,
      }],
      run: async (call) => (await import("./describe_list.ts")).describeScheduleCommand(call),
    }),
    list: command({
      summary: "show schedules",
      description: "Shows schedules; with --query those that match. The list lags a moment behind.",
      options: list,
      examples: [{ line: `temporalex schedule list ${AT}` }, {
        line: `temporalex schedule list --query 'TemporalSchedulePaused = true' ${AT} -o jsonl | jq -r .scheduleId`,
      }],
      run: async (call) => (await import("./describe_list.ts")).listSchedulesCommand(call),
    }),
    update: command({
      summary: "change a schedule",
      description:
        "Changes what the options name and keeps everything else. Calendars, intervals and cron expressions, where any is given, take the place of all that there were.",
      options: update,
      examples: [
        { line: `temporalex schedule update -s daily --cron "0 7 * * *" ${AT}` },
        { line: `temporalex schedule update -s daily -i '"costs"' --overlap-policy BufferOne ${AT}` },
      ],
      run: async (call) => (await import("./create_update.ts")).updateScheduleCommand(call),
    }),
    pause: command({
      summary: "let a schedule take no actions",
      options: pause,
      examples: [{ line: `temporalex schedule pause -s daily --notes "holidays" ${AT}` }],
      run: async (call) => (await import("./actions.ts")).pauseCommand(call),
    }),
    unpause: command({
      summary: "let a schedule act again",
      description: "Lets a schedule act again. What was due meanwhile is not made up for: see backfill.",
      options: pause,
      examples: [{ line: `temporalex schedule unpause -s daily ${AT}` }],
      run: async (call) => (await import("./actions.ts")).unpauseCommand(call),
    }),
    trigger: command({
      summary: "let a schedule act now",
      options: trigger,
      examples: [{ line: `temporalex schedule trigger -s daily ${AT}` }],
      run: async (call) => (await import("./actions.ts")).triggerCommand(call),
    }),
    backfill: command({
      summary: "take the actions of a time that is over, now",
      options: backfill,
      examples: [{
        line:
          `temporalex schedule backfill -s daily --start-time 2026-01-01T00:00:00Z --end-time 2026-01-08T00:00:00Z --overlap-policy BufferAll ${AT}`,
      }],
      run: async (call) => (await import("./actions.ts")).backfillCommand(call),
    }),
    delete: command({
      summary: "remove a schedule",
      description: "Removes a schedule. Workflows that it has started go on.",
      options: one,
      examples: [{ line: `temporalex schedule delete -s daily ${AT}` }],
      run: async (call) => (await import("./actions.ts")).deleteScheduleCommand(call),
    }),
  },
};
