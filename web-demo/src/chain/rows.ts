// Rows of a family's timeline, from the top: a chain, its lanes if it is unfolded, then the chains
// of its children.
import type { Chain, Family } from "../store/family.ts";
import { barIn, LANE_PX, type PlacedLane } from "../../../ts/run_view/timeline/geometry.ts";
import { layoutOf } from "../../../ts/run_view/timeline/layout.ts";
import { makeScale, type Scale } from "../../../ts/run_view/timeline/scale.ts";
import { chainLine, type Line } from "./line.ts";

export const CHAIN_PX = 28;
const ROW_PX = barIn({ rows: 2 } as PlacedLane).step;

export interface ChainRow {
  readonly line: Line;
  readonly depth: number;
  readonly isOpen: boolean;
  readonly top: number;
  readonly lanes: readonly PlacedLane[];
  /** The lower edge of its lanes, in pixels. */
  readonly bottom: number;
}

export interface ChainRows {
  readonly scale: Scale;
  readonly rows: readonly ChainRow[];
  readonly height: number;
}

/** The data of a family that does not depend on the width. */
export interface FamilyTimes {
  readonly times: readonly number[];
  readonly busy: readonly (readonly [number, number])[];
}

function lines(chain: Chain): readonly Line[] {
  return [chainLine(chain), ...chain.children.flatMap(lines)];
}

export function timesOfFamily({ root }: Family): FamilyTimes {
  const all = lines(root);
  const sorted = Float64Array.from(all.flatMap(({ times }) => times)).sort();
  const times = [...sorted.filter((ms, i) => i === 0 || ms !== sorted[i - 1])];
  const busy: [number, number][] = [];
  for (const [from, to] of all.flatMap(({ busy }) => busy).sort(([a], [b]) => a - b)) {
    const last = busy.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else busy.push([from, to]);
  }
  return { times, busy };
}

export function placeFamily(
  { root }: Family,
  { times, busy }: FamilyTimes,
  width: number,
  cuts: boolean,
  isOpen: (chain: Chain) => boolean,
): ChainRows {
  const scale = makeScale(times, busy, width, cuts);
  const rows: ChainRow[] = [];
  let at = 0;
  const place = (chain: Chain, depth: number) => {
    const line = chainLine(chain);
    const top = at;
    const open = isOpen(chain);
    at += CHAIN_PX;
    const lanes = open ? line.lanes.map((lane) => placeLane(lane)) : [];
    rows.push({ line, depth, isOpen: open, top, lanes, bottom: at });
    if (open) { for (const child of chain.children) place(child, depth + 1); }
  };
  const placeLane = (lane: Line["lanes"][number]): PlacedLane => {
    const layout = layoutOf(lane, scale, times.at(-1) ?? 0);
    const height = layout.rows === 1 ? LANE_PX : layout.rows * ROW_PX + 8;
    const placed = { ...layout, top: at, height };
    at += height;
    return placed;
  };
  place(root, 0);
  return { scale, rows, height: at };
}
