// Times, durations and counts, in the forms that the page and reports use.
export { formatTimeSpan as lasting } from "../debug/run/span_text.ts";

/** "0:38.9": minutes, seconds and tenths since the start; hours and days where there are any. */
export function clock(ms: number, digits = 1): string {
  const scale = 10 ** digits;
  const whole = Math.floor(Math.max(0, ms) / 1000 * scale) / scale;
  const seconds = whole % 60;
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  const shownSeconds = seconds.toFixed(digits).padStart(digits === 0 ? 2 : digits + 3, "0");
  if (hours === 0) return `${minutes}:${shownSeconds}`;
  if (hours < 24) {
    return `${hours}:${String(minutes).padStart(2, "0")}:${
      String(Math.floor(seconds)).padStart(2, "0")
    }`;
  }
  return `${Math.floor(hours / 24)}d ${hours % 24}:${String(minutes).padStart(2, "0")}`;
}

// Created once: creating a format takes as long as the rest of a step.
const NUMBERS = new Intl.NumberFormat("en-US");

/** Formats with thousands separators: "51,200". */
export const count = (n: number): string => NUMBERS.format(n);
