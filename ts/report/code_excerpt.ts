// The lines of code around a place, with the line marked.
import { TokenizedFile } from "../run_view/code_tokens.ts";
import { type Html, markup } from "./html.ts";
import type { CodeExcerpt } from "./types.ts";

/** Lines before and behind the one that is meant. */
const AROUND = 6;
/** A line of a file that was made by a program is longer than anybody reads. */
const MOST_LETTERS = 400;

/** The excerpt of a file; undefined where it does not have the line. */
export function excerptOf(name: string, text: string, line: number): CodeExcerpt | undefined {
  const lines = text.split(/\r\n|\n|\r/);
  if (line < 1 || line > lines.length) return undefined;
  return { name, line, first: Math.max(1, line - AROUND), text: lines.slice(0, line + AROUND).join("\n") };
}

/** `mark`: what stands at the line, beside the code. */
export function codeOf({ name, first, line, text }: CodeExcerpt, mark: string, isRed: boolean): Html {
  const file = new TokenizedFile(text);
  const numbers = Array.from({ length: file.lines.length - first + 1 }, (_, i) => first + i);
  return markup`<figure class="code"><figcaption>${name}:${line}</figcaption><div class="lines">${
    numbers.map((number) => {
      const here = number === line;
      return markup`<div class="${here ? isRed ? "l at red" : "l at" : "l"}"><span class="n">${number}</span><code>${
        piecesOf(file, number)
      }</code>${here && mark !== "" && markup`<span class="mark">${mark}</span>`}</div>
`;
    })
  }</div></figure>`;
}

function piecesOf(file: TokenizedFile, line: number): readonly (Html | string)[] {
  const pieces: (Html | string)[] = [];
  let left = MOST_LETTERS;
  for (const { kind, text } of file.tokens(line)) {
    const shown = text.slice(0, Math.max(0, left));
    left -= text.length;
    if (shown !== "") pieces.push(kind === "plain" || kind === "word" ? shown : markup`<span class="t-${kind}">${shown}</span>`);
  }
  if (left < 0) pieces.push("…");
  return pieces;
}
