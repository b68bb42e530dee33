// A module's text beside its syntax tree: which statement a line of workflow code belongs to. The tree is of the text without types, which
// has the same lines; columns are those of the text only where the line has no types.
import { type AnyNode, type CallExpression, type Node, parse, type Program, type Statement } from "acorn";
import { children } from "../loader/scope.ts";
import { needsSucrase, strip } from "../loader/strip.ts";

/** A statement of a list of statements, as lines of the text. */
export interface StatementAt {
  readonly node: Statement;
  /** The statements that it is among, and its place there. */
  readonly among: readonly Statement[];
  readonly index: number;
  /** Lines, from 1. */
  readonly first: number;
  readonly last: number;
  /** What stands before and behind it on these lines: "" but for spaces, mostly. */
  readonly before: string;
  readonly behind: string;
  /** As it stands in the text, its first line without indent. */
  readonly text: string;
  readonly indent: string;
}

/** With whether the call is all that the statement does. */
export interface StatementOfCall extends StatementAt {
  readonly isAll: boolean;
}

const isFunction = ({ type }: AnyNode): boolean => /Function/.test(type);

const lineOf = (node: Node): number => node.loc!.start.line;

/** One module. */
export class ParsedText {
  readonly lines: readonly string[];
  readonly program: Program;
  readonly #plain: string;
  readonly #plainLines: readonly string[];

  /** Throws a parser's error. `loadSucrase` must have resolved where `url` has types. */
  constructor(url: string, text: string) {
    this.lines = text.split("\n");
    this.#plain = needsSucrase(url) ? strip(url, text) : text;
    this.#plainLines = this.#plain.split("\n");
    const options = { ecmaVersion: "latest", allowHashBang: true, locations: true } as const;
    try {
      this.program = parse(this.#plain, { ...options, sourceType: "module" });
    } catch {
      this.program = parse(this.#plain, { ...options, sourceType: "commonjs" });
    }
  }

  /** The text of a node, without types. */
  plain({ start, end }: Node): string {
    return this.#plain.slice(start, end);
  }

  /**
   * The statement that makes the call at a line: the innermost of a list. Of several calls `isIt` picks one. Undefined: there is none, or
   * the call is in a function within the statement, as a handler or a branch is.
   */
  statementAt(line: number, isIt: (call: CallExpression) => boolean): StatementOfCall | undefined {
    interface At {
      readonly list: readonly Statement[];
      readonly index: number;
      /** How many functions are around it. */
      readonly functions: number;
    }
    const calls: { readonly call: CallExpression; readonly at: At; readonly functions: number }[] = [];
    const visit = (node: AnyNode, at: At | undefined, functions: number) => {
      if (node.loc!.start.line > line || node.loc!.end.line < line) return;
      const before = calls.length;
      const list = listOf(node);
      const inside = functions + (isFunction(node) ? 1 : 0);
      for (const child of children(node)) {
        const index = list?.indexOf(child as Statement) ?? -1;
        visit(child, index < 0 ? at : { list: list!, index, functions: inside }, inside);
      }
      // One that only has such a call among its arguments is another.
      if (node.type === "CallExpression" && at !== undefined && calls.length === before && isIt(node)) {
        calls.push({ call: node, at, functions });
      }
    };
    visit(this.program as AnyNode, undefined, 0);
    const found = calls.find(({ call }) => lineOf(call) === line) ?? calls.at(-1);
    if (found === undefined || found.functions !== found.at.functions) return undefined;
    const statement = this.statement(found.at.list, found.at.index);
    return statement && { ...statement, isAll: expressionOf(statement.node, found.call) };
  }

  /**
   * Whether the function around a line calls, after that line, something of this name, or names it in a string. A loop around the line
   * counts from its start, because its earlier lines run again.
   */
  callsAfter(line: number, name: string): boolean {
    let scope: AnyNode = this.program as AnyNode;
    let from = line + 1;
    const find = (node: AnyNode) => {
      if (node.loc!.start.line > line || node.loc!.end.line < line) return;
      if (isFunction(node)) [scope, from] = [node, line + 1];
      else if (/^(?:For|While|DoWhile)/.test(node.type)) from = Math.min(from, node.loc!.start.line);
      for (const child of children(node)) find(child);
    };
    find(this.program as AnyNode);
    const names = (node: AnyNode): boolean => {
      const own = node.type === "Identifier" ? node.name : node.type === "Literal" ? node.value : undefined;
      if (own === name && node.loc!.start.line >= from) return true;
      return [...children(node)].some(names);
    };
    return names(scope);
  }

  /** A statement that begins at a line; the first of several. */
  beginsAt(line: number): StatementAt | undefined {
    let found: StatementAt | undefined;
    const visit = (node: AnyNode) => {
      if (found !== undefined || node.loc!.start.line > line || node.loc!.end.line < line) return;
      const list = listOf(node);
      const index = list?.findIndex((one) => lineOf(one) === line) ?? -1;
      if (index >= 0) found = this.statement(list!, index);
      else for (const child of children(node)) visit(child);
    };
    visit(this.program as AnyNode);
    return found;
  }

  /** Undefined where its text cannot be told from what stands beside it, since types shift the columns. */
  statement(among: readonly Statement[], index: number): StatementAt | undefined {
    const node = among[index];
    if (node?.loc == null) return undefined;
    const { start, end } = node.loc;
    const [head, tail] = [this.lines[start.line - 1], this.lines[end.line - 1]];
    if (head === undefined || tail === undefined) return undefined;
    const plainHead = this.#plainLines[start.line - 1]!;
    const plainTail = this.#plainLines[end.line - 1]!;
    const isAlone = plainHead.slice(0, start.column).trim() === "" &&
      /^\s*(?:\/\/.*|\/\*.*\*\/\s*)?$/.test(plainTail.slice(end.column));
    const hasTypes = head !== plainHead || tail !== plainTail;
    if (hasTypes && !isAlone) return undefined;
    const before = isAlone ? /^\s*/.exec(head)![0] : head.slice(0, start.column);
    const behind = isAlone ? "" : tail.slice(end.column);
    const lines = this.lines.slice(start.line - 1, end.line);
    lines[lines.length - 1] = tail.slice(0, tail.length - behind.length);
    lines[0] = lines[0]!.slice(before.length);
    const indent = /^\s*/.exec(head)![0];
    return { node, among, index, first: start.line, last: end.line, before, behind, text: lines.join("\n"), indent };
  }
}

/** The list of statements that a node is. */
function listOf(node: AnyNode): readonly Statement[] | undefined {
  if (node.type === "BlockStatement") return node.body;
  return node.type === "SwitchCase" ? node.consequent : undefined;
}

/** Whether a statement is `call`, awaited or not, perhaps with its value declared, assigned, returned or read from. */
function expressionOf(statement: Statement, call: CallExpression): boolean {
  let node: AnyNode | null | undefined = statement;
  while (node != null && node !== call) {
    switch (node.type) {
      case "ExpressionStatement":
        node = node.expression;
        break;
      case "VariableDeclaration":
        node = node.declarations.length === 1 ? node.declarations[0]!.init : undefined;
        break;
      case "ReturnStatement":
      case "AwaitExpression":
      case "UnaryExpression":
        node = node.argument;
        break;
      case "AssignmentExpression":
        node = node.right;
        break;
      case "MemberExpression":
        node = node.object as AnyNode;
        break;
      case "CallExpression":
        node = node.callee as AnyNode;
        break;
      default:
        return false;
    }
  }
  return node === call;
}
