// `schedule create` and `schedule update`.
import { printableLine } from "../../frame/printable.ts";
import type { ScheduleDescription } from "../../../client/schedules/descriptions.ts";
import type {
  ScheduleAction,
  ScheduleOptions,
  ScheduleUpdateOptions,
} from "../../../client/schedules/options.ts";
import type { CalendarSpec, IntervalSpec, ScheduleSpec } from "../../../client/schedules/spec.ts";
import type { WorkflowOptions } from "../../../client/options.ts";
import type { SearchAttributes } from "../../../converter/search_attributes.ts";
import { Exit } from "../../frame/exit.ts";
import { UsageError } from "../../frame/errors.ts";
import type { CreateScheduleCall, UpdateScheduleCall } from "./options.ts";
import { jsonPairs, readInputs } from "../../text/values.ts";
import { parseMoment, policyOf, withSchedule } from "./service.ts";

type Made = CreateScheduleCall["options"] | UpdateScheduleCall["options"];

function calendars(option: string, texts: readonly string[]): CalendarSpec[] {
  return texts.map((text) => {
    try {
      const calendar = JSON.parse(text) as CalendarSpec;
      if (typeof calendar === "object" && calendar !== null && !Array.isArray(calendar)) {
        return calendar;
      }
    } catch {
      // Reported below.
    }
    throw new UsageError(
      `${option} is JSON such as '{"hour": 6, "dayOfWeek": "MONDAY"}', not ${text}; a cron expression goes to --cron`,
    );
  });
}

function intervals(texts: readonly string[]): IntervalSpec[] {
  return texts.map((text) => {
    const [every = "", offset, ...more] = text.split("/");
    if (more.length > 0) {
      throw new UsageError(`--interval is written every/offset, such as 1d/6h, not "${text}"`);
    }
    return { every, ...(offset !== undefined && { offset }) };
  });
}

/** Returns the times in the options; other parts are those of `before`. */
function specOf(options: Made, before: ScheduleSpec): ScheduleSpec {
  const { calendar, interval, cron, skip, startTime, endTime, jitter, timeZone } = options;
  const { cronExpressions: _cron, ...kept } = before;
  const times = calendar.length + interval.length + cron.length === 0 ? {} : {
    calendars: calendars("--calendar", calendar),
    intervals: intervals(interval),
    cronExpressions: cron,
  };
  return {
    ...kept,
    ...times,
    ...(skip.length > 0 && { skip: calendars("--skip", skip) }),
    ...(startTime !== undefined && { startAt: parseMoment("--start-time", startTime) }),
    ...(endTime !== undefined && { endAt: parseMoment("--end-time", endTime) }),
    ...(jitter !== undefined && { jitter }),
    ...(timeZone !== undefined && { timezone: timeZone }),
  };
}

/** Returns the workflow in the options, without type, queue and arguments. */
function actionOf(options: Made) {
  const { workflowId, executionTimeout, runTimeout, taskTimeout, staticSummary, staticDetails } =
    options;
  const memo = jsonPairs("--memo", options.memo);
  const searchAttributes = jsonPairs(
    "--search-attribute",
    options.searchAttribute,
  ) as WorkflowOptions["searchAttributes"];
  return {
    ...(workflowId !== undefined && { workflowId }),
    ...(executionTimeout !== undefined && { executionTimeout }),
    ...(runTimeout !== undefined && { runTimeout }),
    ...(taskTimeout !== undefined && { taskTimeout }),
    ...(memo !== undefined && { memo }),
    ...(searchAttributes !== undefined && { searchAttributes }),
    ...(staticSummary !== undefined && { summary: staticSummary }),
    ...(staticDetails !== undefined && { details: staticDetails }),
  };
}

