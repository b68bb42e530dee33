// All related runs on one time axis: the runs of a chain in one row, its lanes below it, then the
// rows of its children, which can be unfolded as well. It shares the shapes and keys of the
// timeline of one run.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Chain, Family } from "../store/family.ts";
import {
  type OpenRun,
  playing,
  position,
  selected,
  selectItem,
  shownItem,
} from "../store/state.ts";
import { Axis, Ground, Tears } from "../timeline/axis.tsx";
import { useDrag } from "../timeline/drag.ts";
import { eventAt } from "../../../ts/run_view/timeline/geometry.ts";
import { type Drawing, LaneShapes } from "../timeline/shapes.tsx";
import { useKept, useSight } from "../timeline/sight.ts";
import { bindTimelineKeys, cutsGaps, MOST_PX, zoom } from "../timeline/view.ts";
import { alone } from "./alone.ts";
import { watchCodeAlong } from "./code_along.ts";
import { watchLinked } from "./fetch_linked.ts";
import { Heads } from "./heads.tsx";
import { chainLine, chainNumber, findInChain } from "./line.ts";
import { ChainNote } from "./note.tsx";
import { Edges, Pieces } from "./pieces.tsx";
import { ChainPlayhead } from "./playhead.tsx";
import { CHAIN_PX, type ChainRow, type ChainRows, placeFamily, timesOfFamily } from "./rows.ts";
import { enter, family as familyHere } from "./state.ts";
import { Corner } from "./switch.tsx";
import { isUnfolded, watchUnfolded } from "./unfolded.ts";
import "../timeline/timeline.css";
import "./chain.css";

/** As in timeline/timeline.tsx. */
const PAD_PX = 10, END_PX = 80, NARROW_END_PX = 24, MARGIN_PX = 300, NARROW_PX = 720, AXIS_PX = 25;
/** The heads are wider than those of one run: they have a button and are indented. */
const HEAD_PX = 172, NARROW_HEAD_PX = 38;

export function ChainTimeline({ run }: { run: OpenRun }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const { left, wide, held, look } = useSight(scroller);
  const family = familyHere.value ?? alone(run);
  const isNarrow = wide < NARROW_PX;
  const head = isNarrow ? NARROW_HEAD_PX : HEAD_PX;
  const end = isNarrow ? NARROW_END_PX : END_PX;
  const width = Math.min(MOST_PX, Math.max(120, wide - head - PAD_PX - end) * zoom.value);
  const times = useMemo(() => timesOfFamily(family), [family]);
  const unfolded = unfoldedKeys(family);
  const placed = useMemo(
    () => placeFamily(family, times, width, cutsGaps.value, (chain) => isUnfolded(chain, family)),
    [family, times, width, cutsGaps.value, unfolded],
  );
  const { scale, height } = placed;
  const chain = family.chains.get(run)!;
  const line = chainLine(chain);
  const at = chainNumber(chain.pieces.find((piece) => piece.run === run)!, position.value);
  const nowMs = line.clock[at - 1] ?? 0;
  const x = scale.x(nowMs);
  const sight = { fromX: left - MARGIN_PX, toX: left + wide + MARGIN_PX };
  const drawings = drawingsOf(placed, { chain, at, nowMs, x, ...sight });

  useEffect(bindTimelineKeys, []);
  useEffect(watchUnfolded, []);
  useEffect(watchCodeAlong, []);
  useEffect(watchLinked, []);
  useEffect(() => void (zoom.value = 1), [family.root.key]);
  // A step keeps the playhead in view, as in the timeline of one run.
  const asOne = useMemo(() => ({ scale, lanes: [], height, waitsFromX: undefined }), [
    scale,
    height,
  ]);
  useKept({
    scroller,
    held,
    look,
    geometry: asOne,
    clock: line.clock,
    x,
    before: head + PAD_PX,
    head,
  });

  const { axisDown, bodyDown, moved } = useChainDrag(
    placed,
    chain,
    (clientX) => scale.ms(clientX - svg.current!.getBoundingClientRect().left - PAD_PX),
  );
  const pick = (event: MouseEvent) => !moved() && pickIn(placed, event.target as Element);
  const full = width + PAD_PX + end;
  return (
    <div
      class={isNarrow ? "timeline chain narrow" : "timeline chain"}
      data-runs={family.runs.length}
    >
      <div class="tl-scroll" ref={scroller} onScroll={look} tabIndex={-1}>
        <div class="tl-inner" ref={(element) => size(element, full + head, height + AXIS_PX)}>
          <div class="tl-axis" onPointerDown={axisDown}>
            <Corner run={run} isNarrow={isNarrow} />
            <svg aria-hidden="true" ref={(element) => size(element, full, AXIS_PX)}>
              <g transform={`translate(${PAD_PX} 0)`}>
                <Axis scale={scale} {...sight} />
              </g>
            </svg>
            <ChainPlayhead
              run={run}
              chain={chain}
              x={x + head + PAD_PX}
              leastX={head}
              mostX={full + head}
              onDrag={axisDown}
            />
          </div>
          <div class="tl-body">
            <Heads rows={placed.rows} />
            <svg
              class="tl-svg"
              ref={(element) => {
                svg.current = element;
                size(element, full, height);
              }}
              onPointerDown={bodyDown}
              onClick={pick}
            >
              <g transform={`translate(${PAD_PX} 0)`}>
                <Ground scale={scale} {...sight} height={height} />
                {placed.rows.map((row, i) => (
                  <Row
                    key={row.line.chain.key}
                    row={row}
                    index={i}
                    drawing={drawings[i]!}
                    run={run}
                    full={full}
                  />
                ))}
                <Tears scale={scale} {...sight} height={height} />
                <line class="tl-now" x1={x} x2={x} y1={0} y2={height} />
              </g>
            </svg>
          </div>
        </div>
      </div>
      <ChainNote family={family} />
    </div>
  );
}

