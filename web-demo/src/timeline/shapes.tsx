// What lies in a lane: bars with their tries, glyphs with their names, strips of what is too small. Ink is what has happened at the position;
// the rest is drawn in pencil.
import type { JSX } from "preact";
import type { RunItem, RunModel } from "../app/run_model.ts";
import { COLOUR_OF, glyphShape } from "../ui/glyph.tsx";
import { count, lasting } from "../ui/time.ts";
import { barIn, type PlacedLane } from "./geometry.ts";
import { type Bar, barText, LETTER_PX, type Point, shapesIn, type StripOf, triesText } from "./layout.ts";
import type { Scale } from "./scale.ts";

export interface Drawing {
  readonly model: RunModel;
  readonly scale: Scale;
  readonly position: number;
  /** Of the playhead. */
  readonly x: number;
  readonly shown: RunItem | undefined;
  readonly fromX: number;
  readonly toX: number;
}

export function LaneShapes({ lane, drawing }: { lane: PlacedLane; drawing: Drawing }): JSX.Element {
  return (
    <g class={`tl-lane k-${COLOUR_OF[lane.lane.kind]}`} transform={`translate(0 ${lane.top})`}>
      {shapesIn(lane, drawing.fromX, drawing.toX).map((shape) =>
        shape.is === "bar"
          ? <BarShape key={shape.item.index} bar={shape} lane={lane} drawing={drawing} />
          : shape.is === "point"
          ? <PointShape key={shape.item.index} point={shape} lane={lane} drawing={drawing} />
          : <StripShape key={shape.items[0]!.index} strip={shape} lane={lane} drawing={drawing} />
      )}
    </g>
  );
}

interface Of<T> {
  readonly lane: PlacedLane;
  readonly drawing: Drawing;
  readonly bar: T;
}

const isBad = ({ status }: RunItem) => status === "failed" || status === "timedOut" || status === "terminated";

function BarShape({ bar, lane, drawing }: Of<Bar>): JSX.Element {
  const { item, x, w, row, label } = bar;
  const { step, height, pad } = barIn(lane);
  const y = pad + row * step;
  const { position } = drawing;
  const begun = item.from <= position;
  const done = item.closedBy !== undefined && item.closedBy <= position;
  const inkTo = done ? x + w : begun ? Math.max(x, Math.min(x + w, drawing.x)) : x;
  // Where tries are seen the last one says which it is.
  const hasTries = item.kind === "activity" && item.attempt > 1 && w >= TRIES_PX;
  const text = label === "none" || (hasTries && lane.lane.isOneName && label === "in") ? "" : barText(item, lane.lane);
  const isInk = done || (begun && label === "in" && inkTo - x >= text.length * LETTER_PX + 10);
  return (
    <g data-item={item.index} class={drawing.shown === item ? "tl-item tl-shown" : "tl-item"}>
      <title>{titleOf(item)}</title>
      <rect class="tl-hit" x={x - 2} y={y - 4} width={w + 4} height={height + 8} />
      {inkTo < x + w && <rect class="tl-pencil" x={x + 0.5} y={y + 0.5} width={Math.max(1, w - 1)} height={height - 1} rx={3} />}
      {inkTo > x && <Ink bar={bar} y={y} height={height} to={inkTo} isOneName={lane.lane.isOneName} drawing={drawing} />}
      {done && isBad(item) && <rect class="tl-red" x={x + w - 3} y={y} width={3} height={height} rx={1} />}
      {text !== "" && (
        <text
          class={label === "after" ? begun ? "tl-name" : "tl-name tl-later" : isInk ? "tl-on" : "tl-later"}
          x={label === "in" ? x + 6 : x + w + 5}
          y={y + height / 2 + 4}
        >
          {text}
        </text>
      )}
    </g>
  );
}

/** Below this tries are not told apart. */
const TRIES_PX = 24;

