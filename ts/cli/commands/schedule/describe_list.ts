// `schedule describe` and `schedule list`.
import type {
  ScheduleActionTaken,
  ScheduleDescription,
  ScheduleSummary,
} from "../../../client/schedules/descriptions.ts";
import type {
  CalendarSpecDescription,
  ScheduleRange,
  ScheduleSpecDescription,
} from "../../../client/schedules/spec.ts";
import { Exit } from "../../frame/exit.ts";
import type { Column } from "../../frame/printer.ts";
import { wholeNumberOption } from "../../text/numbers.ts";
import { showMs, showTime, type TimeFormat } from "../../text/times.ts";
import type { DescribeScheduleCall, ListSchedulesCall } from "./options.ts";
import { showValue } from "../../text/values.ts";
import { withService } from "../../service/open_service.ts";
import { withSchedule } from "./service.ts";

/** Fields of a calendar, with their default matches. */
const FIELDS = ["year", "month", "dayOfMonth", "dayOfWeek", "hour", "minute", "second"] as const;
const WHOLE: { readonly [field: string]: readonly [unknown, unknown] } = {
  month: ["JANUARY", "DECEMBER"],
  dayOfMonth: [1, 31],
  dayOfWeek: ["SUNDAY", "SATURDAY"],
};

function rangeText({ start, end, step }: Required<ScheduleRange<unknown>>): string {
  return `${start}${end === start ? "" : `-${end}`}${step === 1 ? "" : `/${step}`}`;
}

/** Formats the restricting fields: "dayOfWeek MONDAY-FRIDAY, hour 6,18". */
export function calendarText(calendar: CalendarSpecDescription): string {
  const said = FIELDS.flatMap((field) => {
    const ranges: readonly Required<ScheduleRange<unknown>>[] = calendar[field];
    const [only] = ranges;
    if (only === undefined) return [];
    const all = WHOLE[field];
    if (
      ranges.length === 1 && only.step === 1 && all !== undefined && only.start === all[0] &&
      only.end === all[1]
    ) return [];
    if (
      ["minute", "second"].includes(field) && ranges.length === 1 && only.start === 0 &&
      only.end === 0
    ) return [];
    return [`${field} ${ranges.map(rangeText).join(",")}`];
  });
  return `${said.join(", ")}${calendar.comment === undefined ? "" : ` (${calendar.comment})`}`;
}

function specText(
  { calendars, intervals, cronExpressions = [] }: ScheduleSpecDescription,
): readonly string[] {
  const every = intervals.map(({ every, offset }) =>
    `every ${showMs(every)}${offset > 0 ? `, offset ${showMs(offset)}` : ""}`
  );
  const lines = [...calendars.map(calendarText), ...every, ...cronExpressions];
  return lines.length === 0 ? ["never by itself"] : lines;
}

const takenText = (
  { takenAt, workflow, status }: ScheduleActionTaken,
  format: TimeFormat,
): string =>
  `${showTime(takenAt, format)}${workflow === undefined ? "" : `  ${workflow.workflowId}`}${
    status === undefined ? "" : `  ${status.toLowerCase()}`
  }`;

const object = (values: { readonly [key: string]: unknown }) =>
  Object.entries(values).map(([k, v]) => `${k}=${showValue(v)}`);

function text({ print }: DescribeScheduleCall, d: ScheduleDescription, format: TimeFormat): string {
  const { action, info, policies, spec, state } = d;
  const remaining = state.remainingActions;
  return print.fields([
    ["ScheduleId", d.scheduleId],
    ["State", print.paint(state.paused ? "paused" : "active", state.paused ? "yellow" : "green")],
    ["Note", state.note],
    ["When", specText(spec)],
    ["But not", spec.skip.map(calendarText)],
    ["From", spec.startAt?.toISOString()],
    ["Until", spec.endAt?.toISOString()],
    ["Jitter", showMs(spec.jitter)],
    ["Time zone", spec.timezone],
    ["Starts", `${action.workflowType} on queue ${action.taskQueue}, as ${action.workflowId}-...`],
    ["Arguments", action.args.map((arg) => showValue(arg))],
    ["Overlap", policies.overlap.toLowerCase().replaceAll("_", " ")],
    ["Catch-up", showMs(policies.catchupWindow)],
    ["On failure", policies.pauseOnFailure ? "pause" : undefined],
    ["Actions left", remaining === undefined ? undefined : String(remaining)],
    ["Next", info.nextActionTimes.slice(0, 3).map((time) => showTime(time, format))],
    ["Latest", info.recentActions.slice(-5).reverse().map((taken) => takenText(taken, format))],
    ["Running", info.runningActions.map(({ workflowId }) => workflowId)],
    [
      "Actions",
      `${info.numActionsTaken} taken, ${info.numActionsSkippedOverlap} left out because one was running, ` +
      `${info.numActionsMissedCatchupWindow} too late`,
    ],
    ["Created", showTime(info.createdAt, format)],
    ["Updated", info.lastUpdatedAt && showTime(info.lastUpdatedAt, format)],
    ["Memo", object(d.memo)],
    ["Search attributes", object(d.searchAttributes)],
  ]);
}

/** JSON form without the raw message and duplicated fields. */
function document(described: ScheduleDescription | ScheduleSummary): { [name: string]: unknown } {
  const { raw: _raw, typedSearchAttributes: _typed, ...fields } = described;
  return fields;
}

export async function describeScheduleCommand(call: DescribeScheduleCall): Promise<number> {
  return await withSchedule(call, async (handle, { settings }) => {
    const described = await handle.describe(settings);
    call.print.result(document(described), () => text(call, described, call.options.timeFormat));
    return Exit.ok;
  });
}

export async function listSchedulesCommand(call: ListSchedulesCall): Promise<number> {
  const { print } = call;
  const { query = "", timeFormat } = call.options;
  const limit = wholeNumberOption("--limit", call.options.limit) ?? Infinity;
  const pageSize = Math.min(wholeNumberOption("--page-size", call.options.pageSize) ?? 100, limit);
  const columns: Column<ScheduleSummary>[] = [
    {
      title: "State",
      cell: (s) => s.state.paused ? "paused" : "active",
      color: (s) => s.state.paused ? "yellow" : "green",
    },
    { title: "ScheduleId", cell: (s) => s.scheduleId },
    { title: "Type", cell: (s) => s.workflowType },
    {
      title: "Next",
      cell: (s) => s.state.paused ? "" : showTime(s.info.nextActionTimes[0], timeFormat),
    },
    { title: "Latest", cell: (s) => showTime(s.info.recentActions.at(-1)?.takenAt, timeFormat) },
    { title: "Note", cell: (s) => s.state.note ?? "" },
  ];
  return await withService(call, async ({ client, settings, where }) => {
    const table = print.pages(columns);
    let shown = 0;
    let page: ScheduleSummary[] = [];
    const flush = () => {
      if (page.length > 0 && print.format === "text") call.io.out(table(page));
      page = [];
    };
    for await (const schedule of client.schedule.list({ query, pageSize, ...settings })) {
      shown++;
      if (print.json) print.item(document(schedule), () => "");
      else page.push(schedule);
      if (page.length >= pageSize) flush();
      if (shown >= limit) break;
    }
    flush();
    print.end();
    if (shown === 0) print.note(query === "" ? `no schedules at ${where}` : "no schedule matches");
    return Exit.ok;
  });
}
