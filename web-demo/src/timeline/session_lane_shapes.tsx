// Shapes in the lanes that a replay adds above those of the history. Ink and pencil as in the other
// lanes.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { COLOR_OF } from "../ui/glyph.tsx";
import { still } from "../ui/still.ts";
import { LANE_PX } from "../../../ts/run_view/timeline/geometry.ts";
import { LETTER_PX } from "../../../ts/run_view/timeline/layout.ts";
import type { Scale } from "../../../ts/run_view/timeline/scale.ts";
import type { SessionBar, SessionLane } from "./session_lanes.ts";
import { cutTo } from "../../../ts/run_view/timeline/texts.ts";
import type { Drawing } from "./shapes.tsx";

/** Width of a bar without duration. */
const LEAST_PX = 3;
/**
 * Largest width of the box with the code's command. It has no duration and is as wide as its text.
 */
const MOST_BOX_PX = 320;
/** How far the box extends into the space after the last event. */
const AIR_PX = 20;
const BAR_PX = 15;
const TOP_PX = (LANE_PX - BAR_PX) / 2;

export function SessionLaneShapes(
  { lanes, drawing }: { lanes: readonly SessionLane[]; drawing: Drawing },
): JSX.Element {
  return (
    <>
      {lanes.map(({ key, is, kind, bars }, i) => (
        <g
          key={key}
          class={`tl-session k-${COLOR_OF[kind]}`}
          data-lane={is}
          transform={`translate(0 ${LANE_PX * (i + 1)})`}
        >
          {is === "code"
            ? bars.map((bar) => <CodeBox key={bar.from} bar={bar} scale={drawing.scale} />)
            : <Stretches bars={bars} isState={is === "state"} drawing={drawing} />}
        </g>
      ))}
    </>
  );
}

/** A line up to the divergence, then the command of the code. */
const CodeBox = still(
  ({ bar: { fromMs, text }, scale }: { bar: SessionBar; scale: Scale }): JSX.Element => {
    const at = scale.x(fromMs);
    const wide = Math.min(MOST_BOX_PX, scale.width, text.length * LETTER_PX + 14);
    // Without room after the divergence the box is drawn before it.
    const x = Math.max(0, at + 6 + wide <= scale.width + AIR_PX ? at + 6 : at - 6 - wide);
    return (
      <g>
        <title>{`Your code: ${text}`}</title>
        <line class="tl-agrees" x1={0} x2={Math.min(at, x)} y1={LANE_PX / 2} y2={LANE_PX / 2} />
        <rect class="tl-box" x={x} y={TOP_PX - 1} width={wide} height={BAR_PX + 2} rx={3} />
        <text class="tl-box-text" x={x + 7} y={16}>
          {cutTo(text, Math.floor((wide - 14) / LETTER_PX))}
        </text>
      </g>
    );
  },
);

interface Placed {
  readonly bar: SessionBar;
  readonly x: number;
  readonly w: number;
}

/** Bars between two pixels. Of bars that are too small to distinguish, one is drawn. */
function placedIn(
  bars: readonly SessionBar[],
  scale: Scale,
  fromX: number,
  toX: number,
): readonly Placed[] {
  const placed: Placed[] = [];
  for (const bar of bars) {
    const x = scale.x(bar.fromMs);
    if (x > toX) break;
    const w = Math.max(LEAST_PX, scale.x(bar.toMs) - x);
    const last = placed.at(-1);
    const isHidden = w === LEAST_PX && last !== undefined && x - last.x < LEAST_PX - 1;
    if (x + w >= fromX && !isHidden) placed.push({ bar, x, w });
  }
  return placed;
}

interface StretchesProps {
  readonly bars: readonly SessionBar[];
  readonly isState: boolean;
  readonly drawing: Drawing;
}

function Stretches(
  { bars, isState, drawing: { scale, fromX, toX, position, x: now } }: StretchesProps,
): JSX.Element {
  const placed = useMemo(() => placedIn(bars, scale, fromX, toX), [bars, scale, fromX, toX]);
  return (
    <>
      {placed.map(({ bar, x, w }) => {
        const begun = bar.from <= position;
        const inkTo = begun ? Math.max(x, Math.min(x + w, now)) : x;
        return (
          <Stretch
            key={`${bar.from} ${bar.fiber}`}
            text={bar.text}
            x={x}
            w={w}
            isState={isState}
            begun={begun}
            inkTo={inkTo}
          />
        );
      })}
    </>
  );
}

interface StretchProps extends Omit<Placed, "bar"> {
  readonly text: string;
  readonly isState: boolean;
  readonly begun: boolean;
  readonly inkTo: number;
}

const Stretch = still(({ text, x, w, isState, begun, inkTo }: StretchProps): JSX.Element => {
  const most = Math.floor((w - 10) / LETTER_PX);
  return (
    <g>
      <title>{text}</title>
      {inkTo < x + w && (
        <rect
          class="tl-pencil"
          x={x + 0.5}
          y={TOP_PX + 0.5}
          width={Math.max(1, w - 1)}
          height={BAR_PX - 1}
          rx={3}
        />
      )}
      {begun && (
        <rect
          class={isState ? "tl-state" : "tl-fiber"}
          x={x + 0.5}
          y={TOP_PX + 0.5}
          width={Math.max(LEAST_PX, inkTo - x - 1)}
          height={BAR_PX - 1}
          rx={isState ? 0 : 3}
        />
      )}
      {most > 2 && (
        <text class={begun ? "tl-name" : "tl-name tl-later"} x={x + 6} y={16}>
          {cutTo(text, most)}
        </text>
      )}
    </g>
  );
});
