// `temporalex schedule ...`: workflows that a store or a cluster starts.
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
  summary: "manage schedules, which start workflows",
  description:
    `Schedules start workflows at the times of a calendar, an interval or a cron expression. The schedules of a store act while a process has the store open.`,
  commands: {
    create: command({
      summary: "create a schedule",
      description:
        "Creates a schedule. Without a calendar, an interval or a cron expression, it only acts when it is triggered.",
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
      summary: "show a schedule: times, action, recent and next runs",
      options: scheduleDescribeOptions,
      examples: [{ line: `temporalex schedule describe -s daily ${AT}` }, {
        line: `temporalex schedule describe -s daily ${AT} --json | jq .info.nextActionTimes`,
      }],
      run: async (call) => (await import("./describe_list.ts")).describeScheduleCommand(call),
    }),
    list: command({
      summary: "list schedules",
      description:
        "Lists schedules; with --query, only those that match. Recent changes appear in the list after a moment.",
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
        "Changes the given options and keeps all others. If a calendar, interval or cron expression is given, it replaces all existing ones.",
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
      summary: "pause a schedule",
      options: pause,
      examples: [{ line: `temporalex schedule pause -s daily --notes "holidays" ${AT}` }],
      run: async (call) => (await import("./actions.ts")).pauseCommand(call),
    }),
    unpause: command({
      summary: "unpause a schedule",
      description:
        "Unpauses a schedule. Actions that were due during the pause are not taken; see backfill.",
      options: pause,
      examples: [{ line: `temporalex schedule unpause -s daily ${AT}` }],
      run: async (call) => (await import("./actions.ts")).unpauseCommand(call),
    }),
    trigger: command({
      summary: "trigger an action now",
      description:
        "Starts the workflow of a schedule now, also while the schedule is paused. The scheduled times do not change.",
      options: trigger,
      examples: [
        { line: `temporalex schedule trigger -s daily ${AT}` },
        {
          line: `temporalex schedule trigger -s daily --overlap-policy Skip ${AT}`,
          what: "only if no workflow of the schedule is running",
        },
      ],
      run: async (call) => (await import("./actions.ts")).triggerCommand(call),
    }),
    backfill: command({
      summary: "run actions of a past time range",
      options: backfill,
      examples: [{
        line:
          `temporalex schedule backfill -s daily --start-time 2026-01-01T00:00:00Z --end-time 2026-01-08T00:00:00Z --overlap-policy BufferAll ${AT}`,
      }],
      run: async (call) => (await import("./actions.ts")).backfillCommand(call),
    }),
    delete: command({
      summary: "delete a schedule",
      description: "Deletes a schedule. Workflows that it started continue.",
      options: one,
      examples: [{ line: `temporalex schedule delete -s daily ${AT}` }],
      run: async (call) => (await import("./actions.ts")).deleteScheduleCommand(call),
    }),
  },
};
