// The columns of the list: the standard ones that are shown, and search attributes. In the address
// as `cols`, and as the default of this browser.
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { bindToAddress, parseRoute } from "../store/router.ts";
import { room } from "../store/state.ts";
import { rows } from "./state.ts";

/** Title and width of the standard columns. Status and workflow id are always shown. */
export const STANDARD: readonly (readonly [name: string, title: string, width: string])[] = [
  ["type", "Type", "minmax(90px, 1fr)"],
  ["now", "Now", "minmax(120px, 2.4fr)"],
  ["started", "Started", "76px"],
  ["duration", "Duration", "84px"],
  ["events", "Events", "64px"],
];
const NAMES = STANDARD.map(([name]) => name);
const ATTRIBUTE_WIDTH = "minmax(80px, 1fr)";
const FIRST = "116px minmax(110px, 1.2fr)";
const KEY = "temporalex.runs.columns";

/** Names of shown columns in order: standard ones, and "@Name" for a search attribute. */
export const shownColumns: Signal<readonly string[]> = signal(kept());

/** Names of the search attributes with a column. */
export const attributeColumns: ReadonlySignal<readonly string[]> = computed(() =>
  shownColumns.value.filter((name) => name.startsWith("@")).map((name) => name.slice(1))
);

/** Search attributes of the listed runs and of the columns, sorted. */
export const knownAttributes: ReadonlySignal<readonly string[]> = computed(() =>
  [
    ...new Set([
      ...attributeColumns.value,
      ...(rows.value ?? []).flatMap(({ searchAttributes }) => Object.keys(searchAttributes)),
    ]),
  ].sort()
);

/** Widths for `grid-template-columns`. */
export const columnTemplate: ReadonlySignal<string> = computed(() =>
  [
    FIRST,
    ...STANDARD.slice(0, 1).filter(isShown).map(([, , width]) => width),
    ...attributeColumns.value.map(() => ATTRIBUTE_WIDTH),
    ...STANDARD.slice(1).filter(isShown).map(([, , width]) => width),
  ].join(" ")
);

function isShown([name]: readonly [string, ...unknown[]]): boolean {
  return shownColumns.value.includes(name);
}

/** Accepts only names of columns. Returns the standard ones for an empty or invalid text. */
export function parseColumns(text: string | undefined): readonly string[] {
  if (text === undefined) return NAMES;
  const names = text.split(",").filter((name) => NAMES.includes(name) || /^@[^,@]+$/.test(name));
  return [...new Set(names)];
}

export const writeColumns = (names: readonly string[]): string => names.join(",");

export function toggleColumn(name: string): void {
  const shown = shownColumns.peek();
  shownColumns.value = shown.includes(name)
    ? shown.filter((each) => each !== name)
    : [...NAMES.filter((each) => each === name || shown.includes(each)), ...shown, name]
      .filter((each, i, all) => all.indexOf(each) === i);
  try {
    localStorage.setItem(KEY, writeColumns(shownColumns.peek()));
  } catch {
    // Storage is blocked: the columns last until a reload.
  }
}

function kept(): readonly string[] {
  try {
    return parseColumns(localStorage.getItem(KEY) ?? undefined);
  } catch {
    return NAMES;
  }
}

/** Synchronizes the columns with the address. The browser's own columns are not in it. */
export function keepColumnsInAddress(): void {
  const own = writeColumns(kept());
  const given = parseRoute(location.hash);
  if (given?.room === "runs" && given.more.has("cols")) {
    shownColumns.value = parseColumns(given.more.get("cols"));
  }
  bindToAddress("cols", {
    get value() {
      const text = writeColumns(shownColumns.value);
      return room.value === "runs" && text !== own ? text : undefined;
    },
    set value(text) {
      if (parseRoute(location.hash)?.room === "runs") {
        shownColumns.value = parseColumns(text ?? own);
      }
    },
  });
}
