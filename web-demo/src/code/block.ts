// The block of a parked line: from the await down to where its brackets close. It is drawn in pale yellow.
import type { TokenizedFile } from "../../../ts/run_view/code_tokens.ts";

const OPEN = /[([{]/g;
const CLOSE = /[)\]}]/g;
/** An await over more lines than this has a block no reader would see the end of. */
const MOST = 400;

/** The last line of the statement that begins on `line`: the line itself where its brackets close on it. */
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
