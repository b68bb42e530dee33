// The run over time: one lane per kind of item or name, in real time or with its gaps cut, and the
// playhead.
//
// It is an svg in a scrolling element, so texts can be searched and read by screen readers.
// Invisible shapes are not drawn and small ones are merged: 51,200 events are some hundred shapes.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import {
  goTo,
  length,
  type OpenRun,
  playing,
  position,
  selected,
  selectItem,
  shownItem,
  shownView,
} from "../store/state.ts";
import { Corner } from "../chain/switch.tsx";
import { Arrows } from "./arrow_shapes.tsx";
import { arrowsOf, causesByTask } from "./arrows.ts";
import { Axis, Ground, Hairs, Tears } from "./axis.tsx";
import { useDrag } from "./drag.ts";
import { eventAt, LANE_PX, measure, placeLanes } from "../../../ts/run_view/timeline/geometry.ts";
import { Head } from "./head.tsx";
import { Playhead } from "./playhead.tsx";
import { tasksOf } from "../../../ts/run_view/timeline/notches.ts";
import { RunLane } from "./run_lane.tsx";
import { sessionLanes } from "./session_lanes.ts";
import { SessionLaneShapes } from "./session_lane_shapes.tsx";
import { type Drawing, LaneShapes } from "./shapes.tsx";
import { useKept, useSight } from "./sight.ts";
import { Until, UntilText, useNow } from "./now.tsx";
import "./timeline.css";
import { bindTimelineKeys, cutsGaps, MOST_PX, zoom } from "./view.ts";

/** Space before the first event, and after the last one for its name. */
const PAD_PX = 10;
const END_PX = 80;
const NARROW_END_PX = 24;
/** Shapes this far outside of the visible part are drawn as well. */
const MARGIN_PX = 300;
/** Width of the heads of lanes: names, or only glyphs on narrow screens. As in timeline.css. */
const HEAD_PX = 132;
const NARROW_HEAD_PX = 30;
const NARROW_PX = 720;

export function Timeline({ run }: { run: OpenRun }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const { left, wide, held, look } = useSight(scroller);
  const byName = run.code.value === undefined;
  const measured = useMemo(() => measure(run.model, byName), [run, byName]);
  const tasks = useMemo(() => tasksOf(run.model), [run]);
  const head = wide < NARROW_PX ? NARROW_HEAD_PX : HEAD_PX;
  const end = wide < NARROW_PX ? NARROW_END_PX : END_PX;
  const width = Math.min(MOST_PX, Math.max(120, wide - head - PAD_PX - end) * zoom.value);
  const session = run.session.value;
  const laid = useMemo(() => sessionLanes(run.model, session, measured.clock), [
    run,
    session,
    measured,
  ]);
  const nowMs = useNow(run);
  const geometry = useMemo(
    () => placeLanes(measured, width, cutsGaps.value, LANE_PX * (1 + laid.length), end, nowMs),
    [measured, width, cutsGaps.value, laid.length, end, nowMs],
  );
  const { scale, lanes, height, waitsFromX } = geometry;
  const causes = useMemo(() => session === undefined ? undefined : causesByTask(session), [
    session,
  ]);
  const woken = causes?.get(shownView.value?.task?.eventId ?? 0);
  const arrows = session === undefined || woken === undefined ? NO_ARROWS : arrowsOf(woken, {
    model: run.model,
    session,
    scale,
    clock: measured.clock,
    added: laid,
    lanes,
  });
  const x = scale.x(measured.clock[position.value - 1] ?? 0);
  const drawing: Drawing = {
    model: run.model,
    scale,
    position: position.value,
    x,
    shown: selected.value ?? shownItem.value,
    fromX: left - MARGIN_PX,
    toX: left + wide + MARGIN_PX,
    isRecorded: byName,
    waitsFromX,
  };

  useEffect(bindTimelineKeys, []);
  useEffect(() => void (zoom.value = 1), [run]);

  useKept({
    scroller,
    held,
    look,
    geometry,
    clock: measured.clock,
    x,
    before: head + PAD_PX,
    head,
  });

  /** The event under the pointer. */
  const eventUnder = (clientX: number) =>
    eventAt(measured.clock, scale.ms(clientX - svg.current!.getBoundingClientRect().left - PAD_PX));
  const drag = useDrag((clientX) => {
    playing.value = false;
    goTo(eventUnder(clientX));
  });
  const pick = (event: MouseEvent) => {
    const at = (event.target as Element).closest<SVGElement>("[data-item]")?.dataset["item"];
    if (at === undefined || drag.moved()) return;
    playing.value = false;
    selectItem(run.model.items[Number(at)]!);
  };
  const full = width + PAD_PX + end;
  return (
    <div class={head === NARROW_HEAD_PX ? "timeline narrow" : "timeline"}>
      <div class="tl-scroll" ref={scroller} onScroll={look} tabIndex={-1}>
        <div class="tl-inner" ref={(element) => place(element, full + head, height + AXIS_PX)}>
          <div class="tl-axis" onPointerDown={drag.down}>
            <Corner run={run} isNarrow={head === NARROW_HEAD_PX} />
            <svg aria-hidden="true" ref={(element) => place(element, full, AXIS_PX)}>
              <g transform={`translate(${PAD_PX} 0)`}>
                <Axis scale={scale} fromX={drawing.fromX} toX={drawing.toX} />
                <UntilText x={waitsFromX === undefined ? undefined : scale.width} />
              </g>
            </svg>
            <Playhead
              run={run}
              x={x + head + PAD_PX}
              leastX={head}
              mostX={full + head}
              onDrag={drag.down}
              last={length.value}
            />
          </div>
          <div class="tl-body">
            <ul class="tl-heads" aria-label="Lanes">
              <Head kind="run" label="run" height={LANE_PX} />
              {laid.map(({ key, kind, label }) => (
                <Head key={key} kind={kind} label={label} height={LANE_PX} />
              ))}
              {lanes.map(({ lane, height }) => (
                <Head
                  key={lane.key}
                  kind={lane.kind}
                  label={lane.label}
                  height={height}
                  count={lane.items.length}
                />
              ))}
            </ul>
            <svg
              class="tl-svg"
              ref={(element) => {
                svg.current = element;
                place(element, full, height);
              }}
              onPointerDown={drag.down}
              onClick={pick}
            >
              <g transform={`translate(${PAD_PX} 0)`}>
                <Ground scale={scale} fromX={drawing.fromX} toX={drawing.toX} height={height} />
                <Hairs added={laid.length} lanes={lanes} from={-PAD_PX} to={full} />
                <RunLane run={run} drawing={drawing} tasks={tasks} />
                <SessionLaneShapes lanes={laid} drawing={drawing} />
                {lanes.map((lane) => (
                  <LaneShapes key={lane.lane.key} lane={lane} drawing={drawing} />
                ))}
                <Tears scale={scale} fromX={drawing.fromX} toX={drawing.toX} height={height} />
                <Arrows arrows={arrows} />
                <Until x={waitsFromX === undefined ? undefined : scale.width} height={height} />
                <line class="tl-now" x1={x} x2={x} y1={0} y2={height} />
              </g>
            </svg>
          </div>
        </div>
      </div>
    </div>
  );
}

const AXIS_PX = 25;
const NO_ARROWS: ReturnType<typeof arrowsOf> = [];

function place(element: HTMLElement | SVGElement | null, width: number, height: number): void {
  element?.style.setProperty("width", `${width}px`);
  element?.style.setProperty("height", `${height}px`);
}
