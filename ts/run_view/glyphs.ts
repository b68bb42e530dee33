// The shape and color of each kind of item, used in the list, timeline, code, inspector and
// reports. Color is never the only distinction. Shapes are data, for elements of the page and for
// text of a report.

/** The kinds that have their own shape. */
export type GlyphKind =
  | (
    | "run"
    | "activity"
    | "localActivity"
    | "timer"
    | "signal"
    | "update"
    | "query"
    | "child"
    | "external"
    | "nexus"
  )
  | (
    | "marker"
    | "searchAttributes"
    | "task"
    | "unknown"
    | "park"
    | "whatIf"
    | "difference"
    | "replays"
    | "state"
  );

/** A part of a shape: an SVG element. */
export type ShapePart = readonly [
  tag: "circle" | "path" | "rect",
  attributes: { readonly [name: string]: string | number },
];

const FILL = { fill: "currentColor" };
const drawn = (width: number) => ({ fill: "none", stroke: "currentColor", "stroke-width": width });
const line = (d: string, width: number): ShapePart => [
  "path",
  { d, ...drawn(width), "stroke-linecap": "round", "stroke-linejoin": "round" },
];
const filled = (d: string): ShapePart => ["path", { d, ...FILL }];
const box = (x: number, y: number, width: number, height: number, look: object): ShapePart => [
  "rect",
  { x, y, width, height, ...look },
];
const ring = (
  cx: number,
  cy: number,
  r: number,
  look: object,
): ShapePart => ["circle", { cx, cy, r, ...look }];

/** Shapes in a square of 16 by 16 pixels. */
export const SHAPES: { readonly [kind in GlyphKind]: readonly ShapePart[] } = {
  run: [ring(8, 8, 4.6, FILL)],
  activity: [box(2.5, 2.5, 11, 11, { rx: 2, ...FILL })],
  localActivity: [box(3.3, 3.3, 9.4, 9.4, { rx: 2, ...drawn(1.8) }), ring(8, 8, 2, FILL)],
  timer: [ring(8, 8, 5.6, drawn(2)), line("M8 4.8V8l2.2 1.5", 1.8)],
  signal: [filled("M3.5 2.2 14 8 3.5 13.8z")],
  update: [filled("M8 1.2 14.8 8 8 14.8 1.2 8z")],
  query: [ring(7, 7, 4.4, drawn(2)), line("m10.4 10.4 3.4 3.4", 2.2)],
  child: [box(2.6, 2.6, 10.8, 10.8, drawn(1.8)), box(5.8, 5.8, 4.4, 4.4, FILL)],
  external: [["path", { d: "M4 3 13 8 4 13z", ...drawn(1.8), "stroke-linejoin": "round" }]],
  nexus: [box(1.5, 4.5, 6, 7, FILL), box(8.5, 5.3, 5.2, 5.4, drawn(1.6))],
  marker: [[
    "path",
    { d: "M4 14.5V2h9l-2.4 3.4L13 8.8H5.8", ...drawn(1.4), ...FILL, "stroke-linejoin": "round" },
  ]],
  searchAttributes: [line("M3 2.5h6l4.5 5.5L9 13.5H3zM6 8h.01", 1.8)],
  task: [box(1.5, 7, 13, 2, { rx: 1, ...FILL })],
  unknown: [line("M5.5 5.5a2.5 2.5 0 1 1 3.6 2.3c-.8.4-1.1.9-1.1 1.7M8 12.5h.01", 2)],
  park: [filled("M4 2.5h3v11H4zM9 2.5h3v11H9z")],
  whatIf: [line("M4 2v12M4 9c0-3 7-1 7-5", 1.8), ring(11, 3, 2, FILL)],
  difference: [line("m3.5 3.5 9 9m0-9-9 9", 2.2)],
  state: [
    line(
      "M6.5 2.5C4.6 2.5 4.4 3.6 4.4 5S4 7.4 2.5 8c1.5.6 1.9 1.6 1.9 3s.2 2.5 2.1 2.5m3-11c1.9 0 2.1 1.1 2.1 2.5s.4 2.4 1.9 3c-1.5.6-1.9 1.6-1.9 3s-.2 2.5-2.1 2.5",
      1.8,
    ),
  ],
  replays: [line("m2.5 8.5 3.6 3.8 7.4-8.6", 2.2)],
};

/** The color of a kind as a token name: "activity" for `--activity` and `.k-activity`. */
export const COLOR_OF: { readonly [kind in GlyphKind]: string } = {
  run: "run",
  activity: "activity",
  localActivity: "activity",
  timer: "timer",
  signal: "signal",
  update: "update",
  query: "query",
  child: "child",
  external: "signal",
  nexus: "child",
  marker: "marker",
  searchAttributes: "marker",
  task: "task",
  unknown: "task",
  park: "run",
  whatIf: "if",
  difference: "red",
  replays: "ok",
  state: "task",
};

/** Names of kinds in the user interface. */
export const KIND_NAMES: { readonly [kind in GlyphKind]: string } = {
  run: "run",
  activity: "activity",
  localActivity: "local activity",
  timer: "timer",
  signal: "signal",
  update: "update",
  query: "query",
  child: "child workflow",
  external: "message to another run",
  nexus: "Nexus operation",
  marker: "marker",
  searchAttributes: "search attributes",
  task: "workflow task",
  unknown: "unknown event",
  park: "waits",
  whatIf: "what if",
  difference: "difference",
  replays: "replays",
  state: "state",
};