export async function createScheduleCommand(call: CreateScheduleCall): Promise<number> {
  const { options, print } = call;
  const { scheduleId, overlapPolicy, catchupWindow, remainingActions, notes } = options;
  const args = await readInputs(call);
  const memo = jsonPairs("--schedule-memo", options.scheduleMemo);
  const searchAttributes = jsonPairs(
    "--schedule-search-attribute",
    options.scheduleSearchAttribute,
  ) as
    | SearchAttributes
    | undefined;
  const overlap = policyOf(overlapPolicy);
  const made: ScheduleOptions<string> = {
    scheduleId,
    spec: specOf(options, {}),
    action: {
      type: "startWorkflow",
      workflowType: options.type,
      taskQueue: options.taskQueue,
      args,
      ...actionOf(options),
    },
    policies: {
      ...(overlap !== undefined && { overlap }),
      ...(catchupWindow !== undefined && { catchupWindow }),
      pauseOnFailure: options.pauseOnFailure,
    },
    state: {
      paused: options.paused,
      ...(notes !== undefined && { note: notes }),
      ...(remainingActions !== undefined && { remainingActions }),
      triggerImmediately: options.triggerImmediately,
    },
    ...(memo !== undefined && { memo }),
    ...(searchAttributes !== undefined && { searchAttributes }),
  };
  return await withSchedule(call, async (_, { client, settings, where }) => {
    await client.schedule.create(made, settings);
    const document = {
      scheduleId,
      type: options.type,
      taskQueue: options.taskQueue,
      paused: options.paused,
    };
    print.result(
      document,
      () =>
        print.fields([["ScheduleId", scheduleId], ["Type", options.type], [
          "TaskQueue",
          options.taskQueue,
        ], ["Where", where]]),
    );
    if (options.calendar.length + options.interval.length + options.cron.length === 0) {
      print.note(
        "it has no --cron, --interval or --calendar: it acts when temporalex schedule trigger says so",
      );
    }
    return Exit.ok;
  });
}

/** Returns the schedule with the changes in the options. */
function changed(
  options: UpdateScheduleCall["options"],
  args: readonly unknown[],
  before: ScheduleDescription,
): ScheduleUpdateOptions<string> {
  const {
    type,
    taskQueue,
    overlapPolicy,
    catchupWindow,
    remainingActions,
    notes,
    pauseOnFailure,
    unlimited,
  } = options;
  const { remainingActions: _remaining, ...unlimitedState } = before.state;
  const overlap = policyOf(overlapPolicy);
  const searchAttributes = jsonPairs(
    "--schedule-search-attribute",
    options.scheduleSearchAttribute,
  ) as
    | SearchAttributes
    | undefined;
  const action: ScheduleAction<string> = {
    ...before.action,
    ...actionOf(options),
    ...(type !== undefined && { workflowType: type }),
    ...(taskQueue !== undefined && { taskQueue }),
    ...(args.length > 0 && { args: [...args] }),
  };
  return {
    spec: specOf(options, before.spec),
    action,
    policies: {
      ...before.policies,
      ...(overlap !== undefined && { overlap }),
      ...(catchupWindow !== undefined && { catchupWindow }),
      ...(pauseOnFailure !== undefined && { pauseOnFailure: pauseOnFailure === "true" }),
    },
    state: {
      ...(unlimited ? unlimitedState : before.state),
      ...(notes !== undefined && { note: notes }),
      ...(remainingActions !== undefined && { remainingActions }),
    },
    ...(searchAttributes !== undefined && { searchAttributes }),
  };
}

export async function updateScheduleCommand(call: UpdateScheduleCall): Promise<number> {
  const { options, print } = call;
  const { scheduleId } = options;
  if (options.unlimited && options.remainingActions !== undefined) {
    throw new UsageError("--unlimited and --remaining-actions cannot be used together");
  }
  const args = await readInputs(call);
  return await withSchedule(call, async (handle, { settings }) => {
    await handle.update((before) => changed(options, args, before), settings);
    print.result({ scheduleId, done: "updated" }, () => `updated ${printableLine(scheduleId)}\n`);
    return Exit.ok;
  });
}
