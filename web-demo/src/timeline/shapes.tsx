// Shapes in a lane: bars with their attempts, glyphs with their names, strips for items that are
// too small. Ink up to the position, pencil after it.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { RunItem, RunModel } from "../store/run_model.ts";
import { itemsInGroup } from "../events/chosen_group.ts";
import { COLOR_OF, glyphShape } from "../ui/glyph.tsx";
import { still } from "../ui/still.ts";
import { barIn, type PlacedLane } from "../../../ts/run_view/timeline/geometry.ts";
import {
  type Bar,
  barText,
  type LaneLayout,
  LETTER_PX,
  MOST_NAME_PX,
  type Point,
  type Shape,
  type StripOf,
} from "../../../ts/run_view/timeline/layout.ts";
import type { Scale } from "../../../ts/run_view/timeline/scale.ts";
import {
  barTitle,
  cutTo,
  densityOf,
  isDrawnRed,
  stripFacts,
} from "../../../ts/run_view/timeline/texts.ts";

export interface Drawing {
  readonly model: RunModel;
  readonly scale: Scale;
  readonly position: number;
  /** Position of the playhead. */
  readonly x: number;
  readonly shown: RunItem | undefined;
  readonly fromX: number;
  readonly toX: number;
  /** All recorded shapes are ink, also after the position: without code nothing is replayed. */
  readonly isRecorded: boolean;
  /** Where the wait of an open run begins, after its last event; undefined if it is not drawn. */
  readonly waitsFromX: number | undefined;
}

/**
 * Shapes receive what changes their look, not the position: after a step most of them are
 * unchanged.
 */
export function LaneShapes({ lane, drawing }: { lane: PlacedLane; drawing: Drawing }): JSX.Element {
  const { model, scale, shown, fromX, toX, isRecorded, waitsFromX = Infinity } = drawing;
  const position = isRecorded ? Infinity : drawing.position;
  const playheadX = isRecorded ? waitsFromX : drawing.x;
  const members = itemsInGroup(model);
  const shapes = useMemo(() => shapesIn(lane, fromX, toX), [lane, fromX, toX]);
  return (
    <g class={`tl-lane k-${COLOR_OF[lane.lane.kind]}`} transform={`translate(0 ${lane.top})`}>
      {shapes.map((shape) => {
        if (shape.is === "strip") {
          const { items, x, w } = shape;
          const isPast = items.at(-1)!.from <= position, isFuture = items[0]!.from > position;
          const inkTo = isPast ? x + w : isFuture ? x : within(playheadX, x, x + w);
          return <StripShape key={items[0]!.index} strip={shape} lane={lane} inkTo={inkTo} />;
        }
        const { item, x } = shape;
        const begun = item.from <= position;
        const look = `tl-item${shown === item ? " tl-shown" : ""}${
          members?.has(item.index) === false ? " tl-others" : ""
        }`;
        if (shape.is === "point") {
          return (
            <PointShape
              key={item.index}
              point={shape}
              lane={lane}
              begun={begun}
              look={look}
            />
          );
        }
        const done = item.closedBy !== undefined && item.closedBy <= position;
        const isWaiting = item.closedBy === undefined && x + shape.w > waitsFromX;
        const inkTo = done ? x + shape.w : begun ? within(playheadX, x, x + shape.w) : x;
        const all = { bar: shape, lane, model, scale, begun, done, inkTo, look, isWaiting };
        return <BarShape key={item.index} {...all} />;
      })}
    </g>
  );
}

/** Shapes between two pixels. */
function shapesIn({ shapes }: LaneLayout, fromX: number, toX: number): readonly Shape[] {
  return shapes.filter((shape) =>
    shape.x <= toX &&
    shape.x +
          (shape.is === "bar" ? shape.w : MOST_NAME_PX + (shape.is === "strip" ? shape.w : 0)) >=
      fromX
  );
}

const within = (x: number, from: number, to: number): number => Math.max(from, Math.min(to, x));

interface BarProps extends Pick<Drawing, "model" | "scale"> {
  readonly bar: Bar;
  readonly lane: PlacedLane;
  readonly begun: boolean;
  readonly done: boolean;
  /** The right end of the ink. */
  readonly inkTo: number;
  readonly look: string;
  /** The part after the ink is the wait since the last event. */
  readonly isWaiting: boolean;
}