function Row({ row, index, drawing, run, full }: {
  readonly row: ChainRow;
  readonly index: number;
  readonly drawing: Drawing;
  readonly run: OpenRun;
  readonly full: number;
}): JSX.Element {
  const { line: { chain }, top, lanes, bottom, depth } = row;
  const tops = [...(index === 0 ? [] : [top]), ...lanes.map(({ top }) => top)];
  return (
    <g data-chain={index}>
      {tops.map((y) => (
        <line key={y} class="tl-hair" x1={-PAD_PX} x2={full} y1={y - 0.5} y2={y - 0.5} />
      ))}
      <Edges chain={chain} drawing={drawing} top={top + CHAIN_PX} bottom={bottom} />
      <g class={depth === 0 ? "ch-row" : "ch-row k-child"} transform={`translate(0 ${top})`}>
        <Pieces chain={chain} drawing={drawing} current={run} />
      </g>
      {lanes.map((lane) => <LaneShapes key={lane.lane.key} lane={lane} drawing={drawing} />)}
    </g>
  );
}

interface Now {
  readonly chain: Chain;
  readonly at: number;
  readonly nowMs: number;
  readonly x: number;
  readonly fromX: number;
  readonly toX: number;
}

/** The current chain is drawn at the current event, the others at the time of that event. */
function drawingsOf(
  { rows, scale }: ChainRows,
  { chain, at, nowMs, x, fromX, toX }: Now,
): readonly Drawing[] {
  const shown = selected.value ?? shownItem.value;
  return rows.map(({ line }) => {
    const began = (line.clock[0] ?? 0) <= nowMs;
    const position = line.chain === chain ? at : began ? eventAt(line.clock, nowMs) : 0;
    const own = line.chain === chain && shown !== undefined ? line.own.get(shown) : undefined;
    const isRecorded = line.chain.pieces.every(({ run }) => run.code.value === undefined);
    return {
      model: line.model,
      scale,
      position,
      x,
      shown: own,
      fromX,
      toX,
      waitsFromX: undefined,
      isRecorded,
    };
  });
}

/** Dragging the axis moves in the current chain; dragging a row moves in the chain of that row. */
function useChainDrag(
  { rows }: ChainRows,
  chain: Chain,
  timeAt: (clientX: number) => number,
): { axisDown(event: PointerEvent): void; bodyDown(event: PointerEvent): void; moved(): boolean } {
  const held = useRef(chain);
  const drag = useDrag((clientX) => {
    playing.value = false;
    const { piece, eventId } = findInChain(
      held.current,
      eventAt(chainLine(held.current).clock, timeAt(clientX)),
    );
    enter(piece.run, eventId);
  });
  return {
    moved: drag.moved,
    axisDown(event) {
      held.current = chain;
      drag.down(event);
    },
    bodyDown(event) {
      const at = (event.target as Element).closest<SVGElement>("[data-chain]")?.dataset["chain"];
      const { top } = (event.currentTarget as Element).getBoundingClientRect();
      const row = at === undefined
        ? rows.findLast((row) => row.top <= event.clientY - top)
        : rows[Number(at)];
      held.current = row?.line.chain ?? chain;
      drag.down(event);
    },
  };
}

/** A click on an item moves to its run, to the item's first event. */
function pickIn({ rows }: ChainRows, target: Element): void {
  const row = rows[Number(target.closest<SVGElement>("[data-chain]")?.dataset["chain"])];
  const at = target.closest<SVGElement>("[data-item]")?.dataset["item"];
  if (row === undefined || at === undefined) return;
  playing.value = false;
  const { piece, item } = row.line.origins[Number(at)]!;
  enter(piece.run, Math.max(piece.first, item.from));
  selectItem(item);
}

/** A key that changes when a row is folded or unfolded. */
function unfoldedKeys(family: Family): string {
  const keys: string[] = [];
  const look = (chain: Chain) => {
    if (isUnfolded(chain, family)) keys.push(chain.key);
    for (const child of chain.children) look(child);
  };
  look(family.root);
  return keys.join(" ");
}

function size(element: HTMLElement | SVGElement | null, width: number, height: number): void {
  element?.style.setProperty("width", `${width}px`);
  element?.style.setProperty("height", `${height}px`);
}
