// Text of the two branches of a repair: the new statement after a patch, the old statement in the
// other branch. Names that a statement declares are declared before the branch, so that later code
// still sees them.
import type { AnyNode, VariableDeclaration } from "acorn";
import { patternNames } from "../loader/scope.ts";
import type { StatementAt } from "./parsed_text.ts";

/** A statement that can be moved into a branch. */
export interface Movable {
  /** Declarations to put before the branch; "" if the statement declares nothing. */
  readonly declared: string;
  /** The statement without its declaration. */
  readonly text: string;
  /** Names that it assigns. */
  readonly names: readonly string[];
}

const DECLARATION = /^(?:const|let|var)\s+/;

/** Returns undefined for a statement whose meaning would change in a branch. */
export function movable({ node, text }: StatementAt): Movable | undefined {
  if (node.type === "ExpressionStatement") return { declared: "", text, names: [] };
  if (node.type !== "VariableDeclaration") return undefined;
  return movedDeclaration(node, text);
}

function movedDeclaration(
  { declarations }: VariableDeclaration,
  text: string,
): Movable | undefined {
  const [only, another] = declarations;
  if (only === undefined || another !== undefined || only.init == null) return undefined;
  const names = [...patternNames(only.id)].map(({ name }) => name);
  if (only.id.type === "Identifier") {
    const [head, , type = ""] =
      /^(?:const|let|var)\s+([\w$]+)\s*(:[^=]*?)?\s*=(?!=|>)\s*/.exec(text) ?? [];
    if (head === undefined) return undefined;
    return {
      declared: `let ${only.id.name}${type};`,
      text: `${only.id.name} = ${text.slice(head.length)}`,
      names,
    };
  }
  // A type annotation of a pattern would have to be moved as well.
  const rest = text.replace(DECLARATION, "");
  if (only.id.type !== "ObjectPattern" || !/^\{[^:{}]*\}\s*=/.test(rest)) return undefined;
  return { declared: `let ${names.join(", ")};`, text: `(${rest.replace(/;\s*$/, "")});`, names };
}

/** `return` and `throw` can be moved into a branch as they are. */
export const isReturn = ({ type }: AnyNode): boolean =>
  type === "ReturnStatement" || type === "ThrowStatement";

/** Indents lines by one step, except inside multi-line templates. */
export function indented(text: string, indent: string, step = "  "): string {
  const lines = text.split("\n");
  if (text.includes("`") && lines.length > 1) return `${indent}${step}${text}`;
  return lines.map((line, i) =>
    i === 0 ? `${indent}${step}${line}` : line === "" ? line : `${step}${line}`
  ).join("\n");
}

/** Returns `if (test) { ... }`, with an `else` if there is one. The first line is not indented. */
export function branches(
  test: string,
  indent: string,
  then: readonly string[],
  otherwise: readonly string[] = [],
): string {
  const block = (texts: readonly string[]) =>
    texts.map((text) => indented(text, indent)).join("\n");
  const end = otherwise.length === 0
    ? `${indent}}`
    : `${indent}} else {\n${block(otherwise)}\n${indent}}`;
  return `if (${test}) {\n${block(then)}\n${end}`;
}

/**
 * Returns the text with the first `name` as a whole word, also in strings, replaced; undefined if
 * the text does not contain it.
 */
export function withName(text: string, name: string, by: string): string | undefined {
  const word = new RegExp(`(?<![\\w$])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w$])`);
  return name !== "" && word.test(text) ? text.replace(word, () => by) : undefined;
}
