// The lanes of a run in pixels, and the event at a pixel. Computed when the run, width or zoom
// changes, not for each step.
import type { RunModel } from "../../debug/run/types.ts";
import { busyOf, lanesOf, timesOf } from "./lanes.ts";
import { type LaneLayout, layoutOf } from "./layout.ts";
import { makeScale, type Scale } from "./scale.ts";

/** The measures of a run that do not depend on the width. */
export interface Measured {
  readonly times: readonly number[];
  readonly busy: readonly (readonly [number, number])[];
  readonly lanes: ReturnType<typeof lanesOf>;
  /**
   * The time of each event (index: event ID - 1). Never decreases, although the clocks of servers
   * may.
   */
  readonly clock: Float64Array;
}

export function measure(model: RunModel, byName: boolean): Measured {
  const clock = new Float64Array(model.lines.length);
  let latest = model.facts.startMs ?? 0;
  model.lines.forEach(({ timeMs }, i) => clock[i] = latest = Math.max(latest, timeMs ?? latest));
  return { times: timesOf(model), busy: busyOf(model), lanes: lanesOf(model, byName), clock };
}

export interface PlacedLane extends LaneLayout {
  readonly top: number;
  readonly height: number;
}

export interface Geometry {
  readonly scale: Scale;
  readonly lanes: readonly PlacedLane[];
  readonly height: number;
  /** Where the recorded part ends and the wait of an open run begins; undefined without a wait. */
  readonly waitsFromX: number | undefined;
}

export const LANE_PX = 24;
const ROW_PX = 16;

/** Height of a bar, and distance between rows. */
export const barIn = (
  { rows, height }: PlacedLane,
): { readonly step: number; readonly height: number; readonly pad: number } =>
  rows === 1
    ? { step: 0, height: 15, pad: (height - 15) / 2 }
    : { step: ROW_PX, height: ROW_PX - 3, pad: 5 };

/**
 * `top`: where the first lane begins. `behind`: visible space after the width. Both in pixels.
 * `nowMs`: the time up to which an open run is known to wait; undefined: its last event.
 */
export function placeLanes(
  measured: Measured,
  width: number,
  cuts: boolean,
  top: number,
  behind?: number,
  nowMs?: number,
): Geometry {
  const lastMs = measured.clock.at(-1) ?? 0;
  const waits = nowMs !== undefined && nowMs > lastMs;
  const endMs = waits ? nowMs : lastMs;
  const times = waits ? [...measured.times, nowMs] : measured.times;
  const scale = makeScale(times, measured.busy, width, cuts);
  let at = top;
  const lanes = measured.lanes.map((lane) => {
    const layout = layoutOf(lane, scale, endMs, behind);
    const height = layout.rows === 1 ? LANE_PX : layout.rows * ROW_PX + 8;
    const placed = { ...layout, top: at, height };
    at += height;
    return placed;
  });
  return { scale, lanes, height: at, waitsFromX: waits ? scale.x(lastMs) : undefined };
}

/** Returns the ID of the last event at or before a time. */
export function eventAt(clock: Float64Array, ms: number): number {
  let [low, high] = [0, clock.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (clock[middle]! <= ms) low = middle + 1;
    else high = middle;
  }
  return Math.max(1, low);
}
