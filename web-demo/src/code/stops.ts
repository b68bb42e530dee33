// Where moving stops: breakpoints, in both directions.
import { goTo, type OpenRun, position } from "../store/state.ts";
import { breakpoints, nearestStop } from "./breakpoints.ts";
import { findBreakpoint } from "./code_facts.ts";

/** Moves to the next breakpoint in a direction, or to the end of the run. */
export function runToStop(run: OpenRun, by: 1 | -1): void {
  const stop = nearestStop(
    breakpoints.value,
    (one, from, by) => findBreakpoint(run, one, from, by),
    position.value,
    by,
  );
  goTo(stop?.position ?? (by === 1 ? run.model.lines.length : 1));
}

/** The first breakpoint between two positions, `to` included. */
export function stopBetween(run: OpenRun, from: number, to: number): number | undefined {
  if (from === to || breakpoints.peek().length === 0) return undefined;
  const by = to > from ? 1 : -1;
  const stop = nearestStop(
    breakpoints.peek(),
    (one, from, by) => findBreakpoint(run, one, from, by),
    from,
    by,
  );
  return stop === undefined || (stop.position - to) * by > 0 ? undefined : stop.position;
}
