// A small expression language for predicates and logpoints: JavaScript expressions over copies of
// values. Not evaluated by the engine, because text from a field or a link must never run as code,
// and one expression must be evaluated at thousands of positions without a replay. No assignments,
// no `new`, no globals; only read-only methods, for example `order?.lines.some((line) => line.sku
// === "B-1")`.
import { nearestName } from "../../base/nearest_name.ts";

/** Thrown for text that is not an expression of this language, or that refers to missing names. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
}

/** Resolves names. Returns undefined for an unknown name. */
export interface Names {
  (name: string): { readonly value: unknown } | undefined;
  /** The names that resolve, for the message about an unknown name. */
  readonly known?: () => Iterable<string>;
}

/** A parsed expression. */
export type Expression = (names: Names) => unknown;

/** Parses an expression. Throws an ExpressionError with the place of a syntax error. */
export function parseExpression(text: string): Expression {
  return new Reader(text).all();
}

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?(?:e[+-]?\d+)?)|([\p{L}_$][\p{L}\p{N}_$]*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(=>|\?\?|\?\.|===|!==|==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]))/uy;

interface Token {
  readonly kind: "number" | "name" | "text" | "sign" | "end";
  readonly text: string;
  readonly at: number;
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (text.slice(TOKEN.lastIndex).trim() !== "") {
    const at = TOKEN.lastIndex + text.slice(TOKEN.lastIndex).search(/\S/);
    const match = TOKEN.exec(text);
    if (match === null) {
      throw new ExpressionError(
        `unexpected "${text.slice(at, at + 12).trimEnd()}" at column ${at + 1}`,
      );
    }
    const [, number, name, string, sign] = match;
    if (number !== undefined) tokens.push({ kind: "number", text: number, at });
    else if (name !== undefined) tokens.push({ kind: "name", text: name, at });
    else if (string !== undefined) tokens.push({ kind: "text", text: string, at });
    else tokens.push({ kind: "sign", text: sign!, at });
  }
  tokens.push({ kind: "end", text: "", at: text.length });
  return tokens;
}

type Binary = (a: unknown, b: unknown) => unknown;
const same: Binary = (a, b) => a === b;
const LEVELS: readonly { readonly [sign: string]: Binary }[] = [
  {
    "===": same,
    "!==": (a, b) => a !== b,
    "==": (a, b) => a === b || isNothing(a) && isNothing(b),
    "!=": (a, b) => !(a === b || isNothing(a) && isNothing(b)),
  },
  {
    "<": (a, b) => (a as number) < (b as number),
    ">": (a, b) => (a as number) > (b as number),
    "<=": (a, b) => (a as number) <= (b as number),
    ">=": (a, b) => (a as number) >= (b as number),
  },
  { "+": plus, "-": (a, b) => Number(toPlainValue(a)) - Number(toPlainValue(b)) },
  {
    "*": (a, b) => Number(toPlainValue(a)) * Number(toPlainValue(b)),
    "/": (a, b) => Number(toPlainValue(a)) / Number(toPlainValue(b)),
    "%": (a, b) => Number(toPlainValue(a)) % Number(toPlainValue(b)),
  },
];

/** Value of the rest of an optional chain that was skipped. */
const SKIPPED = Symbol("skipped");

const isNothing = (value: unknown): boolean => value === null || value === undefined;
/** Objects are not converted to strings: toString could be the user's. */
const toPlainValue = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? Number.NaN : value;
const MAX_TEXT = 100_000;
const MAX_DEPTH = 200;
/** Known names in the message about an unknown one. */
const MAX_NAMES = 12;

function unknownNameMessage(name: string, names: Names): string {
  const known = [...new Set(names.known?.() ?? [])];
  const near = nearestName(name, known);
  if (near !== undefined) return `"${name}" is not defined; did you mean ${near}?`;
  if (known.length === 0) return `"${name}" is not defined: no value is recorded here`;
  const rest = known.length - MAX_NAMES;
  return `"${name}" is not defined; known names: ${known.slice(0, MAX_NAMES).join(", ")}${
    rest > 0 ? ` and ${rest} more` : ""
  }`;
}

const kindOf = (value: unknown): string =>
  isNothing(value)
    ? String(value)
    : Array.isArray(value)
    ? "an array"
    : typeof value === "object"
    ? "an object"
    : `a ${typeof value}`;

function plus(a: unknown, b: unknown): unknown {
  if (typeof a === "number" && typeof b === "number") return a + b;
  const text = [a, b].map((part) =>
    typeof part === "object" && part !== null ? JSON.stringify(part) : String(part)
  ).join("");
  if (text.length > MAX_TEXT) {
    throw new ExpressionError(
      `the result of + is longer than ${MAX_TEXT} characters; shorten its operands`,
    );
  }
  return text;
}

class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  all(): Expression {
    const expression = this.#ternary();
    if (this.#next.kind !== "end") this.#fail();
    return expression;
  }

