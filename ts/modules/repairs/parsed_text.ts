// A module's text with its syntax tree, to find the statement of a line. The tree is of the text
// without types: lines are the same, columns only where the line has no types.
import {
  type AnyNode,
  type CallExpression,
  type Node,
  parse,
  type Program,
  type Statement,
} from "acorn";
import { children } from "../loader/scope.ts";
import { needsSucrase, strip } from "../loader/strip.ts";

/** A statement of a list, as lines of the text. */
export interface StatementAt {
  readonly node: Statement;
  /** The list of statements, and its index there. */
  readonly among: readonly Statement[];
  readonly index: number;
  /** Lines, from 1. */
  readonly first: number;
  readonly last: number;
  /** Text before and after it on these lines, usually only spaces. */
  readonly before: string;
  readonly behind: string;
  /** Its text, the first line without indent. */
  readonly text: string;
  readonly indent: string;
}

/** With whether the statement is only the call. */
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

  /** Throws a parser's error. `loadSucrase` must have resolved if `url` has types. */
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

  /** Returns the text of a node, without types. */
  plain({ start, end }: Node): string {
    return this.#plain.slice(start, end);
  }

  /**
   * Returns the innermost statement that makes the call at a line. `isIt` selects one of several
   * calls. Undefined without a match, or if the call is in a nested function such as a handler or a
   * branch.
   */
  statementAt(line: number, isIt: (call: CallExpression) => boolean): StatementOfCall | undefined {
    interface At {
      readonly list: readonly Statement[];
      readonly index: number;
      /** Number of enclosing functions. */
      readonly functions: number;
    }
    const calls: { readonly call: CallExpression; readonly at: At; readonly functions: number }[] =
      [];
    const visit = (node: AnyNode, at: At | undefined, functions: number) => {
      if (node.loc!.start.line > line || node.loc!.end.line < line) return;
      const before = calls.length;
      const list = listOf(node);
      const inside = functions + (isFunction(node) ? 1 : 0);
      for (const child of children(node)) {
        const index = list?.indexOf(child as Statement) ?? -1;
        visit(child, index < 0 ? at : { list: list!, index, functions: inside }, inside);
      }
      // A call that only has such a call among its arguments is another call.
      if (
        node.type === "CallExpression" && at !== undefined && calls.length === before && isIt(node)
      ) {
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
   * Whether the function at a line calls something of this name after that line, or names it in a
   * string. A loop around the line counts from its start, because its earlier lines run again.
   */
  callsAfter(line: number, name: string): boolean {
    let scope: AnyNode = this.program as AnyNode;
    let from = line + 1;
    const find = (node: AnyNode) => {
      if (node.loc!.start.line > line || node.loc!.end.line < line) return;
      if (isFunction(node)) [scope, from] = [node, line + 1];
      else if (/^(?:For|While|DoWhile)/.test(node.type)) {
        from = Math.min(from, node.loc!.start.line);
      }
      for (const child of children(node)) find(child);
    };
    find(this.program as AnyNode);
    const names = (node: AnyNode): boolean => {
      const own = node.type === "Identifier"
        ? node.name
        : node.type === "Literal"
        ? node.value
        : undefined;
      if (own === name && node.loc!.start.line >= from) return true;
      return [...children(node)].some(names);
    };
    return names(scope);
  }

  /** Returns the first statement that begins at a line. */
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

  /**
   * Returns undefined if its text cannot be separated from neighbors on the line, because types
   * shift columns.
   */
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
    return {
      node,
      among,
      index,
      first: start.line,
      last: end.line,
      before,
      behind,
      text: lines.join("\n"),
      indent,
    };
  }
}

/** Returns the list of statements of a node. */
function listOf(node: AnyNode): readonly Statement[] | undefined {
  if (node.type === "BlockStatement") return node.body;
  return node.type === "SwitchCase" ? node.consequent : undefined;
}

/**
 * Whether a statement is only `call`, awaited or not, possibly with its value declared, assigned,
 * returned or read from.
 */
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
