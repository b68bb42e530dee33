// `workflow describe`, `list` and `count`.
import type {
  PendingActivity,
  PendingChild,
  PendingProcedure,
  WorkflowDescription,
  WorkflowStatus,
  WorkflowSummary,
} from "../../../client/descriptions.ts";
import type { WorkflowCountGroup } from "../../../client/counts.ts";
import { Exit } from "../../frame/exit.ts";
import { errorDocument } from "../../frame/errors.ts";
import type { Color, Column, Printer } from "../../frame/printer.ts";
import { wholeNumberOption } from "../../text/numbers.ts";
import { type Handle, withService } from "../../service/open_service.ts";
import { failureLine, lastTaskFailure, type TaskFailure } from "../../service/blocked_reason.ts";
import { WaitsForCode } from "../../service/waits_for_code.ts";
import type { CountCall, DescribeCall, ListCall } from "./options.ts";
import { queryOfOptions } from "./targets.ts";
import { shortTime, showMs, showTime, type TimeFormat } from "../../text/times.ts";
import { showValue } from "../../text/values.ts";

const COLORS: { readonly [status in WorkflowStatus]?: Color } = {
  RUNNING: "blue",
  COMPLETED: "green",
  FAILED: "red",
  TERMINATED: "red",
  TIMED_OUT: "red",
  CANCELED: "yellow",
  PAUSED: "yellow",
};

/** Converts "TIMED_OUT" to "TimedOut", as in queries. */
export const statusText = (status: string): string =>
  status.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** JSON form without the raw message and empty fields. */
function document(summary: WorkflowSummary | WorkflowDescription): { [name: string]: unknown } {
  const { raw: _raw, rawDescription: _description, typedSearchAttributes: _typed, ...fields } =
    summary as WorkflowDescription;
  const shown = Object.entries(fields).filter(([name, value]) =>
    value !== undefined &&
    !(["memo", "searchAttributes"].includes(name) && Object.keys(value as object).length === 0)
  );
  return Object.fromEntries(
    shown.map((
      [name, value],
    ) => [
      name,
      name === "pendingActivities" ? (value as PendingActivity[]).map(activityDocument) : value,
    ]),
  );
}

function activityDocument(
  { lastFailure, ...fields }: PendingActivity,
): { [name: string]: unknown } {
  return {
    ...fields,
    ...(lastFailure !== undefined && { lastFailure: errorDocument(lastFailure).error }),
  };
}

export async function describeCommand(call: DescribeCall): Promise<number> {
  const { workflowId, runId, timeFormat } = call.options;
  return await withService(call, async ({ client, settings }) => {
    const handle = (client.getHandle(undefined, workflowId, runId) as Handle).with(settings);
    const description = await handle.describe();
    const failure = (description.pendingWorkflowTask?.attempt ?? 1) > 1
      ? await lastTaskFailure(handle)
      : undefined;
    call.print.result(
      { ...document(description), ...(failure !== undefined && { workflowTaskFailure: failure }) },
      () => describeText(description, failure, call.print, timeFormat),
    );
    return Exit.ok;
  });
}

function describeText(
  d: WorkflowDescription,
  failure: TaskFailure | undefined,
  print: Printer,
  format: TimeFormat,
): string {
  const both = (time: Date | undefined) =>
    time === undefined
      ? undefined
      : format === "iso"
      ? showTime(time, "iso")
      : `${showTime(time, "iso")} (${showTime(time, "relative")})`;
  const object = (value: { readonly [key: string]: unknown }) =>
    Object.entries(value).map(([key, v]) => `${key} = ${showValue(v)}`);
  const task = d.pendingWorkflowTask;
  const fields = print.fields([
    ["WorkflowId", d.workflowId],
    ["RunId", d.runId],
    ["Type", d.type],
    [
      "Status",
      `${statusText(d.status)}${
        d.cancelRequested && d.status === "RUNNING" ? ", cancel requested" : ""
      }`,
    ],
    ["TaskQueue", d.taskQueue],
    ["Started", both(d.startTime)],
    [
      "First task due",
      d.executionTime?.getTime() === d.startTime?.getTime() ? undefined : both(d.executionTime),
    ],
    ["Closed", both(d.closeTime)],
    ["History", `${d.historyLength} events, ${(d.historySizeBytes / 1000).toFixed(1)} kB`],
    ["First run", d.firstRunId === "" || d.firstRunId === d.runId ? undefined : d.firstRunId],
    ["Parent", d.parent && `${d.parent.workflowId}, run ${d.parent.runId}`],
    ["Execution timeout", showMs(d.executionTimeoutMs)],
    ["Run timeout", showMs(d.runTimeoutMs)],
    ["Memo", object(d.memo)],
    ["Search attributes", object(d.searchAttributes)],
    [
      "Workflow task",
      task &&
      `${statusText(task.state)}, attempt ${task.attempt}, since ${
        showTime(task.scheduledTime, format)
      }`,
    ],
    ["Paused", d.paused && [d.paused.reason, `since ${showTime(d.paused.since, format)}`]],
    ["Failed with", d.paused === undefined && failure ? failureLine(failure) : undefined],
  ]);
  const children: Column<PendingChild>[] = [
    { title: "Child", cell: (c) => c.workflowType },
    { title: "WorkflowId", cell: (c) => c.workflowId },
    { title: "State", cell: (c) => c.runId === "" ? "not started" : "Running" },
    { title: "When this closes", cell: (c) => statusText(c.parentClosePolicy) },
  ];
  const activities: Column<PendingActivity>[] = [
    { title: "Activity", cell: (a) => a.activityType },
    { title: "Id", cell: (a) => a.activityId },
    { title: "State", cell: (a) => statusText(a.state) },
    {
      title: "Attempt",
      cell: (a) => `${a.attempt}${a.maximumAttempts > 0 ? ` of ${a.maximumAttempts}` : ""}`,
    },
    { title: "Scheduled", cell: (a) => showTime(a.scheduledTime, format) },
    { title: "Heartbeat", cell: (a) => showTime(a.lastHeartbeatTime, format) },
    { title: "Last failure", cell: (a) => a.lastFailure?.message ?? "", color: () => "red" },
  ];
  const table = <T>(title: string, columns: Column<T>[], rows: readonly T[]) =>
    rows.length === 0 ? "" : `\n${print.paint(title, "bold")}\n${print.table(rows, columns)}`;
  const procedures: Column<PendingProcedure>[] = [
    { title: "Procedure", cell: (p) => p.name },
    { title: "Id", cell: (p) => p.id },
    { title: "Since", cell: (p) => showTime(p.since, format) },
    { title: "Times out", cell: (p) => p.expires === undefined ? "" : showTime(p.expires, format) },
  ];
  return fields + table("Pending activities", activities, d.pendingActivities) +
    table("Pending procedures", procedures, d.pendingProcedures) +
    table("Pending children", children, d.pendingChildren);
}