const BarShape = still(
  ({ bar, lane, model, scale, begun, done, inkTo, look, isWaiting }: BarProps): JSX.Element => {
    const { item, x, w, row, label } = bar;
    const { step, height, pad } = barIn(lane);
    const y = pad + row * step;
    const hasAttempts = item.kind === "activity" && item.attempt > 1 && w >= ATTEMPTS_PX;
    const name = barText(item, lane.lane);
    // If attempts are drawn, the last one has the label where it has room.
    const lastMs = hasAttempts ? model.attemptsOf(item).at(-1)?.startMs : undefined;
    const isInLast = label === "in" && lastMs !== undefined &&
      inkTo - scale.x(lastMs) >= name.length * LETTER_PX + 12;
    const text = label === "none" || isInLast ||
        (hasAttempts && lane.lane.isOneName && label === "in")
      ? ""
      : name;
    // White on pale bars cannot be read, nor a name across parts of different shades.
    const isInk = done || (begun && label === "in" && inkTo - x >= text.length * LETTER_PX + 10);
    const isMixed = begun &&
      (hasAttempts || item.status === "canceled" || (isWaiting && !isInk));
    return (
      <g data-item={item.index} class={look}>
        <title>{barTitle(item)}</title>
        <rect class="tl-hit" x={x - 2} y={y - 4} width={w + 4} height={height + 8} />
        {inkTo < x + w && (
          <rect
            class={isWaiting ? "tl-pencil tl-waiting" : "tl-pencil"}
            x={x + 0.5}
            y={y + 0.5}
            width={Math.max(1, w - 1)}
            height={height - 1}
            rx={3}
          />
        )}
        {inkTo > x && (
          <Ink
            bar={bar}
            y={y}
            height={height}
            to={inkTo}
            label={isInLast ? name : ""}
            model={model}
            scale={scale}
          />
        )}
        {done && isDrawnRed(item) && (
          <rect class="tl-red" x={x + w - 3} y={y} width={3} height={height} rx={1} />
        )}
        {text !== "" && (
          <text
            class={label !== "in"
              ? begun ? "tl-name" : "tl-name tl-later"
              : isMixed
              ? "tl-halo"
              : isInk
              ? "tl-on"
              : "tl-later"}
            x={label === "in" ? x + 6 : label === "before" ? x - 5 : x + w + 5}
            text-anchor={label === "before" ? "end" : undefined}
            y={y + height / 2 + 4}
          >
            {text}
          </text>
        )}
      </g>
    );
  },
);

/** In narrower bars attempts are not drawn. */
const ATTEMPTS_PX = 24;

interface InkProps extends Pick<Drawing, "model" | "scale"> {
  readonly bar: Bar;
  /** The label of the last attempt; "" if the bar has it. */
  readonly label: string;
  readonly y: number;
  readonly height: number;
  readonly to: number;
}

function Ink(
  { bar: { item, x, w }, y, height, to, label, model, scale }: InkProps,
): JSX.Element {
  const isPale = item.status === "canceled";
  const attempts = item.kind === "activity" && item.attempt > 1 && w >= ATTEMPTS_PX
    ? model.attemptsOf(item)
    : [];
  if (attempts.length < 2) {
    return (
      <rect
        class={isPale ? "tl-ink tl-canceled" : "tl-ink"}
        x={x}
        y={y}
        width={Math.max(2, to - x)}
        height={height}
        rx={3}
      />
    );
  }
  return (
    <>
      <rect class="tl-wait" x={x} y={y} width={to - x} height={height} rx={3} />
      {attempts.map(({ number, startMs, endMs, about }) => {
        if (startMs === undefined) return null;
        const from = scale.x(startMs);
        const until = Math.min(to, endMs === undefined ? to : scale.x(endMs));
        const wide = Math.max(2, until - from);
        if (from > to) return null;
        return (
          <g key={number}>
            <rect
              class={about ? "tl-try" : "tl-ink"}
              x={from}
              y={y}
              width={wide}
              height={height}
              rx={3}
            />
            {about && <rect class="tl-red" x={from + wide - 2} y={y} width={2} height={height} />}
            {!about && label !== "" && (
              <text class="tl-on" x={from + 6} y={y + height / 2 + 4}>{label}</text>
            )}
          </g>
        );
      })}
    </>
  );
}

interface PointProps {
  readonly point: Point;
  readonly lane: PlacedLane;
  readonly begun: boolean;
  readonly look: string;
}

const PointShape = still(
  ({ point: { item, x, row, room }, lane, begun, look }: PointProps): JSX.Element => {
    const { step, height, pad } = barIn(lane);
    const y = pad + row * step + (height - 12) / 2;
    const most = Math.floor((Math.min(room, MOST_NAME_PX) - 4) / LETTER_PX);
    const text = most < 3 ? "" : cutTo(item.name, most);
    return (
      <g data-item={item.index} class={look}>
        <title>{barTitle(item)}</title>
        <rect class="tl-hit" x={x - 7} y={y - 2} width={14} height={16} />
        <svg
          x={x - 6}
          y={y}
          width={12}
          height={12}
          viewBox="0 0 16 16"
          class={`k-${COLOR_OF[item.kind]}${begun ? "" : " tl-faint"}`}
        >
          {glyphShape(item.kind)}
        </svg>
        {text !== "" && (
          <text class={begun ? "tl-name" : "tl-name tl-later"} x={x + 10} y={y + 10}>{text}</text>
        )}
      </g>
    );
  },
);

interface StripProps {
  readonly strip: StripOf;
  readonly lane: PlacedLane;
  readonly inkTo: number;
}

/** Darker where more items overlap. */
const StripShape = still(({ strip, lane, inkTo }: StripProps): JSX.Element => {
  const { items, x, w, row } = strip;
  const { step, height, pad } = barIn(lane);
  const y = pad + row * step;
  const density = densityOf(strip);
  const { bad, title } = useMemo(() => stripFacts(items), [items]);
  return (
    <g data-item={items[0]!.index} class="tl-item tl-strip">
      <title>{title}</title>
      {inkTo < x + w && (
        <rect class="tl-dense" x={x} y={y} width={w} height={height} fill-opacity={density * 0.3} />
      )}
      {inkTo > x && (
        <rect
          class="tl-dense"
          x={x}
          y={y}
          width={inkTo - x}
          height={height}
          fill-opacity={density}
        />
      )}
      {bad > 0 && <rect class="tl-red" x={x} y={y + height - 2} width={w} height={2} />}
      {strip.label !== undefined && strip.label !== "" && (
        <text
          class={inkTo > x ? "tl-name" : "tl-name tl-later"}
          x={x + w + 4}
          y={y + height / 2 + 4}
        >
          {strip.label}
        </text>
      )}
    </g>
  );
});
