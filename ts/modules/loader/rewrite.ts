// Rewrites modules that are evaluated for each run (`@temporalio/workflow` programs): generators as
// the official bundler compiles them, and scopes without AsyncLocalStorage. Lines keep their
// numbers, and every continuation runs in the same microtask tick as in the original. Rejected,
// because their scope cannot be followed: top-level await, `await using`, import().
import {
  type AstNode,
  childrenOf,
  endOfDirectives,
  findSuper,
  Script,
  suspends,
  unlabeled,
} from "./script.ts";
import { SourceWriter } from "./source_writer.ts";

/** Thrown for a construct that cannot be rewritten. */
export class RewriteError extends Error {
  override name = "RewriteError";
  /** From 1. */
  readonly line: number;
  readonly construct: string;

  constructor(construct: string, line: number) {
    super(`uses ${construct}, which workflow code cannot use: its scope cannot be followed`);
    this.construct = construct;
    this.line = line;
  }
}

export interface RewriteOptions {
  /**
   * Compiles async generators like the official SDK's bundler (ts/compat/async_generator.ts),
   * because histories depend on their ticks:
   *
   *     async function* f(a) {...}  ->  function f(){return $tx.g(this,arguments,function*(a) {...});}
   *     await x                     ->  $tx.v(yield $tx.aw(x))
   *     yield* x                    ->  yield* $tx.d(x)
   *     for await                   ->  a for loop over $tx.i(x)
   */
  compileGenerators: boolean;
  /**
   * Restores scopes without AsyncLocalStorage. An async function saves the frame of its caller and
   * restores it after each suspension; callbacks run in the frame that registered them:
   *
   *     await x                 ->  $tx.r($txFrame, await x)
   *     catch (e) { ... }       ->  catch (e) {$tx.s($txFrame); ... }       also in every finally
   *     for await (... of y) {} ->  try{for await (... of y) {$tx.s($txFrame); }}finally{$tx.s($txFrame);}
   *     yield x                 ->  $tx.y(yield x,$txFrame=$tx.c())         the frame of the next caller
   *     p.then(f, g)            ->  p.then($tx.w(f), $tx.w(g))              also catch and finally
   *
   * Limits for generators that are not compiled (JavaScript files) and that several scopes drive:
   * return() and throw() run finally blocks in the frame of the last next(), and a request queued
   * while the generator runs continues in the last active frame. These and other constructs that
   * are not followed exactly are reported (`Rewritten.inexact`).
   */
  restoreFrames: boolean;
}

const RESTORE = "$tx.s($txFrame);";
const CALLBACKS: { [method: string]: number } = { then: 2, catch: 1, finally: 1 };
/**
 * Names whose use in other ways than a call of a promise's method is not followed exactly: own
 * thenables, methods that are read without a call, callbacks that no text shows.
 */
const NOT_FOLLOWED: ReadonlySet<string> = new Set([
  ...Object.keys(CALLBACKS),
  "enterWith",
  "fromAsync",
]);

/**
 * How code of the nearest function is rewritten. "frames" and "frames*" (an async generator)
 * restore frames.
 */
type Kind = "plain" | "frames" | "frames*" | "compiled";

interface Rewritten {
  readonly code: string;
  /**
   * A construct whose scope the code does not follow exactly: AsyncLocalStorage may have another
   * scope there. Undefined: the scopes are the same everywhere.
   */
  readonly inexact: string | undefined;
}

/**
 * Rewrites one module in script form (imports and types already gone). Throws a RewriteError with
 * the line.
 */
export function rewriteModule(source: string, options: RewriteOptions): Rewritten {
  return new Rewriter(new Script(source), options).run();
}

class Rewriter {
  readonly #out: SourceWriter;
  readonly #script: Script;
  readonly #options: RewriteOptions;
  /** for-await loops whose wrapper begins before a label. */
  readonly #wrapped = new Set<AstNode>();
  #inexact: string | undefined;

  constructor(script: Script, options: RewriteOptions) {
    this.#out = new SourceWriter(script.source);
    this.#script = script;
    this.#options = options;
  }