export async function listCommand(call: ListCall): Promise<number> {
  const { timeFormat } = call.options;
  const query = queryOfOptions(call.options) ?? "";
  const { print } = call;
  const limit = wholeNumberOption("--limit", call.options.limit) ?? Infinity;
  const pageSize = Math.min(wholeNumberOption("--page-size", call.options.pageSize) ?? 100, limit);
  let withoutCode: ReadonlyMap<WorkflowSummary, TaskFailure> = new Map();
  const columns: Column<WorkflowSummary>[] = [
    {
      title: "Status",
      cell: (w) => statusText(w.status),
      color: (w) => withoutCode.has(w) ? "red" : COLORS[w.status],
    },
    { title: "WorkflowId", cell: (w) => w.workflowId },
    {
      title: "Type",
      cell: (w) =>
        withoutCode.has(w) ? `${w.type} (waits for its code: no worker knows it)` : w.type,
    },
    {
      title: "Started",
      cell: (w) => showTime(w.startTime, timeFormat),
      narrow: (w) => shortTime(showTime(w.startTime, timeFormat)),
    },
    {
      title: "Closed",
      cell: (w) => showTime(w.closeTime, timeFormat),
      narrow: (w) => shortTime(showTime(w.closeTime, timeFormat)),
    },
  ];
  return await withService(call, async ({ client, settings, where }) => {
    const table = print.pages(columns);
    let shown = 0;
    let page: WorkflowSummary[] = [];
    const waiting = new WaitsForCode(client);
    const flush = async () => {
      if (page.length === 0) return;
      withoutCode = await waiting.among(page);
      if (print.json) {
        for (const workflow of page) {
          print.item(listed(workflow, withoutCode.get(workflow)), () => "");
        }
      } else if (print.format === "text") call.io.out(table(page));
      page = [];
    };
    for await (const workflow of client.list(query, { pageSize, ...settings })) {
      shown++;
      page.push(workflow);
      if (page.length >= pageSize) await flush();
      if (shown >= limit) break;
    }
    await flush();
    print.end();
    if (shown === 0) print.note(query === "" ? `no workflows in ${where}` : "no workflow matches");
    return Exit.ok;
  });
}

/** A row of a list, with the worker's error if the workflow waits for its code. */
const listed = (workflow: WorkflowSummary, failure: TaskFailure | undefined) => ({
  ...document(workflow),
  ...(failure !== undefined && { waitsForCode: true, workflowTaskFailure: failure }),
});

export async function countCommand(call: CountCall): Promise<number> {
  return await withService(call, async ({ client, settings }) => {
    const { print } = call;
    const { count, groups } = await client.countGroups(
      queryOfOptions(call.options) ?? "",
      settings,
    );
    const columns: Column<WorkflowCountGroup>[] = [
      { title: "Count", cell: (group) => String(group.count), right: true },
      {
        title: "Group",
        cell: ({ values }) =>
          values.map((value) => typeof value === "string" ? value : showValue(value)).join(", "),
      },
    ];
    print.result(
      { count, ...(groups.length > 0 && { groups }) },
      () =>
        groups.length === 0
          ? `${count}\n`
          : print.table([...groups, { count, values: ["all"] }], columns),
    );
    return Exit.ok;
  });
}
