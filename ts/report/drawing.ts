// The timeline of a report as SVG text: lanes, bars with their attempts, glyphs and strips, in the
// layout of the page. All of it is ink; items that are open at the end have a dashed edge. A report
// has several widths of it and shows the one that fits.
import type { RunItem, RunModel } from "../debug/run/types.ts";
import { COLOR_OF, type GlyphKind, SHAPES } from "../run_view/glyphs.ts";
import { element, type Html, markup, type Part } from "./html.ts";
import { clock, count, lasting } from "../run_view/time.ts";
import {
  barIn,
  LANE_PX,
  measure,
  type Measured,
  type PlacedLane,
  placeLanes,
} from "../run_view/timeline/geometry.ts";
import {
  type Bar,
  barText,
  formatAttempt,
  LETTER_PX,
  MOST_NAME_PX,
  type Point,
  type StripOf,
} from "../run_view/timeline/layout.ts";
import { notchesIn, type TaskMark, tasksOf } from "../run_view/timeline/notches.ts";
import { APART_PX, type Scale, tear, ticksOf } from "../run_view/timeline/scale.ts";
import { barTitle, cutTo, densityOf, isDrawnRed, stripFacts } from "../run_view/timeline/texts.ts";

const AXIS_PX = 25;
/** Height of a lane's name above the lane, used without space to the left. */
const ABOVE_PX = 18;
const ROOM_BESIDE = 132;
const ATTEMPTS_PX = 24;

export interface DrawingOptions {
  /** Total width, in pixels. */
  readonly width: number;
  /** The event at which code and history diverge; 0: no divergence. */
  readonly problem: number;
  /** Cut out idle stretches. Default: true. */
  readonly cuts?: boolean;
  /** The time at which an open run was read, in ms. Default: unknown, the drawing ends before. */
  readonly nowMs?: number | undefined;
}

/** A drawing and its size. */
interface Drawn {
  readonly inner: Part;
  readonly height: number;
}

interface Drawing {
  readonly model: RunModel;
  readonly scale: Scale;
  readonly width: number;
  /** X coordinate at which lanes begin. */
  readonly left: number;
  readonly isAbove: boolean;
  /** Where the wait of an open run begins; undefined if it is not drawn. */
  readonly waitsFromX: number | undefined;
}

const known = new WeakMap<RunModel, Measured>();
const measured = (model: RunModel): Measured => {
  let of = known.get(model);
  if (of === undefined) known.set(model, of = measure(model, true));
  return of;
};

/** Returns the timeline of a run as an `svg` element. */
export function drawingOf(model: RunModel, options: DrawingOptions): Html {
  const { width } = options;
  const { inner, height } = drawn(model, options);
  const { type, id, status, startMs, endMs } = model.facts;
  const took = startMs === undefined || endMs === undefined
    ? ""
    : ` in ${lasting(endMs - startMs)}`;
  const label = `Timeline of ${type} ${cutTo(id, 80)}: ${
    count(model.lines.length)
  } events${took}, ${status}`;
  return element(
    "svg",
    {
      class: "tl",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": label,
      "data-w": width,
    },
    inner,
  );
}

/** Draws the content of the `svg` element. */
export function drawn(
  model: RunModel,
  { width, problem, cuts = true, nowMs }: DrawingOptions,
): Drawn {
  const isAbove = width < 520;
  const left = isAbove ? 4 : ROOM_BESIDE;
  const inner = width - left - 66;
  const { clock: times } = measured(model);
  const untilMs = model.facts.status === "Running" ? nowMs : undefined;
  const { scale, lanes, waitsFromX } = placeLanes(
    measured(model),
    inner,
    cuts,
    LANE_PX,
    undefined,
    untilMs,
  );
  const drawing = { model, scale, width, left, isAbove, waitsFromX };
  const above = isAbove ? ABOVE_PX : 0;
  let at = AXIS_PX + above + LANE_PX;
  const placed = lanes.map((lane) => {
    const top = at + above;
    at = top + lane.height;
    return { lane, top };
  });
  const tasks = tasksOf(model);
  const rows: Part[] = [
    laneOf(drawing, "run", "run", AXIS_PX + above, LANE_PX, [
      waits(drawing, tasks),
      notches(drawing, tasks),
    ]),
    ...placed.map(({ lane, top }) =>
      laneOf(drawing, lane.lane.kind, lane.lane.label, top, lane.height, shapesOf(drawing, lane))
    ),
  ];
  const x = problem > 0 ? left + scale.x(times[problem - 1] ?? 0) : 0;
  const inside: Part = [
    ground(drawing, at),
    ...rows,
    tears(drawing, at),
    nowMark(drawing, at),
    problem > 0 &&
    markup`<g><path class="pin" d="M${r(x)} ${
      AXIS_PX - 4
    }V${at}"/><title>Code and history diverge at event ${count(problem)}</title></g>`,
  ];
  return { inner: inside, height: at + 4 };
}

/** Rounds to a tenth of a pixel, for short numbers. */
const r = (x: number): number => Math.round(x * 10) / 10;

