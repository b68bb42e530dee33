// Rejects texts of commands that UTF-8 cannot encode: a lone surrogate would become U+FFFD, and
// two ids or names could become equal.

const LONE_SURROGATE = /\p{Surrogate}/u;
const MAX_TEXT = 200;

class LoneSurrogateError extends TypeError {
  override name = "TypeError";
}

/** Throws a TypeError if `text` contains a lone surrogate. */
export function requireWellFormed(text: string): void {
  if (LONE_SURROGATE.test(text)) throw loneSurrogate("text", text);
}

/** Throws a TypeError that names the field of `message` whose text has a lone surrogate. */
export function rejectLoneSurrogates(message: unknown): void {
  const found = findLoneSurrogate(message, "");
  if (found !== undefined) throw loneSurrogate(found.field, found.text);
}

/** Adds the field of `message` to an error of requireWellFormed. Returns other errors unchanged. */
export function namingField(error: unknown, message: unknown): unknown {
  if (!(error instanceof LoneSurrogateError)) return error;
  const found = findLoneSurrogate(message, "");
  return found === undefined ? error : loneSurrogate(found.field || "text", found.text);
}

/** Replaces lone surrogates by U+FFFD: for descriptions, which are read and never compared. */
export function replaceLoneSurrogates(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

function loneSurrogate(field: string, text: string): TypeError {
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text;
  return new LoneSurrogateError(
    `${field} ${JSON.stringify(shown)} contains a lone surrogate, which is not valid Unicode: choose another text`,
  );
}

function findLoneSurrogate(value: unknown, field: string): { field: string; text: string } | undefined {
  if (typeof value === "string") return LONE_SURROGATE.test(value) ? { field, text: value } : undefined;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return undefined;
  for (const [name, part] of Object.entries(value)) {
    if (LONE_SURROGATE.test(name)) return { field, text: name };
    const found = findLoneSurrogate(part, Array.isArray(value) ? field : field === "" ? name : `${field}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