function Ink({ bar: { item, x, w }, y, height, to, isOneName, drawing }: {
  bar: Bar;
  isOneName: boolean;
  y: number;
  height: number;
  to: number;
  drawing: Drawing;
}): JSX.Element {
  const isPale = item.status === "canceled";
  const tries = item.kind === "activity" && item.attempt > 1 && w >= TRIES_PX ? drawing.model.attemptsOf(item) : [];
  const nth = triesText(item.attempt);
  if (tries.length < 2) {
    return (
      <rect class={isPale ? "tl-ink tl-canceled" : "tl-ink"} x={x} y={y} width={Math.max(2, to - x)} height={height} rx={3} />
    );
  }
  return (
    <>
      <rect class="tl-wait" x={x} y={y} width={to - x} height={height} rx={3} />
      {tries.map(({ number, startMs, endMs, about }) => {
        if (startMs === undefined) return null;
        const from = drawing.scale.x(startMs);
        const until = Math.min(to, endMs === undefined ? to : drawing.scale.x(endMs));
        const wide = Math.max(2, until - from);
        if (from > to) return null;
        return (
          <g key={number}>
            <rect class={about ? "tl-try" : "tl-ink"} x={from} y={y} width={wide} height={height} rx={3} />
            {about && <rect class="tl-red" x={from + wide - 2} y={y} width={2} height={height} />}
            {!about && isOneName && wide >= nth.length * LETTER_PX + 12 && (
              <text class="tl-on" x={from + 6} y={y + height / 2 + 4}>{nth}</text>
            )}
          </g>
        );
      })}
    </>
  );
}

function PointShape(
  { point: { item, x, room }, lane, drawing }: { point: Point; lane: PlacedLane; drawing: Drawing },
): JSX.Element {
  const begun = item.from <= drawing.position;
  const y = (lane.height - 12) / 2;
  const most = Math.floor((Math.min(room, 240) - 4) / LETTER_PX);
  const text = most < 3 ? "" : cutTo(item.name, most);
  return (
    <g data-item={item.index} class={drawing.shown === item ? "tl-item tl-shown" : "tl-item"}>
      <title>{titleOf(item)}</title>
      <rect class="tl-hit" x={x - 7} y={0} width={14} height={lane.height} />
      <svg
        x={x - 6}
        y={y}
        width={12}
        height={12}
        viewBox="0 0 16 16"
        class={`k-${COLOUR_OF[item.kind]}${begun ? "" : " tl-faint"}`}
      >
        {glyphShape(item.kind)}
      </svg>
      {text !== "" && <text class={begun ? "tl-name" : "tl-name tl-later"} x={x + 10} y={y + 10}>{text}</text>}
    </g>
  );
}

/** Darker where more of them lie. */
function StripShape(
  { strip: { items, x, w, row }, lane, drawing }: { strip: StripOf; lane: PlacedLane; drawing: Drawing },
): JSX.Element {
  const { step, height, pad } = barIn(lane);
  const y = pad + row * step;
  const density = Math.min(1, 0.45 + items.length / Math.max(1, w) / 3);
  const [first, last] = [items[0]!, items.at(-1)!];
  const inkTo = last.from <= drawing.position
    ? x + w
    : first.from > drawing.position
    ? x
    : Math.min(x + w, Math.max(x, drawing.x));
  const bad = items.filter(isBad).length;
  return (
    <g data-item={first.index} class="tl-item tl-strip">
      <title>
        {`${count(items.length)} in ${lasting((last.endMs ?? last.startMs!) - first.startMs!)}${
          bad > 0 ? `, ${count(bad)} failed` : ""
        }: ${namesOf(items)}`}
      </title>
      {inkTo < x + w && <rect class="tl-dense" x={x} y={y} width={w} height={height} fill-opacity={density * 0.3} />}
      {inkTo > x && <rect class="tl-dense" x={x} y={y} width={inkTo - x} height={height} fill-opacity={density} />}
      {bad > 0 && <rect class="tl-red" x={x} y={y + height - 2} width={w} height={2} />}
    </g>
  );
}

function namesOf(items: readonly RunItem[]): string {
  const names = [...new Set(items.slice(0, 1000).map(({ name }) => name))];
  return names.slice(0, 3).join(", ") + (names.length > 3 ? " and others" : "");
}

export const cutTo = (text: string, most: number): string => text.length <= most ? text : `${text.slice(0, most - 1)}…`;

function titleOf({ name, status, startMs, endMs, attempt, from, to }: RunItem): string {
  const took = startMs !== undefined && endMs !== undefined && endMs > startMs ? `, ${lasting(endMs - startMs)}` : "";
  const tries = attempt > 1 ? `, ${attempt} tries` : "";
  const end = status === "completed" ? "" : `, ${WORDS[status] ?? status}`;
  return `${name}${end}${tries}${took}, ${from === to ? `event ${from}` : `events ${from} to ${to}`}`;
}

const WORDS: { readonly [status: string]: string } = { timedOut: "timed out", open: "still open" };
