// The current time for the timeline of a run that is followed, and its mark at the end of the axis.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isLiveRun } from "../store/live_runs.ts";
import type { OpenRun } from "../store/state.ts";

/** The whole timeline is placed again at each change, so a long run changes less often. */
const SHORT_EVENTS = 2000;
const SHORT_MS = 1000;
const LONG_MS = 15_000;

/** Returns the time in ms; undefined for a run that is closed or not followed. */
export function useNow(run: OpenRun): number | undefined {
  const [nowMs, setNow] = useState(() => Date.now());
  const isLive = isLiveRun(run);
  const stepMs = run.model.lines.length > SHORT_EVENTS ? LONG_MS : SHORT_MS;
  useEffect(() => {
    if (!isLive) return;
    setNow(Date.now());
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") setNow(Date.now());
    }, stepMs);
    return () => clearInterval(timer);
  }, [isLive, stepMs, run]);
  return isLive ? nowMs : undefined;
}

/** `x`: the place of the current time; undefined: not drawn. */
export const Until = (
  { x, height }: { x: number | undefined; height: number },
): JSX.Element | null =>
  x === undefined ? null : <line class="tl-until" x1={x} x2={x} y1={0} y2={height} />;

export const UntilText = ({ x }: { x: number | undefined }): JSX.Element | null =>
  x === undefined ? null : <text class="tl-until-text" x={x + 4} y={16}>now</text>;
