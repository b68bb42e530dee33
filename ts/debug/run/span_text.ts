// Spans of time for sentences: two units, rounded.

const UNITS: readonly (readonly [number, string])[] = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "m"], [1000, "s"]];

/** "1 h 57 m", "2 m 12 s", "4.2 s", "9 ms". */
export function spanText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`;
  const at = UNITS.findIndex(([size]) => ms >= size);
  const [size, unit] = UNITS[at]!;
  const [next, nextUnit] = UNITS[at + 1]!;
  const whole = Math.floor(ms / size);
  const rest = Math.floor((ms - whole * size) / next);
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${nextUnit}`;
}
