// The two ways of a repair, as text: a statement that runs behind a patch, and the statement of old beside it. What a statement declares is
// declared before, so that the code behind it goes on knowing the name.
import type { AnyNode, VariableDeclaration } from "acorn";
import { patternNames } from "../loader/scope.ts";
import type { StatementAt } from "./parsed_text.ts";

/** A statement that can stand in a branch. */
export interface Movable {
  /** What has to be declared before; "" for a statement that declares nothing. */
  readonly declared: string;
  /** The statement without its declaration. */
  readonly text: string;
  /** Names that it gives a value. */
  readonly names: readonly string[];
}

const DECLARATION = /^(?:const|let|var)\s+/;

/** Undefined: it cannot stand in a branch without another meaning. */
export function movable({ node, text }: StatementAt): Movable | undefined {
  if (node.type === "ExpressionStatement") return { declared: "", text, names: [] };
  if (node.type !== "VariableDeclaration") return undefined;
  return movedDeclaration(node, text);
}

function movedDeclaration({ declarations }: VariableDeclaration, text: string): Movable | undefined {
  const [only, another] = declarations;
  if (only === undefined || another !== undefined || only.init == null) return undefined;
  const names = [...patternNames(only.id)].map(({ name }) => name);
  if (only.id.type === "Identifier") {
    const [head, , type = ""] = /^(?:const|let|var)\s+([\w$]+)\s*(:[^=]*?)?\s*=(?!=|>)\s*/.exec(text) ?? [];
    if (head === undefined) return undefined;
    return { declared: `let ${only.id.name}${type};`, text: `${only.id.name} = ${text.slice(head.length)}`, names };
  }
  // A type behind a pattern would have to come along.
  const rest = text.replace(DECLARATION, "");
  if (only.id.type !== "ObjectPattern" || !/^\{[^:{}]*\}\s*=/.test(rest)) return undefined;
  return { declared: `let ${names.join(", ")};`, text: `(${rest.replace(/;\s*$/, "")});`, names };
}

/** It is known where `return` is: such a statement stands in a branch as it is. */
export const isReturn = ({ type }: AnyNode): boolean => type === "ReturnStatement" || type === "ThrowStatement";

/** Lines moved under a brace: one step further in, but for what stands in templates of many lines. */
export function indented(text: string, indent: string, step = "  "): string {
  const lines = text.split("\n");
  if (text.includes("`") && lines.length > 1) return `${indent}${step}${text}`;
  return lines.map((line, i) => i === 0 ? `${indent}${step}${line}` : line === "" ? line : `${step}${line}`).join("\n");
}

/** `if (test) { ... }`, with an `else` where there is one; without indent on its first line. */
export function branches(test: string, indent: string, then: readonly string[], otherwise: readonly string[] = []): string {
  const block = (texts: readonly string[]) => texts.map((text) => indented(text, indent)).join("\n");
  const end = otherwise.length === 0 ? `${indent}}` : `${indent}} else {\n${block(otherwise)}\n${indent}}`;
  return `if (${test}) {\n${block(then)}\n${end}`;
}

/** The text with the first `name` that is a word of its own, in a string or not, replaced; undefined: it has none. */
export function withName(text: string, name: string, by: string): string | undefined {
  const word = new RegExp(`(?<![\\w$])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w$])`);
  return name !== "" && word.test(text) ? text.replace(word, () => by) : undefined;
}
