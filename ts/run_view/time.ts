// Times, lengths of time and counts, in the forms that the page and reports use.

/** "0:38.9": minutes, seconds and tenths since the start; hours and days where there are any. */
export function clock(ms: number, digits = 1): string {
  const scale = 10 ** digits;
  const whole = Math.floor(Math.max(0, ms) / 1000 * scale) / scale;
  const seconds = whole % 60;
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  const shownSeconds = seconds.toFixed(digits).padStart(digits === 0 ? 2 : digits + 3, "0");
  if (hours === 0) return `${minutes}:${shownSeconds}`;
  if (hours < 24) return `${hours}:${String(minutes).padStart(2, "0")}:${String(Math.floor(seconds)).padStart(2, "0")}`;
  return `${Math.floor(hours / 24)}d ${hours % 24}:${String(minutes).padStart(2, "0")}`;
}

/** "14 ms", "3.2 s", "3 m 17 s", "2 h", "4 d 3 h". */
export function lasting(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(1))} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return twoOf(Math.floor(seconds / 60), "m", seconds % 60, "s");
  if (seconds < 86_400) return twoOf(Math.floor(seconds / 3600), "h", Math.floor(seconds % 3600 / 60), "m");
  return twoOf(Math.floor(seconds / 86_400), "d", Math.floor(seconds % 86_400 / 3600), "h");
}

const twoOf = (n: number, unit: string, rest: number, smaller: string): string =>
  rest === 0 ? `${n} ${unit}` : `${n} ${unit} ${rest} ${smaller}`;

// Made once: a number in words is needed at each step, and what makes it takes as long as all the rest.
const NUMBERS = new Intl.NumberFormat("en-US");

/** "51,200". */
export const count = (n: number): string => NUMBERS.format(n);
