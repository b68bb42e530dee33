// Positions of the items of a lane, in pixels. Overlapping bars get separate rows; items that are
// too small to distinguish become a strip.
import type { RunItem } from "../../debug/run/types.ts";
import type { Lane } from "./lanes.ts";
import type { Scale } from "./scale.ts";

export interface Bar {
  readonly is: "bar";
  readonly item: RunItem;
  readonly x: number;
  readonly w: number;
  /** Counted from 0. */
  readonly row: number;
  /** The place of the name: inside the bar, after it, before it, or hidden. */
  readonly label: "in" | "after" | "before" | "none";
}

export interface Point {
  readonly is: "point";
  readonly item: RunItem;
  readonly x: number;
  readonly row: number;
  /** Pixels available for the name after the glyph. */
  readonly room: number;
}

/** Several items within a few pixels. */
export interface StripOf {
  readonly is: "strip";
  readonly items: readonly RunItem[];
  readonly x: number;
  readonly w: number;
  readonly row: number;
  /** Text for messages at one time: their names, or their number. Bars have none. */
  readonly label?: string;
}

export type Shape = Bar | Point | StripOf;

export interface LaneLayout {
  readonly lane: Lane;
  /** In ascending order of `x`. */
  readonly shapes: readonly Shape[];
  readonly rows: number;
}

const MOST_ROWS = 4;
const MOST_POINT_ROWS = 3;
/** Narrower bars are not distinguishable. */
const SMALL_PX = 3;
/** Width of a glyph with padding. */
const GLYPH_PX = 12;
/** Approximate width of a character at 11.5 px, also for wide fonts. */
export const LETTER_PX = 7;

/** Visible space after the end of the scale, in pixels; names continue there. */
const BEHIND_PX = 60;

/** `endMs`: the end of open bars. `behind`: visible space after the end of the scale. */
export const layoutOf = (lane: Lane, scale: Scale, endMs: number, behind = BEHIND_PX): LaneLayout =>
  lane.isPoints ? pointsOf(lane, scale, behind) : barsOf(lane, scale, endMs, behind);

/** Largest width of a point's name and value, in pixels. */
export const MOST_NAME_PX = 240;

/**
 * Points whose names overlap get separate rows. Points within a few pixels are one group, with
 * their names or their number.
 */
function pointsOf(lane: Lane, scale: Scale, behind: number): LaneLayout {
  const shapes: (Point | StripOf)[] = [];
  const xs = lane.items.map(({ startMs }) => scale.x(startMs!));
  /** Where each row becomes free, and its last shape. */
  const rows: { free: number; last: number }[] = [];
  const edge = scale.width + behind;
  for (let i = 0; i < xs.length;) {
    let end = i + 1;
    while (end < xs.length && xs[end]! - xs[end - 1]! < GLYPH_PX * 0.6) end++;
    const x = xs[i]!;
    const items = lane.items.slice(i, end);
    const label = end - i === 1 ? items[0]!.name : labelOfGroup(items);
    const wide = GLYPH_PX + 12 + Math.min(MOST_NAME_PX, label.length * LETTER_PX);
    let row = rows.findIndex(({ free }) => free <= x);
    if (row < 0 && rows.length < MOST_POINT_ROWS) {
      row = rows.length;
      rows.push({ free: 0, last: -1 });
    } else if (row < 0) {
      row = rows.reduce((best, { free }, at) => free < rows[best]!.free ? at : best, 0);
    }
    const before = shapes[rows[row]!.last];
    // The name before has less room, down to none.
    if (before?.is === "point") {
      const room = Math.min(before.room, x - before.x - GLYPH_PX - 6);
      shapes[rows[row]!.last] = { ...before, room };
    } else if (before?.is === "strip" && before.x + before.w > x) {
      shapes[rows[row]!.last] = { ...before, label: "" };
    }
    rows[row] = { free: x + wide, last: shapes.length };
    const room = edge - x - GLYPH_PX - 6;
    if (end - i === 1) shapes.push({ is: "point", item: items[0]!, x, row, room });
    else {
      const w = xs[end - 1]! - x + 8;
      const text = xs[end - 1]! - x < GLYPH_PX * 2 ? label : "";
      shapes.push({ is: "strip", items, x: x - 4, w, row, label: text });
    }
    i = end;
  }
  return { lane, shapes, rows: Math.max(1, rows.length) };
}

