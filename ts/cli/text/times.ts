// Formats times and durations.

export type TimeFormat = "relative" | "iso";

const STEPS: readonly (readonly [unit: string, ms: number, until: number])[] = [
  ["second", 1000, 60_000],
  ["minute", 60_000, 3_600_000],
  ["hour", 3_600_000, 86_400_000],
  ["day", 86_400_000, Infinity],
];

/** Returns "3 minutes ago", "in 2 hours", or the time itself; "" without a time. */
export function showTime(
  time: Date | undefined,
  format: TimeFormat,
  now: number = Date.now(),
): string {
  if (time === undefined) return "";
  if (format === "iso") return time.toISOString();
  const distance = now - time.getTime();
  const far = Math.abs(distance);
  if (far < 1000) return "now";
  const [unit, ms] = STEPS.find(([, , until]) => far < until)!;
  const n = Math.floor(far / ms);
  const text = `${n} ${unit}${n === 1 ? "" : "s"}`;
  return distance > 0 ? `${text} ago` : `in ${text}`;
}

/** Shortens "3 minutes ago" to "3m ago"; other texts are unchanged. */
export const shortTime = (text: string): string =>
  text.replace(/ (second|minute|hour|day)s?\b/, (_, unit: string) => unit[0]!);

/** Formats a duration with its two largest units: "1h 30m", "2.5s", "120ms". */
export function showMs(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(2))}s`;
  const units: readonly (readonly [string, number])[] = [["d", 86_400_000], ["h", 3_600_000], [
    "m",
    60_000,
  ], ["s", 1000]];
  let rest = Math.round(ms / 1000) * 1000;
  const parts: string[] = [];
  for (const [unit, size] of units) {
    const n = Math.floor(rest / size);
    rest -= n * size;
    if (n > 0) parts.push(`${n}${unit}`);
  }
  return parts.slice(0, 2).join(" ");
}
