// Settings of the timeline. They belong to the reader: another run is drawn with the same settings,
// but with zoom 1.
import { type Signal, signal } from "@preact/signals";
import { bindKeys } from "../store/keys.ts";

/** Whether long stretches without events are cut. */
export const cutsGaps: Signal<boolean> = signal(true);
/** 1: the whole run fits the width. */
export const zoom: Signal<number> = signal(1);

const STEP = 1.6;
/**
 * In pixels. Browsers limit the width of elements; for most runs a millisecond has over a hundred
 * pixels at this width.
 */
export const MOST_PX = 4_000_000;
const MOST_ZOOM = 4096;

/** Zooms by one step, or by `factor`. */
export function zoomBy(steps: number): void {
  zoom.value = Math.max(1, Math.min(MOST_ZOOM, zoom.peek() * STEP ** steps));
}

export const bindTimelineKeys = (): () => void =>
  bindKeys([
    {
      keys: ["t"],
      group: "Look",
      label: "Toggle real time",
      run: () => (cutsGaps.value = !cutsGaps.value),
    },
    { keys: ["+", "="], group: "Look", label: "Zoom in", run: () => zoomBy(1) },
    { keys: ["-"], group: "Look", label: "Zoom out", run: () => zoomBy(-1) },
    { keys: ["0"], group: "Look", label: "Show the whole run", run: () => (zoom.value = 1) },
  ]);
