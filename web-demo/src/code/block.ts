// The block of an await where the code waits: from its line to the line where its brackets close.
// Drawn in pale yellow.
import type { TokenizedFile } from "../../../ts/run_view/code_tokens.ts";

const OPEN = /[([{]/g;
const CLOSE = /[)\]}]/g;
/** In lines. Longer statements have no block, because the reader would not see its end. */
const MOST = 400;

/** The last line of the statement that begins on `line`: the line on which its brackets close. */
export function blockEnd(file: TokenizedFile, line: number): number {
  let depth = 0;
  for (let at = line; at <= Math.min(file.lines.length, line + MOST); at++) {
    for (const { kind, text } of file.tokens(at)) {
      if (kind !== "plain") continue;
      depth += (text.match(OPEN)?.length ?? 0) - (text.match(CLOSE)?.length ?? 0);
    }
    if (depth <= 0) return at;
  }
  return line;
}
