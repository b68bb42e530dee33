// `temporalex schedule ...`: workflows started by a cluster.
import { command, type Group } from "../../frame/command.ts";
import {
  AT,
  backfill,
  create,
  one,
  pause,
  scheduleDescribeOptions,
  scheduleListOptions,
  scheduleUpdateOptions,
  trigger,
} from "./options.ts";

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
        {
          line:
            `temporalex schedule create -s tick --interval 90m/5m --type Tick --overlap-policy AllowAll ${AT}`,
        },
        {
          line:
            `temporalex schedule create -s first --calendar '{"dayOfMonth": 1, "hour": [6, 18]}' --type Invoice --pause-on-failure ${AT}`,
        },
      ],
      run: async (call) => (await import("./create_update.ts")).createScheduleCommand(call),
    }),
    describe: command({
      summary: "show a schedule: when it acts, what it starts, what it has done",
      options: scheduleDescribeOptions,
      examples: [{ line: `temporalex schedule describe -s daily ${AT}` }, {
        line: `temporalex schedule describe -s daily ${AT} --json | jq .info.nextActionTimes`,
      }],
      run: async (call) => (await import("./describe_list.ts")).describeScheduleCommand(call),
    }),
    list: command({
      summary: "show schedules",
      description: "Shows schedules; with --query those that match. The list lags a moment behind.",
      options: scheduleListOptions,
      examples: [{ line: `temporalex schedule list ${AT}` }, {
        line:
          `temporalex schedule list --query 'TemporalSchedulePaused = true' ${AT} -o jsonl | jq -r .scheduleId`,
      }],
      run: async (call) => (await import("./describe_list.ts")).listSchedulesCommand(call),
    }),
    update: command({
      summary: "change a schedule",
      description:
        "Changes what the options name and keeps everything else. Calendars, intervals and cron expressions, where any is given, take the place of all that there were.",
      options: scheduleUpdateOptions,
      examples: [
        { line: `temporalex schedule update -s daily --cron "0 7 * * *" ${AT}` },
        {
          line: `temporalex schedule update -s daily -i '"costs"' --overlap-policy BufferOne ${AT}`,
        },
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
      summary: "unpause a schedule",
      description:
        "Lets a schedule act again. What was due meanwhile is not made up for: see backfill.",
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
      description: "Removes a schedule. Workflows that it started continue.",
      options: one,
      examples: [{ line: `temporalex schedule delete -s daily ${AT}` }],
      run: async (call) => (await import("./actions.ts")).deleteScheduleCommand(call),
    }),
  },
};