/** "resume, submit" for two names, "5 × add_item" for one, else "5 messages". */
function labelOfGroup(items: readonly RunItem[]): string {
  const names = new Set(items.map(({ name }) => name));
  if (names.size === 1) return `${items.length} × ${items[0]!.name}`;
  return names.size === items.length && names.size === 2
    ? [...names].join(", ")
    : `${items.length} messages`;
}

function barsOf(lane: Lane, scale: Scale, endMs: number, behind: number): LaneLayout {
  const shapes: (Bar | { is: "strip"; items: RunItem[]; x: number; w: number; row: number })[] = [];
  /** Where each row becomes free. */
  const ends: number[] = [];
  for (const item of lane.items) {
    const x = scale.x(item.startMs!);
    const w = Math.max(2, scale.x(Math.max(item.startMs!, item.endMs ?? endMs)) - x);
    const last = shapes.at(-1);
    if (w < SMALL_PX && last !== undefined) {
      const lastIsSmall = last.is === "strip" || last.w < SMALL_PX;
      if (
        lastIsSmall && x - (last.x + last.w) < 1 &&
        (last.is === "strip" || ends[last.row]! <= last.x + last.w)
      ) {
        const items = last.is === "strip" ? last.items : [last.item];
        items.push(item);
        const wide = Math.max(last.x + last.w, x + w) - last.x;
        shapes[shapes.length - 1] = { is: "strip", items, x: last.x, w: wide, row: last.row };
        ends[last.row] = last.x + wide;
        continue;
      }
    }
    let row = ends.findIndex((end) => end <= x + 0.5);
    // More overlapping bars than rows: use the row that becomes free first, and let bars overlap.
    if (row < 0) row = ends.length < MOST_ROWS ? ends.length : ends.indexOf(Math.min(...ends));
    ends[row] = Math.max(ends[row] ?? 0, x + w);
    shapes.push({ is: "bar", item, x, w, row, label: "none" });
  }
  return {
    lane,
    shapes: labeled(shapes, lane, scale.width + behind),
    rows: Math.max(1, ends.length),
  };
}

/**
 * Places the label of each bar. The last bars, which have no space after them, have it before them.
 */
function labeled(shapes: readonly Shape[], lane: Lane, end: number): Shape[] {
  const next: number[] = [];
  const free: number[] = [];
  const before = shapes.map((shape) => {
    const from = free[shape.row] ?? 0;
    free[shape.row] = shape.is === "point" ? shape.x : shape.x + shape.w;
    return shape.x - from;
  });
  const done: Shape[] = [];
  for (let i = shapes.length - 1; i >= 0; i--) {
    const shape = shapes[i]!;
    const isLast = next[shape.row] === undefined;
    const room = (next[shape.row] ?? end) - shape.x;
    next[shape.row] = shape.x;
    if (shape.is !== "bar") {
      done.push(shape);
      continue;
    }
    const wide = barText(shape.item, lane).length * LETTER_PX + 12;
    const label = wide === 12
      ? "none"
      : shape.w >= wide
      ? "in"
      : room - shape.w >= wide
      ? "after"
      : isLast && before[i]! >= wide
      ? "before"
      : "none";
    // The previous bar then has less room.
    if (label === "before") next[shape.row] = shape.x - wide;
    done.push({ ...shape, label });
  }
  return done.reverse();
}

/** "attempt 4"; "" for the first. */
export const formatAttempt = (attempt: number): string => attempt > 1 ? `attempt ${attempt}` : "";

/** The label of a bar: its name, or only its attempt if the lane has the name. */
export function barText({ name, attempt, status }: RunItem, { isOneName, kind }: Lane): string {
  const last = formatAttempt(attempt);
  if (isOneName) return last;
  const text = kind === "timer" ? name.replace(/^timer /, "") : name;
  const end = status === "canceled" && kind === "timer" ? "canceled" : last;
  return [text, end].filter((part) => part !== "").join(", ");
}
