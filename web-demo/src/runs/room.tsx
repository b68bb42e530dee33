// The runs of a store or a cluster, live: a query, counts, a chart of the day, the list, and a
// panel with one run.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { served } from "../served/about.ts";
import { count, date } from "../ui/time.ts";
import { BatchButton } from "./batch.tsx";
import { RunList } from "./list.tsx";
import { Panel } from "./panel.tsx";
import { Queues } from "./queues.tsx";
import "./console.css";
import "./runs.css";
import { Schedules } from "./schedules.tsx";
import { asQuery } from "./search.ts";
import { StartButton } from "./start_run.tsx";
import {
  bars,
  counts,
  isReadOnly,
  isServerGone,
  live,
  namespace,
  namespaces,
  type Range,
  range,
  searchQuery,
  showNamespace,
  trouble,
  type View,
  view,
  withCondition,
} from "./state.ts";
import { STATUSES, StatusSign } from "./status.tsx";
import { ViewsBar } from "./views_bar.tsx";
import { watched } from "./watched_run.ts";

const EXAMPLE =
  'An id, type:ShoppingCart, status:failed, or a query: WorkflowType = "ShoppingCart" AND ExecutionStatus = "Running"';
const RANGES: readonly (readonly [Range, string])[] = [["1h", "1 h"], ["24h", "24 h"], [
  "all",
  "All",
]];

const VIEWS: readonly (readonly [View, string])[] = [
  ["list", "Runs"],
  ["schedules", "Schedules"],
  ["queues", "Task queues"],
];

/** The room on a page that `temporalex ui` serves. */
export function RunsRoom(): JSX.Element {
  const shown = view.value;
  return (
    <div
      class={shown === "list" && watched.value !== undefined ? "runs-room with-panel" : "runs-room"}
    >
      <h1 class="unseen">Runs of {served?.by === "ui" ? served.where : ""}</h1>
      <Head />
      {shown === "list" ? <ListView /> : shown === "schedules" ? <Schedules /> : <Queues />}
    </div>
  );
}

/** The views, the store or cluster, its namespaces, and the button that starts a run. */
function Head(): JSX.Element {
  return (
    <div class="runs-head">
      <nav class="rooms" aria-label="Views">
        {VIEWS.map(([name, text]) => (
          <a
            key={name}
            href={`#/runs?view=${name}`}
            aria-current={view.value === name ? "page" : undefined}
            onClick={(event) => {
              event.preventDefault();
              view.value = name;
            }}
          >
            {text}
          </a>
        ))}
      </nav>
      <span class="runs-where second cut" title={served?.by === "ui" ? served.where : ""}>
        {served?.by === "ui" ? served.where : ""}
      </span>
      {namespaces.length > 1
        ? (
          <select
            aria-label="Namespace"
            value={namespace}
            onChange={({ currentTarget }) => showNamespace(currentTarget.value)}
          >
            {namespaces.map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        )
        : <span class="soft cut">{namespace}</span>}
      <span class="grow" />
      {isReadOnly ? <span class="soft">read-only</span> : <StartButton />}
    </div>
  );
}

function ListView(): JSX.Element {
  const run = watched.value;
  return (
    <>
      <Filter />
      <div class="runs-counts">
        <StatusCounts />
        <Bars />
      </div>
      {trouble.value !== undefined && <p class="section bad" role="alert">{trouble.value}</p>}
      <div class="runs-work">
        <RunList />
        {run !== undefined && <Panel key={run.runId} watched={run} />}
      </div>
    </>
  );
}

function Filter(): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const text = searchQuery.value;
  // The user's text stays while they type. A filter from elsewhere replaces it.
  useEffect(() => {
    field.current!.value = text;
  }, [text]);
  return (
    <div class="runs-filter">
      <form
        class="runs-search"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          searchQuery.value = field.current!.value.trim();
        }}
      >
        <input
          ref={field}
          id="runs-query"
          class="mono"
          aria-label="List filter"
          placeholder={EXAMPLE}
          spellcheck={false}
          defaultValue={text}
        />
        <div class="segments" role="group" aria-label="Started within">
          {RANGES.map(([name, text]) => (
            <button
              type="button"
              key={name}
              aria-pressed={range.value === name}
              onClick={() => (range.value = name)}
            >
              {text}
            </button>
          ))}
        </div>
        <button
          type="button"
          class={isServerGone.value ? "button live-button gone" : "button live-button"}
          aria-pressed={live.value}
          title={isServerGone.value ? "The server cannot be reached; the page retries" : undefined}
          onClick={() => (live.value = !live.value)}
        >
          <span class="live-dot" aria-hidden="true" />Live
        </button>
      </form>
      <ViewsBar />
      {!isReadOnly && <BatchButton />}
    </div>
  );
}

function StatusCounts(): JSX.Element {
  const shown = STATUSES.filter(([status], i) => i === 0 || (counts.value[status] ?? 0) > 0);
  return (
    <ul class="status-counts">
      {shown.map(([status, name, value]) => (
        <li key={status}>
          <button
            type="button"
            title={`Only ${name.toLowerCase()}`}
            onClick={() => {
              const condition = `ExecutionStatus = "${value}"`;
              const own = asQuery(searchQuery.value);
              searchQuery.value = own.includes(condition)
                ? searchQuery.value
                : withCondition(own, condition);
            }}
          >
            <StatusSign status={status} /> {name} <b>{count(counts.value[status] ?? 0)}</b>
          </button>
        </li>
      ))}
    </ul>
  );
}

const HEIGHT = 32;
const WIDTH = 11;

function Bars(): JSX.Element | null {
  const list = bars.value;
  const most = Math.max(0, ...list.map(({ all }) => all));
  if (most === 0) return null;
  const high = (n: number) => n === 0 ? 0 : Math.max(2, n / most * HEIGHT);
  const total = list.reduce((sum, { all }) => sum + all, 0);
  const failed = list.reduce((sum, bar) => sum + bar.failed, 0);
  return (
    <svg
      class="runs-bars"
      width={list.length * WIDTH}
      height={HEIGHT + 1}
      role="img"
      aria-label={`${total} runs started in this time, ${failed} of them failed or timed out`}
    >
      {list.map(({ fromMs, all, failed }, i) => (
        <g key={fromMs}>
          <title>
            {`from ${date(fromMs)}: ${all} started${failed > 0 ? `, ${failed} failed` : ""}`}
          </title>
          <rect
            class="bar"
            x={i * WIDTH}
            y={HEIGHT - high(all)}
            width={WIDTH - 2}
            height={high(all)}
          />
          <rect
            class="bar failed"
            x={i * WIDTH}
            y={HEIGHT - high(failed)}
            width={WIDTH - 2}
            height={high(failed)}
          />
        </g>
      ))}
      <path class="ground" d={`M0 ${HEIGHT + 0.5}H${list.length * WIDTH}`} />
    </svg>
  );
}
