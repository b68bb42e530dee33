// Makes the context follow async functions where there is no AsyncLocalStorage. Each async function remembers the frame in which it
// was called and puts it back wherever its code goes on after a suspension:
//
//   await x                  ->  $tx.r($txFrame, await x)
//   catch (e) { ... }        ->  catch (e) {$tx.s($txFrame); ... }          and the same at the head of every finally
//   for await (const x of y) ->  try{for await (const x of y) {$tx.s($txFrame); ... }}finally{$tx.s($txFrame);}
//   yield x (async generator)->  $tx.y(yield x,$txFrame=$tx.c())            the frame of whoever asks for the next value
//   p.then(f, g)             ->  p.then($tx.w(f), $tx.w(g)), also catch and finally: callbacks run in the frame that registered them
//
// Nothing is awaited more or less than before, so every continuation runs in the same microtask tick as in the original, and the
// number of lines stays the same. Refused by name, because the context could not follow: top-level await, `await using`, import().
// Known limits, both of async generators that several scopes drive: return() and throw() run its finally blocks in the frame of the last
// next(), and a request that is queued while the generator is still running goes on in the frame that was last active.
import { parse, tokenizer } from "acorn";
import { SourceWriter } from "./writer.ts";

interface AstNode {
  type: string;
  start: number;
  end: number;
  // deno-lint-ignore no-explicit-any
  [key: string]: any;
}

/** The program uses something through which the context cannot follow. */
export class RewriteError extends Error {
  override name = "RewriteError";
}

const RESTORE = "$tx.s($txFrame);";
const CALLBACKS: { [method: string]: number } = { then: 2, catch: 1, finally: 1 };

/** What surrounds a node: the nearest function, if it is one that has to be rewritten. */
interface Surrounding {
  rewritten: boolean;
  generator: boolean;
}

/** Rewrites one module in script form (imports and types already gone). Throws RewriteError or a SyntaxError with line and column. */
export function rewriteAsyncFunctions(source: string, file: string): string {
  if (/\$tx/.test(source)) throw new RewriteError(`${file} uses names that begin with $tx, which the loader needs for itself`);
  const options = { ecmaVersion: "latest", sourceType: "script", allowReturnOutsideFunction: true } as const;
  let root: AstNode;
  try {
    root = parse(source, { ...options, locations: false }) as unknown as AstNode;
  } catch (e) {
    throw new RewriteError(`${file} cannot be parsed: ${(e as Error).message}${topLevelAwaitHint(source)}`, { cause: e });
  }
  const arrows: number[] = [];
  for (const token of tokenizer(source, options)) if (token.type.label === "=>") arrows.push(token.end);
  return new Rewriter(source, file, arrows).run(root);
}

function topLevelAwaitHint(source: string): string {
  return /\bawait\b/.test(source) ? " (await at the top level of a workflow module is not supported)" : "";
}

class Rewriter {
  readonly #out: SourceWriter;
  readonly #source: string;
  readonly #file: string;
  /** Ends of all `=>` tokens, ascending. */
  readonly #arrows: number[];
  /** for-await loops whose wrapper was opened at a label before them. */
  readonly #wrapped = new Set<AstNode>();

  constructor(source: string, file: string, arrows: number[]) {
    this.#out = new SourceWriter(source);
    this.#source = source;
    this.#file = file;
    this.#arrows = arrows;
  }

  run(root: AstNode): string {
    this.#children(root, { rewritten: false, generator: false });
    return this.#out.finish();
  }

