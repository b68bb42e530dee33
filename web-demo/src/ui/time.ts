// Dates in the reader's time; and what is shown of time everywhere.
export { clock, count, lasting } from "../../../ts/run_view/time.ts";

/** "21 Nov 2026, 20:47:50", in the reader's time. */
export const date = (ms: number): string => `${DAYS.format(ms)}, ${TIMES.format(ms)}`;

// Made once: a number in words is needed at each step, and what makes it takes as long as all the rest.
const DAYS = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const TIMES = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
