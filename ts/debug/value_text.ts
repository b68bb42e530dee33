// Values on part of a line.

/** A value on part of a line. */
export function short(value: unknown, room = 80): string {
  let text: string;
  try {
    text = value instanceof Uint8Array ? `${value.length} bytes` : JSON.stringify(value) ?? "nothing";
  } catch {
    // Nested deeper than a stack is high, or something that a converter of the caller's made.
    text = `a ${typeof value} that cannot be shown`;
  }
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}

export const shortArgs = (args: readonly unknown[]): string => args.map((arg) => short(arg, 60)).join(", ");

/** The fields that are not at their defaults. */
export function set(fields: object): { [name: string]: unknown } {
  const isSet = ([, value]: [string, unknown]) =>
    value !== undefined && value !== 0 && value !== "" && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(fields).filter(isSet));
}
