// Dates in the local time zone, and the time formats of all parts.
import { lasting } from "../../../ts/run_view/time.ts";
export { clock, count, lasting } from "../../../ts/run_view/time.ts";

/** "21 Nov 2026, 20:47:50", local time. */
export const date = (ms: number): string => `${DAYS.format(ms)}, ${TIMES.format(ms)}`;

/** How much later a step happened: "1.2 s", "−3 min 4 s"; "" if unknown or less than 50 ms. */
export const formatDelay = (laterMs: number | undefined): string =>
  laterMs === undefined || Math.abs(laterMs) < 50
    ? ""
    : `${laterMs < 0 ? "−" : ""}${lasting(Math.abs(laterMs))}`;

// Created once: creating a format takes as long as the rest of a step.
const DAYS = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const TIMES = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});