  run(): Rewritten {
    this.#children(this.#script.root, "plain");
    return { code: this.#out.finish(), inexact: this.#inexact };
  }

  #visit(node: AstNode, kind: Kind): void {
    const name = this.#options.restoreFrames ? nameIn(node) : undefined;
    if (name !== undefined && NOT_FOLLOWED.has(name)) this.#inexact ??= `the name "${name}"`;
    switch (node.type) {
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        return this.#function(node, node, kind);
      case "MethodDefinition":
      case "Property":
        if (!isMethod(node)) break;
        return this.#function(node.value, node, kind);
      case "AwaitExpression":
        if (kind === "compiled") return this.#await(node);
        if (kind === "plain") break;
        return this.#around(node, "$tx.r($txFrame,", ")", kind);
      case "YieldExpression":
        return this.#yield(node, kind);
      case "TryStatement":
        if (kind !== "frames" && kind !== "frames*") break;
        return this.#try(node, kind);
      case "LabeledStatement": {
        const body = unlabeled(node);
        if (body.type !== "ForOfStatement" || body.await !== true || kind === "plain") break;
        this.#wrapped.add(body);
        const [before, after] = wrapperOf(kind);
        return this.#around(node, before, after, kind);
      }
      case "ForOfStatement":
        if (node.await !== true || kind === "plain") break;
        return kind === "compiled" ? this.#compiledForAwait(node) : this.#forAwait(node, kind);
      case "VariableDeclaration":
        if (node.kind === "await using") this.#refuse(node, "`await using`");
        break;
      case "ImportExpression":
        this.#refuse(node, "import() inside a workflow module");
        break;
      case "CallExpression":
        if (this.#options.restoreFrames) return this.#call(node, kind);
        break;
    }
    this.#children(node, kind);
  }

  /** Visits the children of a node in source order. */
  #children(node: AstNode, kind: Kind): void {
    for (const child of childrenOf(node)) this.#visit(child, kind);
  }