  #visit(node: AstNode, around: Surrounding): void {
    switch (node.type) {
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        return this.#function(node);
      case "AwaitExpression":
        if (!around.rewritten) this.#refuse(node, "await at the top level of a workflow module");
        return this.#around(node, "$tx.r($txFrame,", ")", around);
      case "YieldExpression":
        if (!around.rewritten || !around.generator) break;
        return this.#yield(node, around);
      case "TryStatement":
        if (!around.rewritten) break;
        return this.#try(node, around);
      case "LabeledStatement": {
        const body = unlabelled(node);
        if (!around.rewritten || body.type !== "ForOfStatement" || body.await !== true) break;
        this.#wrapped.add(body);
        return this.#around(node, "try{", `}finally{${RESTORE}}`, around);
      }
      case "ForOfStatement":
        if (node.await !== true) break;
        if (!around.rewritten) this.#refuse(node, "for await at the top level of a workflow module");
        return this.#forAwait(node, around);
      case "VariableDeclaration":
        if (node.kind === "await using") this.#refuse(node, "`await using`");
        break;
      case "ImportExpression":
        this.#refuse(node, "import() inside a workflow module");
        break;
      case "CallExpression":
        return this.#call(node, around);
    }
    this.#children(node, around);
  }

  /** Visits what is inside a node, in the order of the text. */
  #children(node: AstNode, around: Surrounding): void {
    for (const child of childrenOf(node)) this.#visit(child, around);
  }

  #around(node: AstNode, before: string, after: string, around: Surrounding): void {
    this.#out.copyTo(node.start);
    this.#out.put(before);
    this.#children(node, around);
    this.#out.copyTo(node.end);
    this.#out.put(after);
  }

  #function(node: AstNode): void {
    const inside: Surrounding = { rewritten: node.async === true && suspends(node.body), generator: node.generator === true };
    // Parameters are evaluated by the call itself, in the caller's frame, and cannot suspend.
    for (const param of node.params as AstNode[]) this.#visit(param, { rewritten: false, generator: false });
    const body = node.body as AstNode;
    if (!inside.rewritten) return this.#visit(body, inside);
    // A generator's frame changes with whoever asks for its next value.
    const remember = `${inside.generator ? "let" : "const"} $txFrame=$tx.c();`;
    if (body.type === "BlockStatement") {
      this.#out.copyTo(endOfDirectives(body));
      this.#out.put(remember);
      return this.#children(body, inside);
    }
    // An arrow with an expression for a body. The parentheses around it, if any, belong to no node: start at the arrow itself.
    this.#out.copyTo(this.#arrowBefore(body.start));
    this.#out.put(`{${remember}return(`);
    this.#visit(body, inside);
    this.#out.copyTo(node.end);
    this.#out.put(")}");
  }

  #arrowBefore(position: number): number {
    let low = 0, high = this.#arrows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#arrows[middle]! <= position) low = middle + 1;
      else high = middle;
    }
    return this.#arrows[low - 1]!;
  }

  #yield(node: AstNode, around: Surrounding): void {
    // In `yield* inner` the inner generator is what is resumed; this one goes on in the frame that it had.
    if (node.delegate === true) return this.#around(node, "$tx.r($txFrame,", ")", around);
    this.#around(node, "$tx.y(", ",$txFrame=$tx.c())", around);
  }

  #try(node: AstNode, around: Surrounding): void {
    this.#visit(node.block, around);
    const handler = node.handler as AstNode | null;
    if (handler !== null) {
      const param = handler.param as AstNode | null;
      const body = handler.body as AstNode;
      if (param === null || param.type === "Identifier") this.#restoreAtHead(body);
      else {
        // Code in the pattern (defaults, computed keys) would run before the head of the block.
        this.#out.copyTo(param.start);
        this.#out.put("$txError");
        this.#out.skipTo(param.end);
        this.#out.copyTo(body.start + 1);
        this.#out.put(`${RESTORE}let ${this.#nested(param, around)}=$txError;`);
      }
      this.#children(body, around);
    }
    if (node.finalizer !== null) {
      this.#restoreAtHead(node.finalizer);
      this.#children(node.finalizer, around);
    }
  }

  #restoreAtHead(block: AstNode): void {
    this.#out.copyTo(block.start + 1);
    this.#out.put(RESTORE);
  }

  #forAwait(node: AstNode, around: Surrounding): void {
    const wrap = !this.#wrapped.has(node);
    if (wrap) {
      this.#out.copyTo(node.start);
      // Every way out of the loop (end, break, continue of an outer loop, return, throw) may have awaited.
      this.#out.put("try{");
    }
    const left = node.left as AstNode;
    const declared = left.type === "VariableDeclaration";
    if (declared && /using$/.test(left.kind)) this.#refuse(left, `\`${left.kind}\` in for await`);
    const target = (declared ? left.declarations[0].id : left) as AstNode;
    let head = RESTORE;
    if (target.type !== "Identifier") {
      const binding = this.#nested(target, around);
      this.#out.copyTo(left.start);
      this.#out.put("const $txItem");
      this.#out.skipTo(left.end);
      head += declared ? `${left.kind} ${binding}=$txItem;` : `(${binding}=$txItem);`;
    }
    this.#visit(node.right, around);
    const body = node.body as AstNode;
    if (head === RESTORE && body.type === "BlockStatement") {
      this.#restoreAtHead(body);
      this.#children(body, around);
    } else {
      this.#out.copyTo(body.start);
      this.#out.put(`{${head}`);
      this.#visit(body, around);
      this.#out.copyTo(body.end);
      this.#out.put("}");
    }
    if (wrap) {
      this.#out.copyTo(node.end);
      this.#out.put(`}finally{${RESTORE}}`);
    }
  }

  /** The rewritten text of a part that moves to another place, with its line breaks: it is left out where it was. */
  #nested(node: AstNode, around: Surrounding): string {
    const part = new Rewriter(this.#source, this.#file, this.#arrows);
    part.#out.skipTo(node.start);
    part.#visit(node, around);
    part.#out.copyTo(node.end);
    return part.#out.written();
  }

  #call(node: AstNode, around: Surrounding): void {
    const callee = node.callee as AstNode;
    const wrapped = callbacksOf(callee);
    this.#visit(callee, around);
    (node.arguments as AstNode[]).forEach((argument, i) => {
      if (i >= wrapped) return this.#visit(argument, around);
      const spread = argument.type === "SpreadElement";
      const value = (spread ? argument.argument : argument) as AstNode;
      this.#out.copyTo(value.start);
      this.#out.put(spread ? "$tx.a(" : "$tx.w(");
      this.#visit(value, around);
      this.#out.copyTo(value.end);
      this.#out.put(")");
    });
  }

  #refuse(node: AstNode, what: string): never {
    const before = this.#source.slice(0, node.start);
    const line = before.split("\n").length;
    throw new RewriteError(`${what} is not supported (${this.#file}:${line}:${node.start - before.lastIndexOf("\n")})`);
  }
}

