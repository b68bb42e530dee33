// The list of runs: a grid. Arrow keys move, Enter opens the panel.
import type { JSX } from "preact";
import type { WorkflowSummary } from "temporalex/client";
import { Glyph } from "../ui/glyph.tsx";
import { count, date, lasting } from "../ui/time.ts";
import { attributeColumns, columnTemplate, shownColumns, STANDARD } from "./columns.ts";
import { counts, limit, nows, PAGE_ROWS, rows, trouble } from "./state.ts";
import { statusLabel, StatusSign } from "./status.tsx";
import { watched, watchRun } from "./watched_run.ts";

export function RunList(): JSX.Element {
  const list = rows.value;
  if (trouble.value !== undefined && list === undefined) return <div class="run-list" />;
  if (list === undefined) return <p class="section soft">Loading the runs…</p>;
  if (list.length === 0) return <p class="section say">No run matches. New runs appear here.</p>;
  const at = Math.max(0, list.findIndex(({ runId }) => runId === watched.value?.runId));
  const template = columnTemplate.value;
  const columns = [
    ["status", "Status"],
    ["workflow-id", "Workflow id"],
    ...titlesOf(shownColumns.value),
  ] as const;
  const onKeyDown = (event: KeyboardEvent) => {
    const row = (event.target as Element).closest<HTMLElement>("[role=row]");
    const to = event.key === "ArrowDown"
      ? row?.nextElementSibling
      : event.key === "ArrowUp"
      ? row?.previousElementSibling
      : undefined;
    if (!(to instanceof HTMLElement)) return;
    event.preventDefault();
    to.focus();
  };
  return (
    <div class="run-list">
      <div
        role="grid"
        aria-label="Runs"
        aria-rowcount={list.length + 1}
        ref={(element) => element?.style.setProperty("--run-columns", template)}
        onKeyDown={onKeyDown}
      >
        <div class="run-row head" role="row">
          {columns.map(([name, title]) => (
            <span role="columnheader" key={name} class={`c-${name}`}>{title}</span>
          ))}
        </div>
        <div role="rowgroup">
          {list.map((run, i) => <Row key={run.runId} run={run} isStop={i === at} />)}
        </div>
      </div>
      <Further shown={list.length} />
    </div>
  );
}

/** Names and titles of the columns after the workflow id. */
function titlesOf(shown: readonly string[]): (readonly [name: string, title: string])[] {
  const standard = STANDARD.filter(([name]) => shown.includes(name));
  const of = (list: typeof standard) => list.map(([name, title]) => [name, title] as const);
  return [
    ...of(standard.filter(([name]) => name === "type")),
    ...attributeColumns.value.map((name) => ["attribute", name] as const),
    ...of(standard.filter(([name]) => name !== "type")),
  ];
}

/** The number of shown runs, and a button that shows more. */
function Further({ shown }: { shown: number }): JSX.Element | null {
  const all = Object.values(counts.value).reduce((sum, n) => sum + n, 0);
  if (shown < PAGE_ROWS || all <= shown) return null;
  const isAsked = limit.value > shown;
  return (
    <p class="section soft runs-further">
      <span role="status">{`${count(shown)} of ${count(all)} runs`}</span>
      <button
        type="button"
        class="button"
        disabled={isAsked}
        onClick={() => (limit.value = shown + PAGE_ROWS)}
      >
        {isAsked ? "Loading…" : `Show ${count(Math.min(PAGE_ROWS, all - shown))} more`}
      </button>
    </p>
  );
}

function Row({ run, isStop }: { run: WorkflowSummary; isStop: boolean }): JSX.Element {
  const { workflowId, runId, type, status, startTime, closeTime, historyLength } = run;
  const now = nows.value.get(runId);
  const open = () => void watchRun({ workflowId, runId });
  const isShown = watched.value?.runId === runId;
  const has = (name: string) => shownColumns.value.includes(name);
  const started = startTime?.getTime();
  const lasts = started === undefined ? undefined : (closeTime?.getTime() ?? Date.now()) - started;
  return (
    <div
      class="run-row"
      role="row"
      data-run={runId}
      aria-selected={isShown}
      tabIndex={isStop ? 0 : -1}
      onClick={open}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        open();
      }}
    >
      <span role="gridcell" class="c-status">
        <StatusSign status={status} /> <span class="cut">{statusLabel(status)}</span>
      </span>
      <span role="gridcell" class="c-workflow-id mono cut" title={workflowId}>{workflowId}</span>
      {has("type") && <span role="gridcell" class="c-type cut" title={type}>{type}</span>}
      {attributeColumns.value.map((name) => {
        const text = attributeText(run.searchAttributes[name]);
        return (
          <span role="gridcell" key={name} class="c-attribute mono cut" title={text}>{text}</span>
        );
      })}
      {has("now") && (
        <span
          role="gridcell"
          class={now?.isFailure === true ? "c-now bad" : "c-now"}
          title={now?.text}
        >
          {now?.kind !== undefined && <Glyph kind={now.kind} />}{" "}
          <span class="cut">{now?.text}</span>
        </span>
      )}
      {has("started") && (
        <span
          role="gridcell"
          class="c-started"
          title={started === undefined ? undefined : date(started)}
        >
          {started === undefined ? "" : shortTime(started)}
        </span>
      )}
      {has("duration") && (
        <span role="gridcell" class="c-duration">
          {lasts === undefined ? "" : lasting(Math.max(0, lasts))}
        </span>
      )}
      {has("events") && (
        <span role="gridcell" class="c-events">
          {count(Math.max(historyLength, now?.events ?? 0))}
        </span>
      )}
    </div>
  );
}

/** A search attribute: text and dates as they are, lists and numbers as JSON. */
function attributeText(value: unknown): string {
  if (value === undefined) return "";
  if (value instanceof Date) return date(value.getTime());
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The time of today, else the date. */
function shortTime(ms: number): string {
  const at = new Date(ms);
  return at.toDateString() === new Date().toDateString()
    ? at.toLocaleTimeString("en-GB", { hour12: false })
    : at.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}