  #around(node: AstNode, before: string, after: string, kind: Kind): void {
    this.#out.copyTo(node.start);
    this.#out.put(before);
    this.#children(node, kind);
    this.#out.copyTo(node.end);
    this.#out.put(after);
  }

  // ------------------------------------------------------------------------------ functions

  /**
   * `whole`: the method that the function belongs to, or the function; `around`: kind of the
   * enclosing code.
   */
  #function(node: AstNode, whole: AstNode, around: Kind): void {
    const { compileGenerators, restoreFrames } = this.#options;
    if (node.async === true && node.generator === true && compileGenerators) {
      return this.#generator(node, whole, around);
    }
    if (whole.computed === true) this.#visit(whole.key, around);
    const restored = node.async === true && restoreFrames && suspends(node.body);
    const kind: Kind = !restored ? "plain" : node.generator === true ? "frames*" : "frames";
    if (kind === "frames*") this.#inexact ??= "an async generator of JavaScript";
    // Parameters are evaluated in the caller's frame and cannot suspend.
    for (const param of node.params as AstNode[]) this.#visit(param, "plain");
    const body = node.body as AstNode;
    if (kind === "plain") return this.#visit(body, kind);
    // A generator's frame is that of the latest caller of next().
    const remember = `${kind === "frames*" ? "let" : "const"} $txFrame=$tx.c();`;
    if (body.type === "BlockStatement") {
      this.#out.copyTo(endOfDirectives(body));
      this.#out.put(remember);
      return this.#children(body, kind);
    }
    // An arrow with an expression body. Its parentheses belong to no node, so copying starts at the
    // arrow.
    this.#out.copyTo(this.#script.arrowBefore(body.start));
    this.#out.put(`{${remember}return(`);
    this.#visit(body, kind);
    this.#out.copyTo(node.end);
    this.#out.put(")}");
  }

  /**
   * The wrapping function declares no parameters: it passes `this` and all arguments to the inner
   * generator.
   */
  #generator(node: AstNode, whole: AstNode, around: Kind): void {
    const inSuper = whole === node ? undefined : findSuper(node.body);
    if (inSuper !== undefined) this.#refuse(inSuper, "super in an async generator");
    const params = node.params as AstNode[];
    const open = this.#script.source.indexOf(
      "(",
      whole === node ? node.id?.end ?? this.#afterMarks(node) : node.start,
    );
    const head = whole === node ? node.start : whole.start;
    for (const mark of this.#script.generatorMarks(head, whole === node ? open : whole.key.start)) {
      this.#out.copyTo(mark.start);
      this.#out.skipTo(mark.end);
    }
    if (whole.computed === true) this.#visit(whole.key, around);
    this.#out.copyTo(open);
    this.#out.put("(){return $tx.g(this,arguments,function*");
    for (const param of params) this.#visit(param, "plain");
    this.#children(node.body, "compiled");
    this.#out.copyTo(node.end);
    this.#out.put(");}");
  }

  /** Returns the position after the `*` of an anonymous function expression. */
  #afterMarks(node: AstNode): number {
    return this.#script.generatorMarks(node.start, node.body.start).find((mark) =>
      mark.text === "*"
    )!.end;
  }

  // ---------------------------------------------------------------------------- suspensions

  #await(node: AstNode): void {
    this.#out.copyTo(node.start);
    this.#out.put("$tx.v(yield $tx.aw(");
    this.#out.skipTo(node.start + "await".length);
    this.#children(node, "compiled");
    this.#out.copyTo(node.end);
    this.#out.put("))");
  }

  #yield(node: AstNode, kind: Kind): void {
    if (kind === "compiled" && node.delegate === true) {
      const inner = node.argument as AstNode;
      this.#out.copyTo(this.#script.generatorMarks(node.start, inner.start)[0]!.end);
      this.#out.put(" $tx.d(");
      this.#visit(inner, kind);
      this.#out.copyTo(node.end);
      this.#out.put(")");
    } else if (kind !== "frames*") this.#children(node, kind);
    // In `yield* inner` the inner generator is resumed; this one continues in its previous frame.
    else if (node.delegate === true) this.#around(node, "$tx.r($txFrame,", ")", kind);
    else this.#around(node, "$tx.y(", ",$txFrame=$tx.c())", kind);
  }

  #try(node: AstNode, kind: Kind): void {
    this.#visit(node.block, kind);
    const handler = node.handler as AstNode | null;
    if (handler !== null) {
      const param = handler.param as AstNode | null;
      const body = handler.body as AstNode;
      if (param === null || param.type === "Identifier") this.#restoreAtHead(body);
      else {
        // Code in the pattern (defaults, computed keys) would run before the start of the block.
        this.#out.copyTo(param.start);
        this.#out.put("$txError");
        this.#out.skipTo(param.end);
        this.#out.copyTo(body.start + 1);
        this.#out.put(`${RESTORE}let ${this.#moved(param, kind)}=$txError;`);
      }
      this.#children(body, kind);
    }
    if (node.finalizer !== null) {
      this.#restoreAtHead(node.finalizer);
      this.#children(node.finalizer, kind);
    }
  }

  #restoreAtHead(block: AstNode): void {
    this.#out.copyTo(block.start + 1);
    this.#out.put(RESTORE);
  }

  // ---------------------------------------------------------------------------------- loops

  #forAwait(node: AstNode, kind: Kind): void {
    this.#inWrapper(node, kind, () => {
      const left = this.#loopTarget(node);
      let head = RESTORE;
      if (left.target.type !== "Identifier") {
        const binding = left.assign("$txItem", this.#moved(left.target, kind));
        this.#out.copyTo(node.left.start);
        this.#out.put("const $txItem");
        this.#out.skipTo(node.left.end);
        head += binding;
      }
      this.#visit(node.right, kind);
      const body = node.body as AstNode;
      if (head === RESTORE && body.type === "BlockStatement") {
        this.#restoreAtHead(body);
        this.#children(body, kind);
      } else this.#loopBody(body, head, kind);
    });
  }

  /** Writes the loop of the official bundler: it calls next() and return() of an iterator. */
  #compiledForAwait(node: AstNode): void {
    this.#inWrapper(node, "compiled", () => {
      const left = this.#loopTarget(node);
      const right = node.right as AstNode;
      this.#out.copyTo(node.start);
      const binding = this.#moved(left.target, "compiled");
      this.#out.put("for($txI=$tx.i(");
      // Keeps the lines before the iterated expression, except those of the target, which moves
      // into the loop.
      const lines = (text: string) => text.split("\n").length - 1;
      this.#out.put(
        "\n".repeat(lines(this.#script.source.slice(node.start, right.start)) - lines(binding)),
      );
      this.#out.skipTo(right.start);
      this.#visit(right, "compiled");
      this.#out.copyTo(right.end);
      this.#out.put(");$txA=!($txS=$tx.v(yield $tx.aw($txI.next()))).done;$txA=false");
      this.#loopBody(node.body, left.assign("$txS.value", binding), "compiled");
    });
  }

  /** Returns what a loop assigns to, and the statement that assigns. */
  #loopTarget(node: AstNode): { target: AstNode; assign(value: string, binding: string): string } {
    const left = node.left as AstNode;
    if (left.type !== "VariableDeclaration") {
      return {
        target: left,
        assign: (value, binding) => `(${binding}=${value});`,
      };
    }
    if (/using$/.test(left.kind)) this.#refuse(left, `\`${left.kind}\` in for await`);
    return {
      target: left.declarations[0].id,
      assign: (value, binding) => `${left.kind} ${binding}=${value};`,
    };
  }

  /**
   * Writes a block with code before the body. The body keeps its scope: it may redeclare the loop's
   * names.
   */
  #loopBody(body: AstNode, head: string, kind: Kind): void {
    this.#out.copyTo(body.start);
    this.#out.put(`{${head}`);
    this.#visit(body, kind);
    this.#out.copyTo(body.end);
    this.#out.put("}");
  }

  #inWrapper(node: AstNode, kind: Kind, write: () => void): void {
    if (this.#wrapped.has(node)) return write();
    const [before, after] = wrapperOf(kind);
    this.#out.copyTo(node.start);
    this.#out.put(before);
    write();
    this.#out.copyTo(node.end);
    this.#out.put(after);
  }

  // --------------------------------------------------------------------------------- others

  /** Returns the rewritten text of a part that moves elsewhere, with its line breaks. */
  #moved(node: AstNode, kind: Kind): string {
    const part = new Rewriter(this.#script, this.#options);
    part.#out.skipTo(node.start);
    part.#visit(node, kind);
    part.#out.copyTo(node.end);
    this.#inexact ??= part.#inexact;
    return part.#out.written();
  }

  #call(node: AstNode, kind: Kind): void {
    const callee = node.callee as AstNode;
    const wrapped = callbacksOf(callee);
    if (mayPassCallback(node)) this.#inexact ??= "a call of a computed name";
    // The call of a promise's method is followed by name.
    if (wrapped > 0) this.#children(callee, kind);
    else this.#visit(callee, kind);
    (node.arguments as AstNode[]).forEach((argument, i) => {
      if (i >= wrapped) return this.#visit(argument, kind);
      const spread = argument.type === "SpreadElement";
      const value = (spread ? argument.argument : argument) as AstNode;
      this.#out.copyTo(value.start);
      this.#out.put(spread ? "$tx.a(" : "$tx.w(");
      this.#visit(value, kind);
      this.#out.copyTo(value.end);
      this.#out.put(")");
    });
  }

  #refuse(node: AstNode, what: string): never {
    throw new RewriteError(what, this.#script.line(node));
  }
}

