// Durations for people: at most two units, rounded.

/** "9 ms", "4.2 s", "2 min 12 s", "1 h 57 min", "4 d 3 h". */
export function formatTimeSpan(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${Math.round(ms / 100) / 10} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return twoUnits(Math.floor(seconds / 60), "min", seconds % 60, "s");
  if (seconds < 86_400) {
    return twoUnits(Math.floor(seconds / 3600), "h", Math.floor(seconds % 3600 / 60), "min");
  }
  return twoUnits(Math.floor(seconds / 86_400), "d", Math.floor(seconds % 86_400 / 3600), "h");
}

const twoUnits = (n: number, unit: string, rest: number, smaller: string): string =>
  rest === 0 ? `${n} ${unit}` : `${n} ${unit} ${rest} ${smaller}`;
