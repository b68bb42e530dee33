// Breaks the lines of written code without another change: Node prints the line that throws, with a
// line of blanks under it, and a line as long as a file loses the message. Tokens and comments stay
// as they are, because bundlers read both to decide what they leave out.
import { parse } from "acorn";

/** Characters after which a line is broken at the next place where a line break has no meaning. */
const LINE_LIMIT = 120;
/** A token after which no rule of automatic semicolons applies. */
const BREAKS_AFTER = new Set([";", ",", "{", "("]);

/**
 * Returns the code of a module with its long lines broken. A longer string or template stays in one
 * line.
 */
export function breakLines(code) {
  const tokens = [];
  parse(code, {
    ecmaVersion: "latest",
    sourceType: "module",
    allowHashBang: true,
    onToken: tokens,
  });
  let broken = "";
  let from = 0;
  let lineStart = 0;
  // Forwards, because a search backwards reads the whole file for each token.
  let newline = code.indexOf("\n");
  for (const [i, { start, end, type }] of tokens.entries()) {
    for (; newline >= 0 && newline < end; newline = code.indexOf("\n", newline + 1)) {
      lineStart = Math.max(lineStart, newline + 1);
    }
    const next = tokens[i + 1];
    if (
      next === undefined || !BREAKS_AFTER.has(code.slice(start, end)) || type.label === "string"
    ) continue;
    if (next.end - lineStart <= LINE_LIMIT || /[\n]/.test(code.slice(end, next.start))) continue;
    broken += `${code.slice(from, end)}\n`;
    from = lineStart = end;
  }
  return broken + code.slice(from);
}