/**
 * Returns the text around a for-await loop and its labels. It covers every exit: end, break,
 * continue, return, throw.
 */
function wrapperOf(kind: Kind): [before: string, after: string] {
  if (kind !== "compiled") return ["try{", `}finally{${RESTORE}}`];
  const close = "if($txA&&$txI.return!=null)$tx.v(yield $tx.aw($txI.return()));";
  return [
    "{let $txI,$txS,$txA=false,$txE;try{",
    `}catch($txError){$txE=[$txError];}finally{try{${close}}finally{if($txE!==undefined)throw $txE[0];}}}`,
  ];
}

function isMethod(node: AstNode): boolean {
  if (node.value === null || node.value.type !== "FunctionExpression") return false;
  return node.type === "MethodDefinition" || node.method === true;
}

/** Returns how many leading arguments of a call are promise callbacks. */
function callbacksOf(callee: AstNode): number {
  if (callee.type !== "MemberExpression") return 0;
  const name = memberName(callee);
  return name !== undefined && Object.hasOwn(CALLBACKS, name) ? CALLBACKS[name]! : 0;
}

/** Returns the name that a member expression reads, if the text has it. */
function memberName({ property, computed }: AstNode): string | undefined {
  const name = computed === true ? property.value : property.name;
  return typeof name === "string" ? name : undefined;
}

/** Returns the name that a node reads or defines on an object. */
function nameIn(node: AstNode): string | undefined {
  switch (node.type) {
    case "MemberExpression":
      return memberName(node);
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
      return memberName({ ...node, property: node.key });
    case "Literal":
      return typeof node.value === "string" ? node.value : undefined;
    default:
      return undefined;
  }
}

/** Whether a call could be one of a promise's method: its name is computed. */
function mayPassCallback({ callee, arguments: given }: AstNode): boolean {
  return callee.type === "MemberExpression" && callee.computed === true &&
    callee.property.type !== "Literal" &&
    (given as AstNode[]).some(({ type }) => !/^(?:Literal|Template|Object|Array)/.test(type));
}
