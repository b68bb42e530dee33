// Times in RFC 3339, and in nanoseconds as in Temporal's servers.
const TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2}))?$/;

/** Milliseconds since the epoch; NaN if the text is not a time. */
export function momentOf(text: string): number {
  const parts = TIME.exec(text);
  return parts === null ? NaN : utc(parts);
}

/** Converts integer nanoseconds since the epoch to milliseconds. */
export const msOfNanoseconds = (digits: string): number => Number(BigInt(digits) / 1000n) / 1000;

function utc(parts: RegExpExecArray): number {
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((text) =>
    Number(text ?? 0)
  ) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const time = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(time);
  // Date.UTC carries overflow: 30 February would silently become 2 March.
  const real = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day && hour < 24 &&
    minute < 60 && second < 60;
  if (!real) return NaN;
  const fraction = parts[7] === undefined ? 0 : Number(parts[7]) * 1000;
  const zone = parts[8] ?? "Z";
  const offset = /^[+-]/.test(zone)
    ? (zone[0] === "-" ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6)))
    : 0;
  return time + fraction - offset * 60_000;
}
