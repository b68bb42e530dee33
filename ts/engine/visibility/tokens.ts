// Tokens of a visibility query: words, names in backquotes, quoted text, numbers, symbols. Text is
// in single or double quotes; the quote itself is doubled or follows a backslash.
import { QueryError } from "./query_error.ts";

export interface Token {
  readonly kind: "word" | "name" | "text" | "number" | "symbol" | "end";
  /** Without quotes. */
  readonly text: string;
  /** From 1. */
  readonly position: number;
}

const SPACE = /\s*/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /-?[0-9]+(?:\.[0-9]+)?/y;
const SYMBOL = /!=|<>|<=|>=|[=<>(),]/y;

function match(pattern: RegExp, query: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(query)?.[0];
}

/** Returns the tokens of a query; the last one has the kind "end". */
export function tokenize(query: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    at += match(SPACE, query, at)!.length;
    const position = at + 1;
    if (at === query.length) {
      tokens.push({ kind: "end", text: "", position });
      return tokens;
    }
    const quote = query[at]!;
    if (quote === "'" || quote === '"' || quote === "`") {
      const [text, next] = quoted(query, at);
      tokens.push({ kind: quote === "`" ? "name" : "text", text, position });
      at = next;
      continue;
    }
    const kinds = [["word", WORD], ["number", NUMBER], ["symbol", SYMBOL]] as const;
    const found = kinds.map(([kind, pattern]) => ({ kind, text: match(pattern, query, at) })).find((
      t,
    ) => t.text !== undefined);
    if (found === undefined) {
      throw new QueryError("unexpected character", {
        kind: "symbol",
        text: String.fromCodePoint(query.codePointAt(at)!),
        position,
      });
    }
    tokens.push({ kind: found.kind, text: found.text!, position });
    at += found.text!.length;
  }
}

function quoted(query: string, start: number): [text: string, next: number] {
  const quote = query[start]!;
  let text = "";
  for (let at = start + 1; at < query.length; at++) {
    const char = query[at]!;
    if (char === "\\" && at + 1 < query.length) text += query[++at]!;
    else if (char !== quote) text += char;
    else if (query[at + 1] === quote) text += query[++at]!;
    else return [text, at + 1];
  }
  throw new QueryError(`unterminated quoted string`, {
    kind: "symbol",
    text: quote,
    position: start + 1,
  });
}