function laneOf(
  { width, left, isAbove }: Drawing,
  kind: GlyphKind,
  label: string,
  top: number,
  height: number,
  inner: Part,
): Html {
  const [x, y] = isAbove ? [left, top - ABOVE_PX + 4] : [2, top + 6];
  const most = isAbove
    ? Math.floor((width - 30) / LETTER_PX)
    : Math.floor((ROOM_BESIDE - 26) / LETTER_PX * 1.1);
  const name = markup`<svg x="${x}" y="${y}" width="12" height="12" viewBox="0 0 16 16" class="k-${
    COLOR_OF[kind]
  }">${shapeOf(kind)}</svg>
<text x="${x + 18}" y="${y + 10}" class="head">${cutTo(label, most)}</text>`;
  return markup`<path class="hair" d="M0 ${
    r(isAbove ? top - ABOVE_PX : top) + 0.5
  }H${width}"/>${name}
<g transform="translate(${left} ${top})" class="k-${
    COLOR_OF[kind]
  }">${inner}</g><path class="hair" d="M0 ${top + height + 0.5}H${width}"/>
`;
}

/** Returns the SVG elements of a glyph. */
export const shapeOf = (kind: GlyphKind): readonly Html[] =>
  SHAPES[kind].map(([tag, attributes]) => element(tag, attributes));

function ground({ scale, left, width, isAbove }: Drawing, height: number): Html {
  const ticks = ticksOf(scale, 0, width, isAbove ? APART_PX * 0.8 : APART_PX);
  return markup`<g transform="translate(${left} 0)">${
    scale.pieces.filter(({ isCut }) => isCut).map(({ x0, x1, fromMs, toMs }) =>
      markup`<rect class="gap" x="${r(x0)}" y="${AXIS_PX}" width="${r(x1 - x0)}" height="${
        height - AXIS_PX
      }"><title>${lasting(toMs - fromMs)} are cut out here</title></rect>`
    )
  }${
    ticks.map(({ x, ms, digits, isCut }) =>
      isCut
        ? markup`<text class="tick cut" x="${r(x)}" y="16" text-anchor="middle">${
          lasting(ms)
        }</text>`
        : markup`<text class="tick" x="${r(x)}" y="16">${
          clock(ms, digits)
        }</text><path class="hair" d="M${r(x)} ${AXIS_PX}V${height}"/>`
    )
  }</g>
`;
}

/** Torn edges of cut gaps, drawn over bars that continue after the gap. */
const tears = ({ scale, left }: Drawing, height: number): Html =>
  markup`<g transform="translate(${left} ${AXIS_PX})">${
    scale.pieces.filter(({ isCut }) => isCut).map(({ x1 }) =>
      markup`<path class="tear" d="${tear(r(x1 - 15), height - AXIS_PX - 6)}"/>`
    )
  }</g>`;

/** The end of the wait of an open run: the time at which it was read. */
function nowMark({ scale, left, waitsFromX }: Drawing, height: number): Part {
  if (waitsFromX === undefined) return undefined;
  const x = r(left + scale.width);
  return markup`<g><title>The run was open when its history was read</title><path class="until" d="M${x} ${AXIS_PX}V${height}"/>
