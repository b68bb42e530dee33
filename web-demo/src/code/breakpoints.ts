// Breakpoints stop playing and stepping at a line, an event, a command, or when a condition of the
// state becomes true. They work in both directions, because a step back costs the same as a step
// forward.
import { type Signal, signal } from "@preact/signals";

export type BreakpointKind = "line" | "event" | "command" | "when";

export interface Breakpoint {
  readonly id: number;
  readonly kind: BreakpointKind;
  /** Only of kind "line". */
  readonly path: string;
  readonly line: number;
  /** The type of an event, the kind or name of a command, or the expression of a condition. */
  readonly text: string;
  readonly isOn: boolean;
}

export const breakpoints: Signal<readonly Breakpoint[]> = signal<readonly Breakpoint[]>([]);

let last = 0;
const add = (one: Omit<Breakpoint, "id" | "isOn">): void => {
  breakpoints.value = [...breakpoints.value, { ...one, id: ++last, isOn: true }];
};

/** Replaces all breakpoints by those of an earlier page load. */
export function restoreBreakpoints(all: readonly Omit<Breakpoint, "id">[]): void {
  breakpoints.value = all.map(({ kind, path, line, text, isOn }) => ({
    id: ++last,
    kind,
    path,
    line,
    text,
    isOn,
  }));
}

/** Sets or removes the breakpoint at a line. */
export function toggleLine(path: string, line: number): void {
  const known = breakpoints.value.find((one) =>
    one.kind === "line" && one.path === path && one.line === line
  );
  if (known === undefined) add({ kind: "line", path, line, text: "" });
  else removeBreakpoint(known.id);
}

/** Adds a breakpoint for an event, a command or a condition, unless there is an equal one. */
export function addBreakpoint(kind: Exclude<BreakpointKind, "line">, text: string): void {
  const wanted = text.trim();
  if (wanted === "" || breakpoints.value.some((one) => one.kind === kind && one.text === wanted)) {
    return;
  }
  add({ kind, path: "", line: 0, text: wanted });
}

export function removeBreakpoint(id: number): void {
  breakpoints.value = breakpoints.value.filter((one) => one.id !== id);
}

export function switchBreakpoint(id: number): void {
  breakpoints.value = breakpoints.value.map((one) =>
    one.id === id ? { ...one, isOn: !one.isOn } : one
  );
}

/** The lines of a file with breakpoints. */
export function linesWithBreakpoints(path: string): ReadonlyMap<number, "on" | "off"> {
  return new Map(
    breakpoints.value.filter((one) => one.kind === "line" && one.path === path).map((
      one,
    ) => [one.line, one.isOn ? "on" : "off"]),
  );
}

/** The text of a breakpoint in lists. */
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

/**
 * Finds the nearest position after (or before) `from` at which a breakpoint holds. Throws an Error
 * that says what is wrong with the breakpoint.
 */
export type Finder = (breakpoint: Breakpoint, from: number, by: 1 | -1) => number | undefined;

export interface Stop {
  readonly position: number;
  readonly breakpoint: Breakpoint;
}

/**
 * The nearest breakpoint in a direction. Invalid breakpoints are skipped: the panel shows their
 * errors.
 */
export function nearestStop(
  all: readonly Breakpoint[],
  find: Finder,
  from: number,
  by: 1 | -1,
): Stop | undefined {
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
