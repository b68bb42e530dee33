// The lanes of the timeline and their items. Each name has its own lane if there are few; otherwise
// a kind shares one.
import type { ItemKind, RunItem, RunModel } from "../../debug/run/types.ts";

export interface Lane {
  readonly key: string;
  readonly kind: ItemKind;
  readonly label: string;
  /** In ascending order of their start. */
  readonly items: readonly RunItem[];
  /** Items without a duration, such as messages, are glyphs instead of bars. */
  readonly isPoints: boolean;
  /** All items have the name of the lane. */
  readonly isOneName: boolean;
}

const LABELS: { readonly [kind in ItemKind]?: string } = {
  signal: "messages",
  timer: "timers",
  activity: "activities",
  localActivity: "local activities",
  child: "children",
  nexus: "Nexus",
  external: "to other runs",
  marker: "versions",
  searchAttributes: "attributes",
  unknown: "other events",
};
const ORDER = Object.keys(LABELS) as ItemKind[];
const POINTS: ReadonlySet<ItemKind> = new Set(["signal", "marker", "searchAttributes", "unknown"]);
/** Kinds with a lane per name while there are few names. */
const BY_NAME: ReadonlySet<ItemKind> = new Set(["activity", "child"]);
const MOST_NAMES = 7;

/** `byName`: a lane for each activity and child while there are few of them. */
export function lanesOf(model: RunModel, byName: boolean): Lane[] {
  const ofKind = new Map<ItemKind, RunItem[]>();
  for (const item of model.items) {
    if (item.kind === "task" || item.kind === "run" || item.startMs === undefined) continue;
    const kind = item.kind === "update" ? "signal" : item.kind;
    const items = ofKind.get(kind);
    if (items === undefined) ofKind.set(kind, [item]);
    else items.push(item);
  }
  const names = [...BY_NAME].reduce(
    (sum, kind) => sum + new Set(ofKind.get(kind)?.map(({ name }) => name)).size,
    0,
  );
  const lanes: Lane[] = [];
  for (const kind of ORDER) {
    const items = ofKind.get(kind)?.toSorted((a, b) =>
      a.startMs! - b.startMs! || a.index - b.index
    );
    if (items === undefined) continue;
    const isPoints = POINTS.has(kind);
    if (byName && BY_NAME.has(kind) && names <= MOST_NAMES) {
      for (const name of new Set(items.map((item) => item.name))) {
        const own = items.filter((item) => item.name === name);
        lanes.push({
          key: `${kind} ${name}`,
          kind,
          label: name,
          items: own,
          isPoints,
          isOneName: true,
        });
      }
    } else {
      lanes.push({
        key: kind,
        kind,
        label: labelOf(kind, items),
        items,
        isPoints,
        isOneName: false,
      });
    }
  }
  return lanes;
}

function labelOf(kind: ItemKind, items: readonly RunItem[]): string {
  if (kind === "marker" && !items.some(({ name }) => /^(?:patch|version) /.test(name))) {
    return "markers";
  }
  return LABELS[kind] ?? kind;
}

/**
 * Returns the stretches in which activities, Nexus operations or workflow tasks ran. Ascending, not
 * overlapping.
 */
export function busyOf(model: RunModel): (readonly [number, number])[] {
  const end = model.facts.endMs ?? 0;
  const stretches = model.items
    .filter(({ kind, startMs }) =>
      ["activity", "nexus", "task"].includes(kind) && startMs !== undefined
    )
    .map(({ startMs, endMs }) => [startMs!, endMs ?? end] as [number, number])
    .sort(([a], [b]) => a - b);
  const merged: [number, number][] = [];
  for (const [from, to] of stretches) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** In runs with more activities, times of attempts do not bound gaps. */
const MOST_TRIED = 500;

/**
 * Returns the distinct times of all events and attempts, ascending. A gap is between two of them.
 */
export function timesOf(model: RunModel): number[] {
  const times: number[] = [];
  for (const { timeMs } of model.lines) if (timeMs !== undefined) times.push(timeMs);
  const tried = model.items.filter(({ kind, attempt }) => kind === "activity" && attempt > 1).slice(
    0,
    MOST_TRIED,
  );
  for (const { startMs, endMs } of tried.flatMap((item) => model.attemptsOf(item))) {
    if (startMs !== undefined) times.push(startMs);
    if (endMs !== undefined) times.push(endMs);
  }
  times.sort((a, b) => a - b);
  return times.filter((ms, i) => i === 0 || ms !== times[i - 1]);
}
