// The marks of the axis, and the stretches that are cut out of it.
import type { JSX } from "preact";
import { still } from "../ui/still.ts";
import { clock, lasting } from "../ui/time.ts";
import { LANE_PX, type PlacedLane } from "../../../ts/run_view/timeline/geometry.ts";
import { APART_PX, type Scale, tear, ticksOf } from "../../../ts/run_view/timeline/scale.ts";

interface Sight {
  readonly scale: Scale;
  readonly fromX: number;
  readonly toX: number;
}

export const Axis = still(({ scale, fromX, toX }: Sight): JSX.Element => {
  return (
    <g class="tl-ticks">
      {ticksOf(scale, fromX, toX, APART_PX).map(({ x, ms, digits, isCut }) => (
        <text
          key={x}
          x={x}
          y={16}
          class={isCut ? "tl-cut-length" : ""}
          text-anchor={isCut ? "middle" : "start"}
        >
          {isCut ? lasting(ms) : clock(ms, digits)}
        </text>
      ))}
    </g>
  );
});

/** Lines of the marks; gray ground and a torn edge where the axis is cut. */
export const Ground = still(
  ({ scale, fromX, toX, height }: Sight & { readonly height: number }): JSX.Element => {
    const cuts = scale.pieces.filter(({ isCut, x0, x1 }) => isCut && x1 >= fromX && x0 <= toX);
    return (
      <g aria-hidden="true">
        {ticksOf(scale, fromX, toX, APART_PX).map(({ x, isCut }) =>
          !isCut && <line key={x} class="tl-hair" x1={x} x2={x} y1={0} y2={height} />
        )}
        {cuts.map(({ x0, x1, fromMs, toMs }) => (
          <rect key={x0} class="tl-gap" x={x0} width={x1 - x0} y={0} height={height}>
            <title>{`${lasting(toMs - fromMs)} without events are cut out here`}</title>
          </rect>
        ))}
      </g>
    );
  },
);

interface HairsProps {
  /** Lanes above those of the history. */
  readonly added: number;
  readonly lanes: readonly PlacedLane[];
  readonly from: number;
  readonly to: number;
}

/** The lines between lanes. */
export const Hairs = still(({ added, lanes, from, to }: HairsProps): JSX.Element => {
  const tops = [
    ...Array.from({ length: added }, (_, i) => LANE_PX * (i + 1)),
    ...lanes.map(({ top }) => top),
  ];
  return (
    <>
      {tops.map((top) => (
        <line key={top} class="tl-hair" x1={from} x2={to} y1={top - 0.5} y2={top - 0.5} />
      ))}
    </>
  );
});

/** Drawn above bars, because bars continue behind the tear. */
export const Tears = still(
  ({ scale, fromX, toX, height }: Sight & { readonly height: number }): JSX.Element => {
    return (
      <g aria-hidden="true" class="tl-tears">
        {scale.pieces.map(({ isCut, x0, x1 }) =>
          isCut && x1 >= fromX && x0 <= toX && <path key={x1} d={tear(x1 - 15, height)} />
        )}
      </g>
    );
  },
);
