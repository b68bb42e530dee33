// Lines of code around a place, with the line marked.
import { TokenizedFile } from "../run_view/code_tokens.ts";
import { type Html, markup } from "./html.ts";
import type { CodeExcerpt } from "./types.ts";

/** Number of lines before and after the marked one. */
const AROUND = 6;
/** Longer lines are cut: they are in generated files and not readable. */
const MOST_LETTERS = 400;

/** Returns the excerpt of a file; undefined if the file does not have the line. */
export function excerptOf(name: string, text: string, line: number): CodeExcerpt | undefined {
  const lines = text.split(/\r\n|\n|\r/);
  if (line < 1 || line > lines.length) return undefined;
  return {
    name,
    line,
    first: Math.max(1, line - AROUND),
    text: lines.slice(0, line + AROUND).join("\n"),
  };
}

/** `mark`: the text next to the marked line. */
export function codeOf(
  { name, first, line, text }: CodeExcerpt,
  mark: string,
  isRed: boolean,
): Html {
  const file = new TokenizedFile(text);
  const numbers = Array.from({ length: file.lines.length - first + 1 }, (_, i) => first + i);
  return markup`<figure class="code"><figcaption>${name}:${line}</figcaption><div class="lines">${
    numbers.map((number) => {
      const here = number === line;
      return markup`<div class="${
        here ? isRed ? "l at red" : "l at" : "l"
      }"><span class="n">${number}</span><code>${piecesOf(file, number)}</code>${
        here && mark !== "" && markup`<span class="mark">${mark}</span>`
      }</div>
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
    if (shown !== "") {
      pieces.push(
        kind === "plain" || kind === "word"
          ? shown
          : markup`<span class="t-${kind}">${shown}</span>`,
      );
    }
  }
  if (left < 0) pieces.push("…");
  return pieces;
}