  get #next(): Token {
    return this.#tokens[this.#at]!;
  }

  #fail(): never {
    const { kind, text, at } = this.#next;
    throw new ExpressionError(
      kind === "end"
        ? "the expression ends unexpectedly; a value, a name or a closing bracket is missing"
        : `unexpected "${text}" at column ${at + 1}`,
    );
  }

  #takes(sign: string): boolean {
    if (this.#next.kind !== "sign" || this.#next.text !== sign) return false;
    this.#at++;
    return true;
  }

  #needs(sign: string): void {
    if (!this.#takes(sign)) this.#fail();
  }

  #name(): string {
    const { kind, text } = this.#next;
    if (kind !== "name") this.#fail();
    this.#at++;
    return text;
  }

  #ternary(): Expression {
    if (++this.#depth > MAX_DEPTH) {
      throw new ExpressionError(
        `the expression is nested too deeply at column ${
          this.#next.at + 1
        } (limit: ${MAX_DEPTH} levels)`,
      );
    }
    const test = this.#either();
    this.#depth--;
    if (!this.#takes("?")) return test;
    const then = this.#ternary();
    this.#needs(":");
    const otherwise = this.#ternary();
    return (names) => test(names) ? then(names) : otherwise(names);
  }

  #either(): Expression {
    let left = this.#both();
    for (;;) {
      const before = left;
      if (this.#takes("||")) {
        const right = this.#both();
        left = (names) => before(names) || right(names);
      } else if (this.#takes("??")) {
        const right = this.#both();
        left = (names) => before(names) ?? right(names);
      } else return left;
    }
  }

  #both(): Expression {
    let left = this.#binary(0);
    while (this.#takes("&&")) {
      const [before, right] = [left, this.#binary(0)];
      left = (names) => before(names) && right(names);
    }
    return left;
  }

  #binary(level: number): Expression {
    const signs = LEVELS[level];
    if (signs === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const { kind, text } = this.#next;
      const apply = kind === "sign" && Object.hasOwn(signs, text) ? signs[text] : undefined;
      if (apply === undefined) return left;
      this.#at++;
      const [before, right] = [left, this.#binary(level + 1)];
      left = (names) => apply(before(names), right(names));
    }
  }

  #unary(): Expression {
    if (this.#takes("!")) {
      const of = this.#unary();
      return (names) => !of(names);
    }
    if (this.#takes("-")) {
      const of = this.#unary();
      return (names) => -Number(toPlainValue(of(names)));
    }
    if (this.#next.kind === "name" && this.#next.text === "typeof") {
      this.#at++;
      const of = this.#unary();
      return (names) => typeof of(names);
    }
    return this.#members(this.#primary());
  }

  #members(first: Expression): Expression {
    let of = first;
    // In `a?.b.c` the rest is skipped if a is null or undefined.
    let skips = false;
    for (;;) {
      const object = of;
      const optional = this.#takes("?.");
      skips ||= optional;
      if (this.#takes("[")) {
        const key = this.#ternary();
        this.#needs("]");
        of = (names) => readMember(object(names), key(names), optional);
      } else if (optional || this.#takes(".")) {
        const name = this.#name();
        of = this.#takes("(")
          ? this.#call(object, name, optional)
          : (names) => readMember(object(names), name, optional);
      } else {return skips
          ? (names) => ((value) => value === SKIPPED ? undefined : value)(object(names))
          : of;}
    }
  }

  #call(object: Expression, name: string, optional: boolean): Expression {
    if (!Object.hasOwn(METHODS, name)) {
      throw new ExpressionError(
        `${name}() is not supported (supported: ${Object.keys(METHODS).join(", ")})`,
      );
    }
    const given: Expression[] = [];
    while (!this.#takes(")")) {
      if (given.length > 0) this.#needs(",");
      given.push(this.#argument());
    }
    const method = METHODS[name]!;
    return (names) => {
      const on = object(names);
      return on === SKIPPED || (optional && isNothing(on))
        ? SKIPPED
        : method(on, given.map((each) => each(names)));
    };
  }

  /** Parses an expression, or `x => expression`, `(x, i) => expression`. */
  #argument(): Expression {
    const begin = this.#at;
    const parameters: string[] = [];
    if (this.#takes("(")) {
      while (this.#next.kind === "name") {
        parameters.push(this.#name());
        if (!this.#takes(",")) break;
      }
      if (!this.#takes(")")) parameters.length = 0;
    } else if (this.#next.kind === "name") parameters.push(this.#name());
    if (parameters.length > 0 && this.#takes("=>")) {
      const body = this.#ternary();
      return (names) => (...values: unknown[]) =>
        body(Object.assign(
          (name: string) => {
            const index = parameters.indexOf(name);
            return index < 0 ? names(name) : { value: values[index] };
          },
          { known: () => [...parameters, ...(names.known?.() ?? [])] },
        ));
    }
    this.#at = begin;
    return this.#ternary();
  }

  #primary(): Expression {
    const { kind, text } = this.#next;
    if (kind === "number" || kind === "text") {
      this.#at++;
      const value = kind === "number" ? Number(text) : unquote(text);
      return () => value;
    }
    if (kind === "name") {
      this.#at++;
      if (Object.hasOwn(WORDS, text)) return () => WORDS[text];
      return (names) => {
        const found = names(text);
        if (found === undefined) throw new ExpressionError(unknownNameMessage(text, names));
        return found.value;
      };
    }
    if (this.#takes("(")) {
      const inner = this.#ternary();
      this.#needs(")");
      return inner;
    }
    if (this.#takes("[")) {
      const items: Expression[] = [];
      while (!this.#takes("]")) {
        if (items.length > 0) this.#needs(",");
        items.push(this.#ternary());
      }
      return (names) => items.map((item) => item(names));
    }
    return this.#fail();
  }
}

const WORDS: { readonly [word: string]: unknown } = {
  true: true,
  false: false,
  null: null,
  undefined: undefined,
};

function unquote(literal: string): string {
  return literal.slice(1, -1).replace(/\\(u[0-9a-fA-F]{4}|.)/g, (_, escaped: string) => {
    if (escaped.length === 5) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return ({ n: "\n", t: "\t", r: "\r" } as { [letter: string]: string | undefined })[escaped] ??
      escaped;
  });
}

/** Reads an own property, or the length of a string or array. */
function readMember(object: unknown, key: unknown, optional: boolean): unknown {
  const name = typeof key === "object" && key !== null ? JSON.stringify(key) : String(key);
  if (object === SKIPPED) return SKIPPED;
  if (isNothing(object)) {
    if (optional) return SKIPPED;
    throw new ExpressionError(
      `cannot read "${name}" of ${String(object)}; write ?. before it if the value can be missing`,
    );
  }
  if (typeof object === "string") {
    return name === "length"
      ? object.length
      : /^\d+$/.test(name)
      ? object[Number(name)]
      : undefined;
  }
  if (Array.isArray(object)) return readItem(object, name);
  return typeof object === "object" && Object.hasOwn(object as object, name)
    ? (object as { readonly [name: string]: unknown })[name]
    : undefined;
}

/** Reads an item of a copy. A copy may lack items in its middle, marked by "<12 more>". */
function readItem(items: readonly unknown[], name: string): unknown {
  const gap = items.findIndex((item) => typeof item === "string" && MORE.test(item));
  const missing = gap < 0 ? 0 : Number(MORE.exec(items[gap] as string)![1]);
  if (name === "length") return gap < 0 ? items.length : items.length - 1 + missing;
  if (!/^\d+$/.test(name)) return undefined;
  const index = Number(name);
  if (gap < 0 || index < gap) return items[index];
  if (index < gap + missing) {
    throw new ExpressionError(
      `item ${index} was not recorded: only the first and last items of long lists are recorded`,
    );
  }
  return items[index - missing + 1];
}

const MORE = /^<(\d+) more>$/;

type Method = (on: unknown, given: readonly unknown[]) => unknown;
type Each = (value: unknown, index: number) => unknown;

const list = (on: unknown, name: string): readonly unknown[] => {
  if (!Array.isArray(on)) throw new ExpressionError(`${name}() needs an array, not ${kindOf(on)}`);
  return on;
};
const each = (given: readonly unknown[], name: string): Each => {
  if (typeof given[0] !== "function") {
    throw new ExpressionError(`${name}() needs a function: ${name}((item) => ...)`);
  }
  return given[0] as Each;
};
const text = (on: unknown, name: string): string => {
  if (typeof on !== "string") {
    throw new ExpressionError(`${name}() needs a string, not ${kindOf(on)}`);
  }
  return on;
};

const METHODS: { readonly [name: string]: Method } = {
  includes: (on, [what]) =>
    Array.isArray(on)
      ? on.includes(what)
      : text(on, "includes").includes(String(toPlainValue(what))),
  indexOf: (on, [what]) =>
    Array.isArray(on) ? on.indexOf(what) : text(on, "indexOf").indexOf(String(toPlainValue(what))),
  startsWith: (on, [what]) => text(on, "startsWith").startsWith(String(toPlainValue(what))),
  endsWith: (on, [what]) => text(on, "endsWith").endsWith(String(toPlainValue(what))),
  some: (on, given) => list(on, "some").some(each(given, "some")),
  every: (on, given) => list(on, "every").every(each(given, "every")),
  find: (on, given) => list(on, "find").find(each(given, "find")),
  filter: (on, given) => list(on, "filter").filter(each(given, "filter")),
  map: (on, given) => list(on, "map").map(each(given, "map")),
  at: (on, [index]) => list(on, "at").at(Number(toPlainValue(index))),
};
