// Where the things of a lane lie, in pixels. Bars that overlap get rows of their own; what is too small to be told apart is one strip.
import type { RunItem } from "../../debug/run/types.ts";
import type { Lane } from "./lanes.ts";
import type { Scale } from "./scale.ts";

export interface Bar {
  readonly is: "bar";
  readonly item: RunItem;
  readonly x: number;
  readonly w: number;
  /** From 0. */
  readonly row: number;
  /** Room for its name: inside, behind it, or none. */
  readonly label: "in" | "after" | "before" | "none";
}

export interface Point {
  readonly is: "point";
  readonly item: RunItem;
  readonly x: number;
  readonly row: 0;
  /** Pixels for its name behind it. */
  readonly room: number;
}

/** Several things in a few pixels. */
export interface StripOf {
  readonly is: "strip";
  readonly items: readonly RunItem[];
  readonly x: number;
  readonly w: number;
  readonly row: number;
}

export type Shape = Bar | Point | StripOf;

export interface LaneLayout {
  readonly lane: Lane;
  /** Ascending by `x`. */
  readonly shapes: readonly Shape[];
  readonly rows: number;
}

const MOST_ROWS = 4;
/** Bars below this are not told apart. */
const SMALL_PX = 3;
/** A glyph with its air. */
const GLYPH_PX = 12;
/** Width of a letter at 11.5 px; wide fonts fit, too. */
export const LETTER_PX = 7;

/** What is seen behind the end of the scale, in px: names go on there. */
const BEHIND_PX = 60;

/** `endMs`: where bars end that are open. `behind`: the room after the scale's end. */
export const layoutOf = (lane: Lane, scale: Scale, endMs: number, behind = BEHIND_PX): LaneLayout =>
  lane.isPoints ? pointsOf(lane, scale, behind) : barsOf(lane, scale, endMs, behind);

function pointsOf(lane: Lane, scale: Scale, behind: number): LaneLayout {
  const shapes: Shape[] = [];
  const xs = lane.items.map(({ startMs }) => scale.x(startMs!));
  for (let i = 0; i < xs.length;) {
    let end = i + 1;
    while (end < xs.length && xs[end]! - xs[end - 1]! < GLYPH_PX * 0.6) end++;
    const x = xs[i]!;
    if (end - i === 1) {
      const room = (xs[end] ?? scale.width + behind) - x - GLYPH_PX - 6;
      shapes.push({ is: "point", item: lane.items[i]!, x, row: 0, room });
    } else {
      shapes.push({ is: "strip", items: lane.items.slice(i, end), x: x - 4, w: xs[end - 1]! - x + 8, row: 0 });
    }
    i = end;
  }
  return { lane, shapes, rows: 1 };
}

function barsOf(lane: Lane, scale: Scale, endMs: number, behind: number): LaneLayout {
  const shapes: (Bar | { is: "strip"; items: RunItem[]; x: number; w: number; row: number })[] = [];
  /** Where each row is free again. */
  const ends: number[] = [];
  for (const item of lane.items) {
    const x = scale.x(item.startMs!);
    const w = Math.max(2, scale.x(Math.max(item.startMs!, item.endMs ?? endMs)) - x);
    const last = shapes.at(-1);
    if (w < SMALL_PX && last !== undefined) {
      const lastIsSmall = last.is === "strip" || last.w < SMALL_PX;
      if (lastIsSmall && x - (last.x + last.w) < 1 && (last.is === "strip" || ends[last.row]! <= last.x + last.w)) {
        const items = last.is === "strip" ? last.items : [last.item];
        items.push(item);
        const wide = Math.max(last.x + last.w, x + w) - last.x;
        shapes[shapes.length - 1] = { is: "strip", items, x: last.x, w: wide, row: last.row };
        ends[last.row] = last.x + wide;
        continue;
      }
    }
    let row = ends.findIndex((end) => end <= x + 0.5);
    // More at once than there are rows: the one that is free first, and they lie over each other.
    if (row < 0) row = ends.length < MOST_ROWS ? ends.length : ends.indexOf(Math.min(...ends));
    ends[row] = Math.max(ends[row] ?? 0, x + w);
    shapes.push({ is: "bar", item, x, w, row, label: "none" });
  }
  return { lane, shapes: labelled(shapes, lane, scale.width + behind), rows: Math.max(1, ends.length) };
}

/** Says where each bar's name fits: before it is where the last ones have it that have no room behind. */
function labelled(shapes: readonly Shape[], lane: Lane, end: number): Shape[] {
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
    // The one before it has less room then.
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
