// Zoom buttons, and the switch between cut gaps and real time.
import type { JSX } from "preact";
import { cutsGaps, zoom, zoomBy } from "./view.ts";

export function TimelineControls(): JSX.Element {
  return (
    <>
      <div class="segments tl-zoom" role="group" aria-label="Zoom of the timeline">
        <button type="button" aria-label="Zoom out" title="Zoom out (-)" onClick={() => zoomBy(-1)}>
          −
        </button>
        <button type="button" title="Show the whole run (0)" onClick={() => (zoom.value = 1)}>
          Fit
        </button>
        <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => zoomBy(1)}>
          +
        </button>
      </div>
      <div class="segments tl-gaps" role="group" aria-label="Time">
        <button
          type="button"
          aria-pressed={cutsGaps.value}
          title="Cut long stretches without events (t)"
          onClick={() => (cutsGaps.value = true)}
        >
          Gaps cut
        </button>
        <button
          type="button"
          aria-pressed={!cutsGaps.value}
          title="Draw all time to scale (t)"
          onClick={() => (cutsGaps.value = false)}
        >
          Real time
        </button>
      </div>
    </>
  );
}