<text class="tick" x="${x + 4}" y="16">now</text></g>`;
}

function notches({ scale, width }: Drawing, tasks: readonly TaskMark[]): readonly Html[] {
  return notchesIn(tasks, scale, 0, width).map(({ task, x }) =>
    element("rect", {
      class: task.isBad ? "notch bad" : "notch",
      x: r(x - 1),
      y: LANE_PX - 8,
      width: 2,
      height: 8,
    })
  );
}

/** Draws the wait of an open run since its last task. */
function waits({ model, scale }: Drawing, tasks: readonly TaskMark[]): Part {
  const last = tasks.at(-1);
  if (model.facts.status !== "Running" || last === undefined) return undefined;
  const x = scale.x(last.doneMs);
  return element("rect", {
    class: "waits",
    x: r(x),
    y: 4,
    width: r(Math.max(2, scale.width - x)),
    height: LANE_PX - 8,
    rx: 3,
  });
}

/** If a lane has more shapes, overlapping ones are drawn as one. */
const MOST_SHAPES = 400;

function condensed({ shapes }: PlacedLane): PlacedLane["shapes"] {
  if (shapes.length <= MOST_SHAPES) return shapes;
  const strips: { is: "strip"; items: RunItem[]; x: number; w: number; row: number }[] = [];
  const last = new Map<number, (typeof strips)[number]>();
  for (const { x, row, ...shape } of shapes) {
    const w = shape.is === "point" ? 4 : shape.w;
    const items = shape.is === "strip" ? shape.items : [shape.item];
    const before = last.get(row);
    if (before !== undefined && x <= before.x + before.w + 1) {
      before.items.push(...items);
      before.w = Math.max(before.w, x + w - before.x);
    } else {
      const strip = { is: "strip" as const, items: [...items], x, w, row };
      strips.push(strip);
      last.set(row, strip);
    }
  }
  return strips;
}

function shapesOf(drawing: Drawing, lane: PlacedLane): readonly Html[] {
  return condensed(lane).map((shape) =>
    shape.is === "bar"
      ? barOf(drawing, lane, shape)
      : shape.is === "point"
      ? pointOf(lane, shape)
      : stripOf(lane, shape)
  );
}

function barOf(
  { model, scale, waitsFromX }: Drawing,
  lane: PlacedLane,
  { item, x, w, row, label }: Bar,
): Html {
  const { step, height, pad } = barIn(lane);
  const y = pad + row * step;
  const { isOneName } = lane.lane;
  const attempts = item.kind === "activity" && item.attempt > 1 && w >= ATTEMPTS_PX
    ? model.attemptsOf(item)
    : [];
  const hasAttempts = attempts.length > 1;
  const text = label === "none" || (hasAttempts && isOneName && label === "in")
    ? ""
    : barText(item, lane.lane);
  const isOpen = item.closedBy === undefined;
  const look = isOpen
    ? "open"
    : item.status === "canceled"
    ? "ink pale"
    : hasAttempts
    ? "wait"
    : "ink";
  // The part up to the last event is recorded.
  const recorded = isOpen && waitsFromX !== undefined && !hasAttempts && waitsFromX > x
    ? element("rect", { class: "ink", x: r(x), y, width: r(waitsFromX - x), height, rx: 3 })
    : undefined;
  const bar = {
    x: r(isOpen ? x + 0.5 : x),
    y: isOpen ? y + 0.5 : y,
    width: r(Math.max(2, w)),
    height: isOpen ? height - 1 : height,
    rx: 3,
  };
  return markup`<g><title>${barTitle(item)}</title>${
    element("rect", { class: look, ...bar })
  }${recorded}${
    hasAttempts &&
    attemptsOf(scale, attempts, {
      x,
      w,
      y,
      height,
      label: isOneName ? formatAttempt(item.attempt) : "",
    })
  }${
    !isOpen && isDrawnRed(item) &&
    element("rect", { class: "bad", x: r(x + w - 3), y, width: 3, height, rx: 1 })
  }${
    text !== "" &&
    markup`<text class="${
      recorded !== undefined && label === "in"
        ? "halo"
        : label !== "in" || isOpen
        ? "name"
        : hasAttempts || item.status === "canceled"
        ? "halo"
        : "on"
    }" x="${r(label === "in" ? x + 6 : label === "before" ? x - 5 : x + w + 5)}"${
      label === "before" && markup` text-anchor="end"`
    } y="${y + height / 2 + 4}">${text}</text>`
  }</g>`;
}

interface AttemptsAt {
  readonly x: number;
  readonly w: number;
  readonly y: number;
  readonly height: number;
  /** The label of the last attempt; "" if the bar has it. */
  readonly label: string;
}

function attemptsOf(
  scale: Scale,
  attempts: ReturnType<RunModel["attemptsOf"]>,
  { x, w, y, height, label }: AttemptsAt,
): readonly Part[] {
  return attempts.map(({ startMs, endMs, about }): Part => {
    if (startMs === undefined) return undefined;
    const from = scale.x(startMs);
    const wide = Math.max(
      2,
      (endMs === undefined ? x + w : Math.min(x + w, scale.x(endMs))) - from,
    );
    return [
      element("rect", {
        class: about ? "try" : "ink",
        x: r(from),
        y,
        width: r(wide),
        height,
        rx: 3,
      }),
      about && element("rect", { class: "bad", x: r(from + wide - 2), y, width: 2, height }),
      !about && label !== "" && wide >= label.length * LETTER_PX + 12 &&
      markup`<text class="on" x="${r(from + 6)}" y="${y + height / 2 + 4}">${label}</text>`,
    ];
  });
}

function pointOf(lane: PlacedLane, { item, x, row, room }: Point): Html {
  const { step, height, pad } = barIn(lane);
  const y = pad + row * step + (height - 12) / 2;
  const most = Math.floor((Math.min(room, MOST_NAME_PX) - 4) / LETTER_PX);
  return markup`<g><title>${barTitle(item)}</title><svg x="${
    r(x - 6)
  }" y="${y}" width="12" height="12" viewBox="0 0 16 16" class="k-${COLOR_OF[item.kind]}">${
    shapeOf(item.kind)
  }</svg>${
    most >= 3 &&
    markup`<text class="name" x="${r(x + 10)}" y="${y + 10}">${cutTo(item.name, most)}</text>`
  }</g>`;
}

function stripOf(lane: PlacedLane, strip: StripOf): Html {
  const { step, height, pad } = barIn(lane);
  const [x, w, y] = [r(strip.x), r(strip.w), pad + strip.row * step];
  const { bad, title } = stripFacts(strip.items as readonly RunItem[]);
  const opacity = Math.round(densityOf(strip) * 100) / 100;
  return markup`<g><title>${title}</title>${
    element("rect", { class: "ink", x, y, width: w, height, "fill-opacity": opacity })
  }${bad > 0 && element("rect", { class: "bad", x, y: y + height - 2, width: w, height: 2 })}${
    strip.label !== undefined && strip.label !== "" &&
    markup`<text class="name" x="${r(x + w + 4)}" y="${y + height / 2 + 4}">${strip.label}</text>`
  }</g>`;
}
