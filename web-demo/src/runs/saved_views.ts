// Filters with a name, stored in this browser for each store or cluster and namespace.
import { batch, type Signal, signal } from "@preact/signals";
import { served } from "../served/about.ts";
import { parseColumns, shownColumns, writeColumns } from "./columns.ts";
import { namespace, type Range, range, searchQuery } from "./state.ts";

/** A filter with its name. */
export interface SavedView {
  readonly name: string;
  readonly query: string;
  readonly range: Range;
  readonly columns: string;
}

const KEY = `temporalex.runs.views:${served?.by === "ui" ? served.where : ""}/${namespace}`;
const MOST = 50;
const RANGES: readonly string[] = ["1h", "24h", "all"] satisfies Range[];

export const savedViews: Signal<readonly SavedView[]> = signal(kept());

function kept(): readonly SavedView[] {
  try {
    const read = JSON.parse(localStorage.getItem(KEY) ?? "[]") as unknown;
    return Array.isArray(read) ? read.filter(isView).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is SavedView {
  const { name, query, range, columns } = (value ?? {}) as Partial<SavedView>;
  return typeof name === "string" && typeof query === "string" && typeof columns === "string" &&
    RANGES.includes(range ?? "");
}

function keep(): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(savedViews.peek()));
  } catch {
    throw new Error("the view is not stored: this browser blocks the storage of the page");
  }
}

/** Stores the current filter, range and columns. Replaces a view with the same name. */
export function saveView(name: string): void {
  const view: SavedView = {
    name,
    query: searchQuery.peek(),
    range: range.peek(),
    columns: writeColumns(shownColumns.peek()),
  };
  const others = savedViews.peek().filter((each) => each.name !== name);
  savedViews.value = [...others, view].sort((a, b) => a.name < b.name ? -1 : 1).slice(0, MOST);
  keep();
}

export function deleteView(name: string): void {
  savedViews.value = savedViews.peek().filter((each) => each.name !== name);
  keep();
}

export function openView(view: SavedView): void {
  batch(() => {
    searchQuery.value = view.query;
    range.value = view.range;
    shownColumns.value = parseColumns(view.columns);
  });
}

/** The view that equals the current filter, range and columns. */
export function currentView(): SavedView | undefined {
  const columns = writeColumns(shownColumns.value);
  return savedViews.value.find((view) =>
    view.query === searchQuery.value && view.range === range.value && view.columns === columns
  );
}
