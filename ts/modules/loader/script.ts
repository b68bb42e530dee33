// A parsed module in script form: its nodes in source order, and predicates over them.
import { parse, tokenizer } from "acorn";

export interface AstNode {
  type: string;
  start: number;
  end: number;
  // deno-lint-ignore no-explicit-any
  [key: string]: any;
}

interface Token {
  start: number;
  end: number;
  text: string;
}

/** A module in script form: without imports and types. */
export class Script {
  readonly source: string;
  readonly root: AstNode;
  /** Tokens that edits look up by position. */
  readonly #marks: Token[] = [];

  /** Throws a SyntaxError with line and column. */
  constructor(source: string) {
    const options = {
      ecmaVersion: "latest",
      sourceType: "script",
      allowReturnOutsideFunction: true,
    } as const;
    this.source = source;
    this.root = parse(source, options) as unknown as AstNode;
    for (const { start, end } of tokenizer(source, options)) {
      const text = source.slice(start, end);
      if (text === "=>" || text === "async" || text === "*") this.#marks.push({ start, end, text });
    }
  }

  /** Returns the end of the last `=>` before a position. */
  arrowBefore(position: number): number {
    const before = this.#marks.filter((token) => token.text === "=>" && token.end <= position);
    return before[before.length - 1]!.end;
  }

  /** Returns the tokens `async` and `*` of a function or method between two positions. */
  generatorMarks(from: number, to: number): Token[] {
    return this.#marks.filter((token) =>
      token.text !== "=>" && token.start >= from && token.end <= to
    );
  }

  /** Returns the line of a node, from 1. */
  line(node: AstNode): number {
    return this.source.slice(0, node.start).split("\n").length;
  }
}

/**
 * Returns the direct children of a node by position. Key and value of a shorthand property are one
 * node.
 */
export function childrenOf(node: AstNode): AstNode[] {
  const found: AstNode[] = [];
  for (const [key, value] of Object.entries(node)) {
    if (node.type === "Property" && node.shorthand === true && key === "key") continue;
    for (const item of Array.isArray(value) ? value : [value]) {
      if (
        item !== null && typeof item === "object" && typeof item.type === "string" &&
        typeof item.start === "number"
      ) {
        found.push(item);
      }
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

export function isFunctionAst(node: AstNode): boolean {
  return node.type === "FunctionDeclaration" || node.type === "FunctionExpression" ||
    node.type === "ArrowFunctionExpression";
}

/** Whether a function's own code, without nested functions, can be suspended. */
export function suspends(node: AstNode): boolean {
  if (node.type === "AwaitExpression" || node.type === "YieldExpression") return true;
  if (node.type === "ForOfStatement" && node.await === true) return true;
  if (node.type === "VariableDeclaration" && node.kind === "await using") return true;
  return !isFunctionAst(node) && childrenOf(node).some(suspends);
}

/**
 * Returns the first `super` of a method's own code. Arrow functions belong to it, other functions
 * do not.
 */
export function findSuper(node: AstNode): AstNode | undefined {
  if (node.type === "Super") return node;
  for (const child of childrenOf(node)) {
    if (child.type === "FunctionDeclaration" || child.type === "FunctionExpression") continue;
    const found = findSuper(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the statement inside of labels. */
export function unlabeled(node: AstNode): AstNode {
  let body = node;
  while (body.type === "LabeledStatement") body = body.body;
  return body;
}

/** Returns the position after the directives ("use strict") of a block. */
export function endOfDirectives(block: AstNode): number {
  let end = block.start + 1;
  for (const statement of block.body as AstNode[]) {
    if (typeof statement.directive !== "string") break;
    end = statement.end;
  }
  return end;
}
