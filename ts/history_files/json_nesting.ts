// Limits the nesting of JSON. JSON.parse accepts any depth, but code that walks or writes the value
// would overflow the stack. Valid histories, arguments and settings are far below the limit.

/** Maximum depth of lists and objects. */
export const MAX_NESTING = 1000;

/**
 * Describes where a text is nested deeper than MAX_NESTING; undefined otherwise. The text need not
 * be valid JSON.
 */
export function nestedTooDeep(text: string): string | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > MAX_NESTING) {
          return `it is nested more than ${MAX_NESTING} levels deep ${textPosition(text, at)}`;
        }
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
    }
  }
  return undefined;
}

/** Returns the index of the closing quote of the string that begins at `at`. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** "(line 3, column 17)" */
export function textPosition(text: string, at: number): string {
  const before = text.slice(0, at);
  const lines = before.split("\n");
  return `(line ${lines.length}, column ${lines.at(-1)!.length + 1})`;
}
