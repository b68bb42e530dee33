// The timeline as a drawing: one SVG file with nothing outside of it, for a document or a ticket. It is the whole run, in the colours that the
// page has now; names and times are in it, values are not.
import { type JSX, render } from "preact";
import type { OpenRun } from "../app/state.ts";
import { Axis, Ground, Tears } from "../timeline/axis.tsx";
import { LANE_PX, measure, placeLanes } from "../../../ts/report/timeline/geometry.ts";
import { tasksOf } from "../../../ts/report/timeline/notches.ts";
import { cutTo } from "../../../ts/report/timeline/texts.ts";
import { Notches } from "../timeline/run_lane.tsx";
import { type Drawing, LaneShapes } from "../timeline/shapes.tsx";
import { cutsGaps } from "../timeline/view.ts";
import { COLOUR_OF, glyphShape } from "../ui/glyph.tsx";
import { count, lasting } from "../ui/time.ts";

const HEAD_PX = 170;
const LANES_PX = 1120;
/** For the name of what is last. */
const END_PX = 90;
const TITLE_PX = 40;
const AXIS_PX = 25;
const MOST_LETTERS = 22;

/** What of a style the shapes have from the page's sheets. */
const INLINED = [
  ...["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity"],
  ...["font-size", "font-weight", "font-style"],
];

/** The text of the file. */
export function drawingOf(run: OpenRun): string {
  const ground = document.createElement("div");
  ground.className = "timeline drawing-ground";
  ground.setAttribute("aria-hidden", "true");
  document.body.append(ground);
  try {
    render(<Picture run={run} />, ground);
    return textOf(ground.querySelector("svg")!, getComputedStyle(ground).backgroundColor);
  } finally {
    render(null, ground);
    ground.remove();
  }
}

function Picture({ run }: { run: OpenRun }): JSX.Element {
  const { model } = run;
  const measured = measure(model, true);
  const { scale, lanes, height } = placeLanes(measured, LANES_PX, cutsGaps.value, LANE_PX);
  const { id, type, status, startMs, endMs } = model.facts;
  const took = startMs === undefined || endMs === undefined ? "" : `, ${lasting(endMs - startMs)}`;
  const began = startMs === undefined ? "" : `, began ${new Date(startMs).toISOString()}`;
  const sight = { scale, fromX: 0, toX: LANES_PX + END_PX };
  const drawing: Drawing = { ...sight, model, position: model.lines.length, x: LANES_PX + END_PX, shown: undefined };
  const [width, full] = [HEAD_PX + LANES_PX + END_PX, TITLE_PX + AXIS_PX + height + 8];
  return (
    <svg class="tl-svg" width={width} height={full} viewBox={`0 0 ${width} ${full}`}>
      <title>{`${type} ${id}`}</title>
      <text class="tl-name drawing-title" x={12} y={25}>{`${type}  ${id}`}</text>
      <text class="tl-later" x={width - 12} y={25} text-anchor="end">
        {`${status}, ${count(model.lines.length)} events${took}${began}`}
      </text>
      <g transform={`translate(${HEAD_PX} ${TITLE_PX})`}>
        <Axis {...sight} />
      </g>
      <g transform={`translate(0 ${TITLE_PX + AXIS_PX})`}>
        <Name kind="run" label="run" top={0} />
        {lanes.map(({ lane, top }) => <Name key={lane.key} kind={lane.kind} label={lane.label} top={top} />)}
        <g transform={`translate(${HEAD_PX} 0)`}>
          <Ground {...sight} height={height} />
          {[0, ...lanes.map(({ top }) => top), height].map((top) => (
            <line key={top} class="tl-hair" x1={-HEAD_PX} x2={LANES_PX + END_PX} y1={top - 0.5} y2={top - 0.5} />
          ))}
          <g class="tl-run">
            <Notches drawing={drawing} tasks={tasksOf(run.model)} />
          </g>
          {lanes.map((lane) => <LaneShapes key={lane.lane.key} lane={lane} drawing={drawing} />)}
          <Tears {...sight} height={height} />
        </g>
      </g>
    </svg>
  );
}

function Name({ kind, label, top }: { kind: Parameters<typeof glyphShape>[0]; label: string; top: number }): JSX.Element {
  return (
    <g transform={`translate(12 ${top + 6})`}>
      <svg width={12} height={12} viewBox="0 0 16 16" class={`k-${COLOUR_OF[kind]}`}>{glyphShape(kind)}</svg>
      <text class="tl-name" x={20} y={10}>{cutTo(label, MOST_LETTERS)}</text>
    </g>
  );
}

function textOf(svg: SVGSVGElement, background: string): string {
  for (const hit of svg.querySelectorAll(".tl-hit")) hit.remove();
  for (const one of svg.querySelectorAll<SVGElement>("rect, path, line, circle, polygon, polyline, ellipse, text")) {
    const style = getComputedStyle(one);
    for (const name of INLINED) one.setAttribute(name, style.getPropertyValue(name));
  }
  for (const one of [svg, ...svg.querySelectorAll("*")]) {
    one.removeAttribute("class");
    one.removeAttribute("data-item");
  }
  svg.setAttribute("font-family", "system-ui, sans-serif");
  const sheet = document.createElementNS(svg.namespaceURI, "rect");
  for (const [name, value] of [["width", "100%"], ["height", "100%"], ["fill", background]] as const) {
    sheet.setAttribute(name, value);
  }
  svg.prepend(sheet);
  return `${new XMLSerializer().serializeToString(svg)}\n`;
}
