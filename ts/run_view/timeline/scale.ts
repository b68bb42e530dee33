// Converts time to pixels. A gap without events is cut only if it takes a large part of the width;
// gaps in which work is in progress are cut later than idle ones. The width of a cut grows with the
// logarithm of the gap. Other gaps are to scale, with a minimum width so that events stay apart.

/** A stretch of the axis. */
export interface Piece {
  readonly fromMs: number;
  readonly toMs: number;
  readonly x0: number;
  readonly x1: number;
  /** The piece is a cut gap, not to scale. */
  readonly isCut: boolean;
}

export interface Scale {
  readonly pieces: readonly Piece[];
  readonly width: number;
  /** Converts a time to pixels. */
  x(ms: number): number;
  /** Converts pixels to a time. */
  ms(x: number): number;
}

/** Width of the shortest cut gap, and what each doubling of its length adds, in pixels. */
const CUT_PX = 58;
const DOUBLED_PX = 12;
/** Fractions of the width: above which a gap is cut, and the most for one cut and all cuts. */
const IDLE_PART = 0.5;
const BUSY_PART = 0.7;
/** A gap is cut only if it is this many times as long as the median gap. */
const TIMES_MEDIAN = 3;
const MOST_CUT_PART = 0.3;
const ALL_CUTS_PART = 0.5;
/** Distance of two events, and the part of the width that these distances may take. */
const LEAST_PX = 12;
const LEAST_PART = 0.5;
/** Narrower distances do not separate events. */
const NO_LEAST_PX = 1;

interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
  readonly ms: number;
  readonly part: number;
}

/**
 * `times`: times of all events, ascending, in milliseconds. `busy`: stretches in which work is in
 * progress, ascending, not overlapping. `width`: pixels for the whole scale.
 */
export function makeScale(
  times: readonly number[],
  busy: readonly (readonly [number, number])[],
  width: number,
  cutsGaps: boolean,
): Scale {
  const gaps = gapsOf(times, busy);
  const cut = cutsGaps ? chooseCuts(gaps, width) : new Map<Gap, number>();
  const cutPx = [...cut.values()].reduce((sum, px) => sum + px, 0);
  const rest = gaps.filter((gap) => !cut.has(gap));
  const { perMs, leastPx } = fit(rest, width - cutPx, cutsGaps);
  const pieces: Piece[] = [];
  let x = 0;
  let isToScale = false;
  for (const gap of gaps) {
    const px = cut.get(gap);
    const isCut = px !== undefined;
    const wasToScale = isToScale;
    isToScale = !isCut && gap.ms * perMs >= leastPx;
    const wide = isCut ? px : Math.max(leastPx, gap.ms * perMs);
    const last = pieces.at(-1);
    if (isToScale && wasToScale && last !== undefined) {
      pieces[pieces.length - 1] = { ...last, toMs: gap.toMs, x1: x + wide };
    } else pieces.push({ fromMs: gap.fromMs, toMs: gap.toMs, x0: x, x1: x + wide, isCut });
    x += wide;
  }
  const first = times[0] ?? 0;
  if (pieces.length === 0) {
    pieces.push({ fromMs: first, toMs: first + 1, x0: 0, x1: width, isCut: false });
  }
  return new PiecedScale(pieces, width);
}

/** Pixels per millisecond, and the minimum width of a gap, for gaps that fill a width. */
function fit(
  gaps: readonly Gap[],
  width: number,
  hasLeast: boolean,
): { readonly perMs: number; readonly leastPx: number } {
  let restMs = gaps.reduce((sum, { ms }) => sum + ms, 0);
  if (restMs === 0) return { perMs: 0, leastPx: 0 };
  const leastPx = Math.min(LEAST_PX, width * LEAST_PART / gaps.length);
  if (!hasLeast || leastPx < NO_LEAST_PX) return { perMs: width / restMs, leastPx: 0 };
  // The shortest gaps get the minimum; the others share what remains.
  let restPx = width;
  for (const { ms } of gaps.toSorted((a, b) => a.ms - b.ms)) {
    if (ms * restPx / restMs >= leastPx) break;
    restMs -= ms;
    restPx -= leastPx;
  }
  return { perMs: restMs <= 0 ? 0 : restPx / restMs, leastPx };
}

function gapsOf(times: readonly number[], busy: readonly (readonly [number, number])[]): Gap[] {
  const gaps: Gap[] = [];
  let at = 0;
  for (let i = 1; i < times.length; i++) {
    const [fromMs, toMs] = [times[i - 1]!, times[i]!];
    if (toMs <= fromMs) continue;
    while (at < busy.length && busy[at]![1] <= fromMs) at++;
    const isBusy = at < busy.length && busy[at]![0] <= fromMs;
    gaps.push({ fromMs, toMs, ms: toMs - fromMs, part: isBusy ? BUSY_PART : IDLE_PART });
  }
  return gaps;
}

