// Converts time to pixels. Long gaps without events are cut to a fixed width; the rest is to scale.
// A gap is cut if it would take too large a part of the width; gaps in which work is in progress
// are cut later than idle ones.

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

/** Width of a cut gap, in pixels. */
export const CUT_PX = 58;
/** Fraction of the width above which a gap is cut. */
const IDLE_PART = 0.12;
const BUSY_PART = 0.45;

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
  const cut = cutsGaps ? chooseCuts(gaps, width) : new Set<Gap>();
  const rest = gaps.reduce((sum, gap) => cut.has(gap) ? sum : sum + gap.ms, 0);
  const perMs = rest === 0 ? 0 : (width - cut.size * CUT_PX) / rest;
  const pieces: Piece[] = [];
  let x = 0;
  for (const gap of gaps) {
    const isCut = cut.has(gap);
    const last = pieces.at(-1);
    const wide = isCut ? CUT_PX : gap.ms * perMs;
    if (!isCut && last !== undefined && !last.isCut) {
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

function chooseCuts(gaps: readonly Gap[], width: number): Set<Gap> {
  const cut = new Set<Gap>();
  const most = Math.floor(width / (CUT_PX * 2.2));
  // Returns the gaps that are too large for their kind, largest first. Each round cuts at most one
  // of them.
  const large = gaps.toSorted((a, b) => b.ms / b.part - a.ms / a.part).slice(0, most + 1);
  let rest = gaps.reduce((sum, { ms }) => sum + ms, 0);
  for (const gap of large) {
    const px = gap.ms * (width - cut.size * CUT_PX) / rest;
    if (cut.size >= most || px <= gap.part * width || px <= CUT_PX || rest - gap.ms <= 0) break;
    cut.add(gap);
    rest -= gap.ms;
  }
  return cut;
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
  const add = (tick: Tick) => {
    if (tick.x - last < apart * (tick.isCut ? 0.6 : 1)) return;
    ticks.push(tick);
    last = tick.x;
  };
  for (const { fromMs, toMs, x0, x1, isCut } of scale.pieces) {
    if (x1 < fromX || x0 > toX) continue;
    if (isCut) {
      add({ x: (x0 + x1) / 2, ms: toMs - fromMs, digits: 0, isCut });
      continue;
    }
    const perPx = (toMs - fromMs) / Math.max(1, x1 - x0);
    const step = STEPS_MS.find((ms) => ms / perPx >= apart) ??
      Math.ceil(perPx * apart / 86_400_000) * 86_400_000;
    const digits = step >= 1000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
    add({ x: x0, ms: fromMs - startMs, digits: Math.max(digits, 1), isCut });
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
