// How the timeline is looked at. It is the reader's choice, not the run's: another run is drawn the same way, but as a whole.
import { type Signal, signal } from "@preact/signals";
import { bindKeys } from "../app/keys.ts";

/** Long stretches in which nothing happens are cut. */
export const cutsGaps: Signal<boolean> = signal(true);
/** 1: the whole run fits the width. */
export const zoom: Signal<number> = signal(1);

const STEP = 1.6;
/** Browsers lay out no wider elements, and one millisecond is far over a hundred pixels then for most runs. */
export const MOST_PX = 4_000_000;
const MOST_ZOOM = 4096;

/** Larger or smaller by one step; with a `factor` by as much. */
export function zoomBy(steps: number): void {
  zoom.value = Math.max(1, Math.min(MOST_ZOOM, zoom.peek() * STEP ** steps));
}

export const bindTimelineKeys = (): () => void =>
  bindKeys([
    { keys: ["g"], group: "Look", label: "Cut gaps, or real time", run: () => (cutsGaps.value = !cutsGaps.value) },
    { keys: ["+", "="], group: "Look", label: "Zoom in on the timeline", run: () => zoomBy(1) },
    { keys: ["-"], group: "Look", label: "Zoom out", run: () => zoomBy(-1) },
    { keys: ["0"], group: "Look", label: "The whole timeline", run: () => (zoom.value = 1) },
  ]);
