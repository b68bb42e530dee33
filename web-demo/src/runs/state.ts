// State of the room Runs: the query, its runs, their number by status, and what each waits for.
// Requested again at intervals while the room is visible.
import { batch, effect, type Signal, signal } from "@preact/signals";
import {
  type Client,
  DeadlineExceededError,
  type WorkflowStatus,
  type WorkflowSummary,
} from "temporalex/client";
import { Code } from "../../../ts/service/raw.ts";
import { bindToAddress, parseRoute } from "../store/router.ts";
import { room } from "../store/state.ts";
import { served } from "../served/about.ts";
import { type Now, nowOf } from "./now.ts";
import { asQuery } from "./search.ts";
import { clientOf } from "./service.ts";

/** The age of the oldest run in the list. */
export type Range = "1h" | "24h" | "all";
export type Counts = { readonly [status in WorkflowStatus]?: number };

/** A bar of the chart. */
export interface Bar {
  readonly fromMs: number;
  readonly all: number;
  readonly failed: number;
}

/** The typed text; `asQuery` converts it to a filter. */
export const searchQuery: Signal<string> = signal("");
export const range: Signal<Range> = signal<Range>("all");
export const live: Signal<boolean> = signal(true);
export const rows: Signal<readonly WorkflowSummary[] | undefined> = signal<
  readonly WorkflowSummary[] | undefined
>(undefined);
export const counts: Signal<Counts> = signal<Counts>({});
export const bars: Signal<readonly Bar[]> = signal<readonly Bar[]>([]);
/** By run id. */
export const nows: Signal<ReadonlyMap<string, Now>> = signal<ReadonlyMap<string, Now>>(new Map());
/** The service's error for the query, or why it cannot be reached. */
export const trouble: Signal<string | undefined> = signal<string | undefined>(undefined);

/** Whether the server failed to respond: the list is outdated, and nothing can be sent. */
export const isServerGone: Signal<boolean> = signal(false);
/** The current time, for ages. Updated while the room is visible. */
export const nowMs: Signal<number> = signal(Date.now());

/** Rows that are listed at first, and added by each click. */
export const PAGE_ROWS = 200;
/** Number of rows to list. */
export const limit: Signal<number> = signal(PAGE_ROWS);
/**
 * The interval between requests is at least this multiple of the duration of the last one, because
 * a page with thousands of runs requests all of them.
 */
const REST = 4;
/**
 * Milliseconds for which calls are retried. Then the page reports that the server cannot be
 * reached.
 */
const ANSWER_MS = 8000;
const SECOND_MS = 1000;
const LIST_MS = 2000;
const BARS_MS = 30_000;
const BARS: { readonly [range in Range]: { readonly count: number; readonly stepMs: number } } = {
  "1h": { count: 12, stepMs: 300_000 },
  "24h": { count: 24, stepMs: 3_600_000 },
  all: { count: 24, stepMs: 3_600_000 },
};
/** Concurrent calls: a browser opens six connections to a server. */
const AT_ONCE = 2;

const about = served?.by === "ui" ? served : undefined;
/** Namespaces that the page can show; the first is that of the command. */
export const namespaces: readonly string[] = about?.namespaces ??
  (about === undefined ? [] : [about.namespace]);
const asked = new URLSearchParams(location.search).get("namespace");
/** The namespace of this page: of its address, else that of the command. */
export const namespace: string = asked !== null && namespaces.includes(asked)
  ? asked
  : about?.namespace ?? "default";
/** Whether the page was served for reading only. */
export const isReadOnly: boolean = about?.readOnly ?? true;
/** Undefined if the page is not served by `temporalex ui`. */
export const client: Client | undefined = about && clientOf(namespace);

/** Loads the page again with another namespace. Filters and the open run do not carry over. */
export function showNamespace(name: string): void {
  const address = new URL(location.href);
  address.searchParams.set("namespace", name);
  address.hash = "#/runs";
  location.assign(address);
}

/** Part of the room. */
export type View = "list" | "schedules" | "queues";
export const view: Signal<View> = signal<View>("list");

/** Adds a condition to a query, before its ORDER BY. */
export function withCondition(text: string, condition: string): string {
  const at = text.search(/\border\s+by\b/i);
  const [where, order] = at < 0 ? [text, ""] : [text.slice(0, at), ` ${text.slice(at)}`];
  const own = where.trim();
  if (condition === "") return `${own}${order}`.trim();
  return `${own === "" ? condition : `(${own}) AND ${condition}`}${order}`;
}

const since = (range: Range): string =>
  range === "all"
    ? ""
    : `StartTime >= "${
      new Date(Date.now() - BARS[range].count * BARS[range].stepMs).toISOString()
    }"`;
/** The list filter of the typed text and the range. */
export const listFilter = (): string =>
  withCondition(asQuery(searchQuery.peek()), since(range.peek()));
/** Removes ORDER BY. */
export const withoutOrder = (text: string): string =>
  text.replace(/\border\s+by\b.*$/is, "").trim();

let listed = 0;

