// Values on one line in the syntax of JavaScript: `{ sku: "BOOK-1", priceCents: 1900 }`. Longer
// texts end in "…".

const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/;
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Formats a key of an object. */
export const keyText = (key: string): string => PLAIN_KEY.test(key) ? key : JSON.stringify(key);

/** Formats a value in at most `room` characters. Reads only as much as it shows; never throws. */
export function lineOfValue(value: unknown, room = 80): string {
  const pieces: string[] = [];
  let left = room;
  const put = (text: string): boolean => {
    pieces.push(text);
    left -= text.length;
    return left >= 0;
  };
  const write = (value: unknown, depth: number): boolean => {
    if (typeof value === "string") {
      return put(JSON.stringify(value.length > left + 1 ? value.slice(0, left + 1) : value));
    }
    if (value === undefined) return put("nothing");
    if (value instanceof Uint8Array) return put(`${value.length} bytes`);
    if (!isObject(value)) return put(typeof value === "bigint" ? `${value}n` : String(value));
    if (depth > 40) return put("…");
    const isList = Array.isArray(value);
    const keys = Object.keys(value);
    if (keys.length === 0) return put(isList ? "[]" : "{}");
    if (!put(isList ? "[" : "{ ")) return false;
    for (const [i, key] of keys.entries()) {
      if (i > 0 && !put(", ")) return false;
      if (!isList && !put(`${keyText(key)}: `)) return false;
      if (!write((value as { readonly [key: string]: unknown })[key], depth + 1)) return false;
    }
    return put(isList ? "]" : " }");
  };
  let fits: boolean;
  try {
    fits = write(value, 0);
  } catch {
    return "a value that cannot be shown";
  }
  const text = pieces.join("");
  return fits && text.length <= room ? text : `${text.slice(0, Math.max(0, room - 1)).trimEnd()}…`;
}

/** Formats arguments as between the parentheses of a call. */
export const lineOfArguments = (args: readonly unknown[], room = 80): string => {
  const text = args.map((arg) => lineOfValue(arg, room)).join(", ");
  return text.length <= room ? text : `${text.slice(0, room - 1).trimEnd()}…`;
};

/** Formats a value as JSON on several lines; values that JSON cannot represent become text. */
export function formatJson(value: unknown): string {
  try {
    return JSON.stringify(value, (_, part) => typeof part === "bigint" ? `${part}n` : part, 2) ??
      "undefined";
  } catch (e) {
    return `this value cannot be written as JSON: ${(e as Error).message}`;
  }
}
