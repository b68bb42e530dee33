// JSON.parse takes a text however deep it is nested, and code that walks or writes the value afterwards runs out of stack. So the depth is
// looked at first. No history, argument or setting comes near the limit.

/** Lists and objects inside each other. */
export const MAX_NESTING = 1000;

/** Says where a text is nested deeper than MAX_NESTING; undefined when it is not. The text need not be valid JSON. */
export function nestedTooDeep(text: string): string | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > MAX_NESTING) return `it is nested more than ${MAX_NESTING} levels deep ${textPosition(text, at)}`;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
    }
  }
  return undefined;
}

/** Index of the quote that ends the string which begins at `at`. */
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
