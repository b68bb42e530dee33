// A shape and a colour for each kind of thing in a history: colour is never the only sign. A filled square is an activity in the list, in
// the timeline, in the code and in the inspector.
import type { JSX } from "preact";

/** What has a shape of its own. */
export type GlyphKind =
  | ("run" | "activity" | "localActivity" | "timer" | "signal" | "update" | "query" | "child" | "external" | "nexus")
  | ("marker" | "searchAttributes" | "task" | "unknown" | "park" | "whatIf" | "difference" | "replays" | "state");

const line = (d: string, width: number) => (
  <path d={d} fill="none" stroke="currentColor" stroke-width={width} stroke-linecap="round" stroke-linejoin="round" />
);
const filled = (d: string) => <path d={d} fill="currentColor" />;

const SHAPES: { readonly [kind in GlyphKind]: () => JSX.Element } = {
  run: () => <circle cx="8" cy="8" r="4.6" fill="currentColor" />,
  activity: () => <rect x="2.5" y="2.5" width="11" height="11" rx="2" fill="currentColor" />,
  localActivity: () => (
    <>
      <rect x="3.3" y="3.3" width="9.4" height="9.4" rx="2" fill="none" stroke="currentColor" stroke-width="1.8" />
      <circle cx="8" cy="8" r="2" fill="currentColor" />
    </>
  ),
  timer: () => (
    <>
      <circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="2" />
      {line("M8 4.8V8l2.2 1.5", 1.8)}
    </>
  ),
  signal: () => filled("M3.5 2.2 14 8 3.5 13.8z"),
  update: () => filled("M8 1.2 14.8 8 8 14.8 1.2 8z"),
  query: () => (
    <>
      <circle cx="7" cy="7" r="4.4" fill="none" stroke="currentColor" stroke-width="2" />
      {line("m10.4 10.4 3.4 3.4", 2.2)}
    </>
  ),
  child: () => (
    <>
      <rect x="2.6" y="2.6" width="10.8" height="10.8" fill="none" stroke="currentColor" stroke-width="1.8" />
      <rect x="5.8" y="5.8" width="4.4" height="4.4" fill="currentColor" />
    </>
  ),
  external: () => <path d="M4 3 13 8 4 13z" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linejoin="round" />,
  nexus: () => (
    <>
      <rect x="1.5" y="4.5" width="6" height="7" fill="currentColor" />
      <rect x="8.5" y="5.3" width="5.2" height="5.4" fill="none" stroke="currentColor" stroke-width="1.6" />
    </>
  ),
  marker: () => (
    <path
      d="M4 14.5V2h9l-2.4 3.4L13 8.8H5.8"
      fill="currentColor"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linejoin="round"
    />
  ),
  searchAttributes: () => line("M3 2.5h6l4.5 5.5L9 13.5H3zM6 8h.01", 1.8),
  task: () => <rect x="1.5" y="7" width="13" height="2" rx="1" fill="currentColor" />,
  unknown: () => line("M5.5 5.5a2.5 2.5 0 1 1 3.6 2.3c-.8.4-1.1.9-1.1 1.7M8 12.5h.01", 2),
  park: () => filled("M4 2.5h3v11H4zM9 2.5h3v11H9z"),
  whatIf: () => (
    <>
      {line("M4 2v12M4 9c0-3 7-1 7-5", 1.8)}
      <circle cx="11" cy="3" r="2" fill="currentColor" />
    </>
  ),
  difference: () => line("m3.5 3.5 9 9m0-9-9 9", 2.2),
  state: () =>
    line(
      "M6.5 2.5C4.6 2.5 4.4 3.6 4.4 5S4 7.4 2.5 8c1.5.6 1.9 1.6 1.9 3s.2 2.5 2.1 2.5m3-11c1.9 0 2.1 1.1 2.1 2.5s.4 2.4 1.9 3c-1.5.6-1.9 1.6-1.9 3s-.2 2.5-2.1 2.5",
      1.8,
    ),
  replays: () => line("m2.5 8.5 3.6 3.8 7.4-8.6", 2.2),
};

/** The colour of a kind, as the name of its token: "activity" for `--activity` and `.k-activity`. */
export const COLOUR_OF: { readonly [kind in GlyphKind]: string } = {
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

/** The names of kinds for people. */
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

/** Names that say themselves of which kind they are. */
const NAMED = /^(?:timer|transact|procedure|(?:un)?subscribe) |^broadcast$/;
/** "activity charge", "timer arrival". */
export const titleOf = (kind: GlyphKind, name: string): string => NAMED.test(name) ? name : `${KIND_NAMES[kind]} ${name}`;

/** The sign of a kind. Without `label` it is decoration, and screen readers are given the name beside it. */
export function Glyph({ kind, label, size = 12 }: { kind: GlyphKind; label?: string; size?: number }): JSX.Element {
  const named = label === undefined ? { "aria-hidden": true as const } : { role: "img" as const, "aria-label": label };
  return (
    <svg class={`glyph k-${COLOUR_OF[kind]}`} viewBox="0 0 16 16" width={size} height={size} {...named}>{SHAPES[kind]()}</svg>
  );
}

/** The inside of a glyph, 16 by 16, for an svg that is there already (the timeline). */
export const glyphShape = (kind: GlyphKind): JSX.Element => SHAPES[kind]();
