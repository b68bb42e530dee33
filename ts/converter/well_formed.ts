// Texts that UTF-8 cannot encode: a lone surrogate would become U+FFFD, so that two ids or names
// could become equal.

const LONE_SURROGATE = /\p{Surrogate}/u;
const MAX_TEXT = 200;
const NO_FIELDS: ReadonlySet<string> = new Set();

/** A text with a lone surrogate, and its field, such as "memo.fields". */
interface LoneSurrogate {
  readonly field: string;
  readonly text: string;
}

export const hasLoneSurrogate = (text: string): boolean => LONE_SURROGATE.test(text);

/** Replaces lone surrogates by U+FFFD: for descriptions, which are read and never compared. */
export const replaceLoneSurrogates = (text: string): string =>
  text.replace(/\p{Surrogate}/gu, "\ufffd");

/**
 * Finds the first text of a message, or name of a property, with a lone surrogate. Fields in
 * `ignored` are not searched.
 */
export function findLoneSurrogate(
  value: unknown,
  ignored: ReadonlySet<string> = NO_FIELDS,
  field = "",
): LoneSurrogate | undefined {
  if (typeof value === "string") {
    return hasLoneSurrogate(value) ? { field, text: value } : undefined;
  }
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return undefined;
  for (const [name, part] of Object.entries(value)) {
    if (ignored.has(name)) continue;
    if (hasLoneSurrogate(name)) return { field, text: name };
    const inner = Array.isArray(value) ? field : field === "" ? name : `${field}.${name}`;
    const found = findLoneSurrogate(part, ignored, inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function loneSurrogateMessage({ field, text }: LoneSurrogate): string {
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text;
  return `${field || "text"} ${
    JSON.stringify(shown)
  } contains a lone surrogate, which is not valid Unicode: choose another text`;
}
