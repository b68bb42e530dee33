// Short texts of values, for a part of a line.

/** Formats a value in at most `room` characters. */
export function formatShort(value: unknown, room = 80): string {
  let text: string;
  try {
    text = value instanceof Uint8Array
      ? `${value.length} bytes`
      : JSON.stringify(value) ?? "nothing";
  } catch {
    // The value is nested too deeply, or an object of the caller's converter throws.
    text = `a ${typeof value} that cannot be printed`;
  }
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}

export const printArgs = (args: readonly unknown[]): string =>
  args.map((arg) => formatShort(arg, 60)).join(", ");

/** Formats arguments briefly. A small flat object is shortened to its values: `BOOK-1, 1900`. */
export const printBriefArgs = (args: readonly unknown[]): string => args.map(brief).join(", ");

const MOST_FIELDS = 4;
const MOST_LETTERS = 40;

function brief(value: unknown): string {
  if (
    typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Uint8Array)
  ) {
    const parts = Object.values(value);
    if (
      parts.length > 0 && parts.length <= MOST_FIELDS &&
      parts.every((part) => typeof part !== "object")
    ) {
      const text = parts.map(String).join(", ");
      if (text.length <= MOST_LETTERS) return text;
    }
  }
  return formatShort(value, 60);
}

/** Returns the fields that do not have their default values. */
export function pickNonDefaults(fields: object): { [name: string]: unknown } {
  const isSet = ([, value]: [string, unknown]) =>
    value !== undefined && value !== 0 && value !== "" &&
    !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(fields).filter(isSet));
}