/** The cut gaps with their widths. */
function chooseCuts(gaps: readonly Gap[], width: number): Map<Gap, number> {
  const cut: Gap[] = [];
  const most = Math.floor(width * ALL_CUTS_PART / CUT_PX);
  // Each round cuts the gap that is the largest for its kind, until none is too large.
  const large = gaps.toSorted((a, b) => b.ms / b.part - a.ms / a.part).slice(0, most);
  const median = gaps.map(({ ms }) => ms).sort((a, b) => a - b)[gaps.length >> 1] ?? 0;
  let rest = gaps.reduce((sum, { ms }) => sum + ms, 0);
  for (const gap of large) {
    if (gap.ms < median * TIMES_MEDIAN) continue;
    const px = gap.ms * (width - cut.length * CUT_PX) / rest;
    if (px <= gap.part * width || px <= CUT_PX || rest - gap.ms <= 0) break;
    cut.push(gap);
    rest -= gap.ms;
  }
  const wanted = cut.map(({ ms, part }) =>
    Math.min(
      width * MOST_CUT_PART,
      CUT_PX + DOUBLED_PX * Math.max(0, Math.log2(ms / (rest * part))),
    )
  );
  const all = wanted.reduce((sum, px) => sum + px, 0);
  const shrink = Math.min(1, width * ALL_CUTS_PART / all);
  return new Map(cut.map((gap, i) => [gap, wanted[i]! * shrink]));
}

class PiecedScale implements Scale {
  readonly pieces: readonly Piece[];
  readonly width: number;

  constructor(pieces: readonly Piece[], width: number) {
    this.pieces = pieces;
    this.width = width;
  }

  x(ms: number): number {
    const { fromMs, toMs, x0, x1 } = this.#piece(({ fromMs }) => fromMs <= ms);
    return x0 + Math.max(0, Math.min(1, (ms - fromMs) / (toMs - fromMs))) * (x1 - x0);
  }

  ms(x: number): number {
    const { fromMs, toMs, x0, x1 } = this.#piece(({ x0 }) => x0 <= x);
    return fromMs +
      (x1 === x0 ? 0 : Math.max(0, Math.min(1, (x - x0) / (x1 - x0)))) * (toMs - fromMs);
  }

  /** Returns the last piece that has begun. */
  #piece(hasBegun: (piece: Piece) => boolean): Piece {
    let [low, high] = [0, this.pieces.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (hasBegun(this.pieces[middle]!)) low = middle + 1;
      else high = middle;
    }
    return this.pieces[Math.max(0, low - 1)]!;
  }
}

/** Distance between two ticks like "1:57:40". */
export const APART_PX = 78;

/** A tick on the axis. */
export interface Tick {
  readonly x: number;
  /** Time since the start, in milliseconds; for a cut gap, its length. */
  readonly ms: number;
  /** Digits after the second that make ticks distinct. */
  readonly digits: number;
  readonly isCut: boolean;
}

const STEPS_MS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400]
    .map((s) => s * 1000),
];

/**
 * Returns ticks between two pixels, at least `apart` pixels from each other. The length of a cut
 * gap is at its center.
 */
export function ticksOf(scale: Scale, fromX: number, toX: number, apart: number): Tick[] {
  const startMs = scale.pieces[0]!.fromMs;
  const ticks: Tick[] = [];
  let last = -Infinity;
  let wasCut = true;
  const add = (tick: Tick) => {
    if (tick.x - last < apart * (tick.isCut ? 0.6 : 1)) return;
    ticks.push(tick);
    last = tick.x;
  };
  for (const { fromMs, toMs, x0, x1, isCut } of scale.pieces) {
    const isStart = wasCut;
    wasCut = isCut;
    if (x1 < fromX || x0 > toX) continue;
    if (isCut) {
      add({ x: (x0 + x1) / 2, ms: toMs - fromMs, digits: 0, isCut });
      continue;
    }
    const perPx = (toMs - fromMs) / Math.max(1, x1 - x0);
    const step = STEPS_MS.find((ms) => ms / perPx >= apart) ??
      Math.ceil(perPx * apart / 86_400_000) * 86_400_000;
    const digits = step >= 1000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
    if (isStart) add({ x: x0, ms: fromMs - startMs, digits: Math.max(digits, 1), isCut });
    const firstSeen = Math.max(fromMs, fromMs + (fromX - x0) * perPx);
    const from = Math.ceil((firstSeen - startMs) / step) * step;
    for (let ms = from; startMs + ms < toMs; ms += step) {
      const x = x0 + (startMs + ms - fromMs) / perPx;
      if (x > toX) break;
      if (x1 - x >= apart * 0.4) add({ x, ms, digits, isCut });
    }
  }
  return ticks;
}

/** Returns the torn edge of a cut gap as an SVG path. */
export function tear(x: number, height: number): string {
  let down = `M${x} 0`;
  let up = "";
  for (let y = 6, side = 1; y <= height + 6; y += 6, side = -side) {
    down += `l${2.5 * side} 6`;
    up = `l${-2.5 * side} -6${up}`;
  }
  return `${down}h5${up}z`;
}