/** How many leading arguments of a call are callbacks of a promise. */
function callbacksOf(callee: AstNode): number {
  if (callee.type !== "MemberExpression") return 0;
  const property = callee.property as AstNode;
  const name = callee.computed === true ? property.value : property.name;
  return typeof name === "string" && Object.hasOwn(CALLBACKS, name) ? CALLBACKS[name]! : 0;
}

function unlabelled(node: AstNode): AstNode {
  let body = node;
  while (body.type === "LabeledStatement") body = body.body;
  return body;
}

function endOfDirectives(block: AstNode): number {
  let end = block.start + 1;
  for (const statement of block.body as AstNode[]) {
    if (typeof statement.directive !== "string") break;
    end = statement.end;
  }
  return end;
}

/** Nodes directly inside a node, by position; a shorthand property's key and value are one. */
function childrenOf(node: AstNode): AstNode[] {
  const found: AstNode[] = [];
  for (const [key, value] of Object.entries(node)) {
    if (node.type === "Property" && node.shorthand === true && key === "key") continue;
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== null && typeof item === "object" && typeof item.type === "string" && typeof item.start === "number") {
        found.push(item);
      }
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

/** Whether code of this function itself, not of functions in it, can be suspended. */
function suspends(node: AstNode): boolean {
  if (node.type === "AwaitExpression" || node.type === "YieldExpression") return true;
  if (node.type === "ForOfStatement" && node.await === true) return true;
  if (node.type === "VariableDeclaration" && node.kind === "await using") return true;
  if (/^(Function|ArrowFunction)/.test(node.type)) return false;
  return childrenOf(node).some(suspends);
}
