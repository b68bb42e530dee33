// Splits TypeScript into tokens, line by line. Not a parser: it recognizes comments, strings,
// templates and words for syntax colors, and is fast enough for files of 10,000 lines. A line
// depends on earlier ones only by a small state, so that only visible lines are tokenized.

export type TokenKind = "plain" | "comment" | "string" | "keyword" | "word";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

/**
 * The state at the start of a line, innermost last: -2 in a block comment, -1 in the text of a
 * template, n >= 0 in `${}` with n open braces.
 */
export type LineState = readonly number[];

const COMMENT = -2;
const TEMPLATE = -1;
export const AT_START: LineState = [];

const KEYWORDS = new Set(
  ("as async await break case catch class const continue default delete do else enum export extends finally for from function if " +
    "implements import in instanceof interface let new of readonly return satisfies static switch throw try type typeof var void " +
    "while yield").split(" "),
);
/** After these words a slash begins a regular expression. */
const BEFORE_PATTERN = new Set([
  "return",
  "typeof",
  "case",
  "in",
  "of",
  "delete",
  "void",
  "throw",
  "await",
  "yield",
  "else",
]);

const WORD = /[A-Za-z_$\u00aa-\uffff][\w$\u00aa-\uffff]*/y;
const SPACE = /\s+/y;
const NUMBER = /\d[\w.]*/y;
const STRING = /"(?:[^"\\]|\\.)*(?:"|$)|'(?:[^'\\]|\\.)*(?:'|$)/y;
const PATTERN = /\/(?![*/])(?:[^\\/[]|\\.|\[(?:[^\\\]]|\\.)*\])+\/[a-z]*/y;
const TEMPLATE_TEXT = /(?:[^`\\$]|\\.?|\$(?!\{))+/y;

function take(re: RegExp, text: string, at: number): string {
  re.lastIndex = at;
  return re.exec(text)?.[0] ?? "";
}

/** Returns the tokens of a line, and the state at the start of the next one. */
export function tokenizeLine(
  text: string,
  state: LineState,
): { readonly tokens: readonly Token[]; readonly next: LineState } {
  const tokens: Token[] = [];
  const stack = [...state];
  let at = 0;
  /** The last token that is not a space; it decides what a slash means. */
  let before = "";
  const push = (kind: TokenKind, length: number) => {
    if (length === 0) return;
    const piece = text.slice(at, at + length);
    const last = tokens.at(-1);
    if (last?.kind === kind && kind !== "word") {
      tokens[tokens.length - 1] = { kind, text: last.text + piece };
    } else tokens.push({ kind, text: piece });
    at += length;
  };
  while (at < text.length) {
    const mode = stack.at(-1);
    if (mode === COMMENT) {
      const end = text.indexOf("*/", at);
      push("comment", (end < 0 ? text.length : end + 2) - at);
      if (end >= 0) stack.pop();
      continue;
    }
    if (mode === TEMPLATE) {
      if (text[at] === "`") {
        stack.pop();
        push("string", 1);
        before = "`";
      } else if (text.startsWith("${", at)) {
        stack.push(0);
        push("plain", 2);
        before = "{";
      } else push("string", take(TEMPLATE_TEXT, text, at).length || 1);
      continue;
    }
    const sign = text[at]!;
    const space = take(SPACE, text, at);
    if (space !== "") {
      push("plain", space.length);
      continue;
    }
    const word = take(WORD, text, at);
    if (word !== "") {
      // A word after a dot is a member name: `x.type`, `promise.catch`.
      push(KEYWORDS.has(word) && before !== "." ? "keyword" : "word", word.length);
      before = word;
      continue;
    }
    if (text.startsWith("//", at)) {
      push("comment", text.length - at);
      continue;
    }
    if (text.startsWith("/*", at)) {
      stack.push(COMMENT);
      push("comment", 2);
      continue;
    }
    const quoted = take(STRING, text, at) ||
      (sign === "/" && patternCanFollow(before) ? take(PATTERN, text, at) : "");
    if (quoted !== "") {
      push("string", quoted.length);
      before = '"';
      continue;
    }
    const number = take(NUMBER, text, at);
    if (number !== "") {
      push("plain", number.length);
      before = "0";
      continue;
    }
    if (sign === "`") stack.push(TEMPLATE);
    else if (mode !== undefined && sign === "{") stack[stack.length - 1] = mode + 1;
    else if (mode !== undefined && sign === "}") {
      if (mode === 0) stack.pop();
      else stack[stack.length - 1] = mode - 1;
    }
    push(sign === "`" ? "string" : "plain", 1);
    before = sign;
  }
  return { tokens, next: stack };
}

/** A slash after a value divides; otherwise it begins a regular expression. */
const patternCanFollow = (before: string): boolean =>
  BEFORE_PATTERN.has(before) || !/[\w$)\]"`]$/.test(before);

/** The lines of a file, tokenized on first access. */
export class TokenizedFile {
  readonly lines: readonly string[];
  readonly #states: LineState[] = [AT_START];
  readonly #tokens = new Map<number, readonly Token[]>();

  constructor(text: string) {
    this.lines = text.split(/\r\n|\n|\r/);
  }

  /** Returns the tokens of a line, counted from 1. */
  tokens(line: number): readonly Token[] {
    for (let known = this.#states.length; known < line; known++) {
      this.#states.push(tokenizeLine(this.lines[known - 1] ?? "", this.#states[known - 1]!).next);
    }
    let tokens = this.#tokens.get(line);
    if (tokens === undefined) {
      tokens = tokenizeLine(this.lines[line - 1] ?? "", this.#states[line - 1]!).tokens;
      this.#tokens.set(line, tokens);
    }
    return tokens;
  }
}
