// Arrows above the lanes. They are thin and do not receive clicks.
import type { JSX } from "preact";
import type { Arrow } from "./arrows.ts";

const HEAD_PX = 5;

export function Arrows({ arrows }: { arrows: readonly Arrow[] }): JSX.Element {
  return (
    <g class="tl-arrows">
      {arrows.map(({ key, fromX, fromY, toX, toY, text }) => (
        <g key={key}>
          <title>{text}</title>
          <path class="tl-arrow" d={`M${fromX} ${fromY}H${toX}V${toY + HEAD_PX}`} />
          <path class="tl-arrow-head" d={`M${toX} ${toY}l3.5 ${HEAD_PX}h-7z`} />
        </g>
      ))}
    </g>
  );
}
