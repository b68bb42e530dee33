// Lanes of other parts, below the run's own.
import type { JSX } from "preact";
import { COLOUR_OF } from "../ui/glyph.tsx";
import { LANE_PX } from "./geometry.ts";
import { LETTER_PX } from "./layout.ts";
import type { OverlayLane } from "./overlays.ts";
import { cutTo, type Drawing } from "./shapes.tsx";

/** Room for a name where what it stands for took no time. */
const LEAST_PX = 12;

export function OverlayLanes({ lanes, drawing }: { lanes: readonly OverlayLane[]; drawing: Drawing }): JSX.Element {
  return (
    <>
      {lanes.map(({ key, kind, bars }, i) => (
        <g key={key} class={`k-${COLOUR_OF[kind]}`} transform={`translate(0 ${LANE_PX * (i + 1)})`}>
          {bars.map(({ fromMs, toMs, text }) => {
            const from = drawing.scale.x(fromMs);
            const wide = Math.max(LEAST_PX, drawing.scale.x(toMs) - from);
            const most = Math.floor((wide - 10) / LETTER_PX);
            return (
              <g key={`${fromMs} ${text}`}>
                <title>{text}</title>
                <rect class="tl-over" x={from + 0.5} y={5} width={wide} height={LANE_PX - 10} rx={3} />
                {most > 2 && <text class="tl-over-text" x={from + 6} y={16}>{cutTo(text, most)}</text>}
              </g>
            );
          })}
        </g>
      ))}
    </>
  );
}