async function list(client: Client): Promise<void> {
  const mine = ++listed;
  const text = listFilter();
  const most = limit.peek();
  try {
    const found: WorkflowSummary[] = [];
    for await (
      const run of client.list(text, { pageSize: Math.min(most, 1000), timeout: ANSWER_MS })
    ) {
      found.push(run);
      if (found.length === most) break;
    }
    const counted = await client.countByStatus(withoutOrder(text), { timeout: ANSWER_MS });
    if (mine !== listed) return;
    batch(() => {
      rows.value = found;
      counts.value = counted;
      trouble.value = undefined;
      isServerGone.value = false;
    });
    await lookAt(client, found, () => mine === listed);
  } catch (error) {
    if (mine !== listed) return;
    const { message, code } = error as Error & { readonly code?: unknown };
    batch(() => {
      isServerGone.value = error instanceof DeadlineExceededError || code === Code.UNAVAILABLE;
      trouble.value = isServerGone.value
        ? `The server cannot be reached; the list is outdated. ${message}`
        : message;
    });
  }
}

/** Updates what the first runs wait for, or their results. Closed runs are read once. */
async function lookAt(
  client: Client,
  found: readonly WorkflowSummary[],
  isCurrent: () => boolean,
): Promise<void> {
  const open = found.filter(({ status }) => status === "RUNNING").slice(0, 30);
  const closed = found.filter(({ status, runId }) =>
    status !== "RUNNING" && nows.peek().get(runId)?.final !== true
  ).slice(0, 30);
  const queue = [...open, ...closed];
  const work = async () => {
    for (let run = queue.shift(); run !== undefined && isCurrent(); run = queue.shift()) {
      const now = await nowOf(client, run, nows.peek().get(run.runId)).catch(() => undefined);
      if (now === undefined || now === nows.peek().get(run.runId)) continue;
      nows.value = new Map([...nows.peek(), [run.runId, now]]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

let drawn = 0;

async function drawBars(client: Client): Promise<void> {
  const mine = ++drawn;
  const { count, stepMs } = BARS[range.peek()];
  const end = Math.ceil(Date.now() / stepMs) * stepMs;
  const made: Bar[] = [];
  const own = withoutOrder(asQuery(searchQuery.peek()));
  for (let i = count; i > 0; i--) {
    const fromMs = end - i * stepMs;
    const at = (ms: number) => new Date(ms).toISOString();
    const counted = await client.countByStatus(
      withCondition(own, `StartTime >= "${at(fromMs)}" AND StartTime < "${at(fromMs + stepMs)}"`),
    );
    if (mine !== drawn) return;
    const all = Object.values(counted).reduce((sum, n) => sum + n, 0);
    made.push({ fromMs, all, failed: (counted.FAILED ?? 0) + (counted.TIMED_OUT ?? 0) });
  }
  bars.value = made;
}

/** Requests the list at once. */
export async function refresh(): Promise<void> {
  if (client !== undefined) await list(client);
}

/** Synchronizes the filter and the range with the address. */
function keepInAddress(): void {
  const given = parseRoute(location.hash);
  const isHere = () => room.value === "runs";
  // Addresses of other rooms have neither and do not change them.
  const take = (value: string | undefined, set: (value: string | undefined) => void) => {
    if (parseRoute(location.hash)?.room === "runs") set(value);
  };
  const isRange = (value: string | undefined): value is Range =>
    value !== undefined && value in BARS;
  const setQuery = (value: string | undefined) => (searchQuery.value = value ?? "");
  const setRange = (value: string | undefined) => (range.value = isRange(value) ? value : "all");
  if (given?.room === "runs") {
    batch(() => (setQuery(given.more.get("q")), setRange(given.more.get("within"))));
  }
  bindToAddress("q", {
    get value() {
      return isHere() && searchQuery.value !== "" ? searchQuery.value : undefined;
    },
    set value(value) {
      take(value, setQuery);
    },
  });
  const setView = (
    value: string | undefined,
  ) => (view.value = value === "schedules" || value === "queues" ? value : "list");
  if (given?.room === "runs") setView(given.more.get("view"));
  bindToAddress("view", {
    get value() {
      return isHere() && view.value !== "list" ? view.value : undefined;
    },
    set value(value) {
      take(value, setView);
    },
  });
  bindToAddress("within", {
    get value() {
      return isHere() && range.value !== "all" ? range.value : undefined;
    },
    set value(value) {
      take(value, setRange);
    },
  });
  // A new filter shows the first rows.
  effect(() => {
    void [searchQuery.value, range.value];
    limit.value = PAGE_ROWS;
  });
}

/** Starts the requests while the room is visible. */
export function watchRuns(): void {
  if (client === undefined) return;
  const it = client;
  keepInAddress();
  effect(() => {
    if (room.value !== "runs" || view.value !== "list") return;
    // A new query is requested at once.
    void [searchQuery.value, range.value, limit.value];
    const isLive = live.value;
    let ended = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = async () => {
      const beganMs = performance.now();
      if (document.visibilityState === "visible") await list(it);
      const restMs = Math.max(LIST_MS, REST * (performance.now() - beganMs));
      if (!ended && isLive) timer = setTimeout(() => void again(), restMs);
    };
    const draw = () => void drawBars(it).catch(() => {});
    void again();
    draw();
    const drawing = setInterval(draw, BARS_MS);
    return () => {
      ended = true;
      clearTimeout(timer);
      clearInterval(drawing);
    };
  });
  effect(() => {
    if (room.value !== "runs") return;
    const ticking = setInterval(() => (nowMs.value = Date.now()), SECOND_MS);
    return () => clearInterval(ticking);
  });
}
