// Where playing and stepping stop: at a line, an event, a command, or when something becomes true of the state. They work in both
// directions, because a step back costs what a step forward costs.
import { type Signal, signal } from "@preact/signals";

export type BreakpointKind = "line" | "event" | "command" | "when";

export interface Breakpoint {
  readonly id: number;
  readonly kind: BreakpointKind;
  /** Of a line. */
  readonly path: string;
  readonly line: number;
  /** Of an event its type, of a command its kind or name, of a predicate the expression. */
  readonly text: string;
  readonly isOn: boolean;
}

export const breakpoints: Signal<readonly Breakpoint[]> = signal<readonly Breakpoint[]>([]);

let last = 0;
const add = (one: Omit<Breakpoint, "id" | "isOn">): void => {
  breakpoints.value = [...breakpoints.value, { ...one, id: ++last, isOn: true }];
};

/** Puts those of an earlier page in the place of all. */
export function restoreBreakpoints(all: readonly Omit<Breakpoint, "id">[]): void {
  breakpoints.value = all.map(({ kind, path, line, text, isOn }) => ({ id: ++last, kind, path, line, text, isOn }));
}

/** Sets one at a line, or takes it away. */
export function toggleLine(path: string, line: number): void {
  const known = breakpoints.value.find((one) => one.kind === "line" && one.path === path && one.line === line);
  if (known === undefined) add({ kind: "line", path, line, text: "" });
  else removeBreakpoint(known.id);
}

/** Of an event, a command or a predicate; the same one is not added twice. */
export function addBreakpoint(kind: Exclude<BreakpointKind, "line">, text: string): void {
  const wanted = text.trim();
  if (wanted === "" || breakpoints.value.some((one) => one.kind === kind && one.text === wanted)) return;
  add({ kind, path: "", line: 0, text: wanted });
}

export function removeBreakpoint(id: number): void {
  breakpoints.value = breakpoints.value.filter((one) => one.id !== id);
}

export function switchBreakpoint(id: number): void {
  breakpoints.value = breakpoints.value.map((one) => one.id === id ? { ...one, isOn: !one.isOn } : one);
}

/** The lines of a file that have one. */
export function linesWithBreakpoints(path: string): ReadonlyMap<number, "on" | "off"> {
  return new Map(
    breakpoints.value.filter((one) => one.kind === "line" && one.path === path).map((one) => [one.line, one.isOn ? "on" : "off"]),
  );
}

/** For people. */
export function breakpointText({ kind, path, line, text }: Breakpoint): string {
  switch (kind) {
    case "line":
      return `${path.split("/").at(-1)}, line ${line}`;
    case "event":
      return `event ${text}`;
    case "command":
      return `command ${text}`;
    case "when":
      return `when ${text}`;
  }
}

/** Finds the nearest position after (or before) one at which a breakpoint holds; throws an Error whose message says what is wrong with it. */
export type Finder = (breakpoint: Breakpoint, from: number, by: 1 | -1) => number | undefined;

export interface Stop {
  readonly position: number;
  readonly breakpoint: Breakpoint;
}

/** The nearest stop in a direction. Breakpoints that cannot be looked for are passed over: the panel says why. */
export function nearestStop(all: readonly Breakpoint[], find: Finder, from: number, by: 1 | -1): Stop | undefined {
  let best: Stop | undefined;
  for (const breakpoint of all) {
    if (!breakpoint.isOn) continue;
    let position: number | undefined;
    try {
      position = find(breakpoint, from, by);
    } catch {
      continue;
    }
    if (position === undefined) continue;
    if (best === undefined || (position - best.position) * by < 0) best = { position, breakpoint };
  }
  return best;
}
