// Debug sessions only: inserts probes, so that a replay records which lines ran and the local
// variables. $tlh(n) before a statement, an arrow's expression and in `if` bodies;
// $tlv(n,(x),reader) around an awaited x, which it returns; $tlc(n,reader) before a call of an
// imported API; $tlb(n,(x)) around a test, $tlo(n,i,(x)) around its operands, $tlx(n,error) where an
// error is caught. A reader is ($tli)=>{switch($tli){case 0:return a; ...}}. Lines, awaits, names
// and commands stay the same (tests/unit/realm/line_probes.test.ts).
import { type AnyNode, type CallExpression, type Identifier, parse, type Program } from "acorn";
import type { ProbePoint } from "../../executor/program/line_probe.ts";
import { type ConditionReads, readConditions, returnedExpression } from "./condition_writers.ts";
import { patternNames } from "./scope.ts";

/** A module with probes. */
export interface ProbedModule {
  readonly text: string;
  readonly points: readonly ProbePoint[];
}

/** Maximum number of variables of one reader: the nearest ones. */
const MAX_VARIABLES = 40;

/** Modules whose calls get probes. */
const API = /^(?:temporalex|@temporalio)\/workflow$/;

type FunctionNode = Extract<
  AnyNode,
  { type: "FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression" }
>;

interface Scope {
  readonly names: Set<string>;
  /** Functions and classes: they hide outer names and are not recorded. */
  readonly hidden: Set<string>;
  readonly parent: Scope | undefined;
}

/**
 * Returns the text with probes; undefined if it uses the names of the probes. `readAt`: lines at
 * whose statements the variables are read as well. Throws acorn's errors.
 */
export function probed(
  text: string,
  kind: "esm" | "cjs",
  readAt: ReadonlySet<number> = new Set(),
): ProbedModule | undefined {
  if (text.includes("$tl")) return undefined;
  const program = parse(text, {
    ecmaVersion: "latest",
    sourceType: kind === "esm" ? "module" : "commonjs",
    allowHashBang: true,
    locations: true,
  });
  return new Prober(text, readAt).run(program);
}

/** Names statements that branch. */
function nameOfStatement({ type }: AnyNode): string {
  if (type === "ThrowStatement") return "throw";
  return type === "IfStatement" || type === "SwitchStatement" ? "if" : "";
}

class Prober {
  readonly #text: string;
  readonly #readAt: ReadonlySet<number>;
  readonly #insertions: { at: number; text: string }[] = [];
  readonly #points: { -readonly [key in keyof ProbePoint]: ProbePoint[key] }[] = [];
  /** Local names of the imported workflow API. */
  readonly #api = new Set<string>();
  #scope: Scope = { names: new Set(), hidden: new Set(), parent: undefined };
  #top = true;
  /** What is known of the calls of `condition`. */
  #conditions: ReadonlyMap<CallExpression, ConditionReads> = new Map();
  /** The results of their predicates, each with the number of its point; -1: not yet visited. */
  readonly #predicates = new Map<AnyNode, number>();
  /** The numbers of the points of API calls. */
  readonly #callPoints = new Map<AnyNode, number>();

  constructor(text: string, readAt: ReadonlySet<number>) {
    this.#text = text;
    this.#readAt = readAt;
  }

  run(program: Program): ProbedModule {
    const imported = new Set<Identifier>();
    for (const statement of program.body) {
      if (statement.type !== "ImportDeclaration" || !API.test(String(statement.source.value))) {
        continue;
      }
      for (const { local } of statement.specifiers) imported.add(local);
    }
    for (const { name } of imported) this.#api.add(name);
    if (this.#text.includes("condition")) this.#conditions = readConditions(program, imported);
    for (const { predicate } of this.#conditions.values()) {
      const result = returnedExpression(predicate);
      if (result !== undefined) this.#predicates.set(result, -1);
    }
    for (const statement of program.body) this.#activities(statement as AnyNode);
    // Top-level variables that can change: they are state in programs evaluated for each run.
    this.#hoist(program.body as AnyNode[], true);
    for (const statement of program.body) {
      const declared = (statement as { declaration?: AnyNode | null }).declaration;
      if (declared?.type === "VariableDeclaration") this.#declare(declared, true);
    }
    this.#list(program.body as AnyNode[]);
    for (const [call, reads] of this.#conditions) this.#linkCondition(call, reads);
    // Stable: insertions at the same place keep their order.
    const insertions = this.#insertions.map((each, i) => ({ ...each, i })).sort((a, b) =>
      a.at - b.at || a.i - b.i
    );
    let text = "";
    let at = 0;
    for (const insertion of insertions) {
      text += this.#text.slice(at, insertion.at) + insertion.text;
      at = insertion.at;
    }
    return { text: text + this.#text.slice(at), points: this.#points };
  }

  /**
   * `const { charge } = proxyActivities()`, `const acts = activities()`, `const { sleep } = api` at
   * the top level: their calls get probes, too.
   */
  #activities(statement: AnyNode): void {
    const declaration =
      (statement.type === "ExportNamedDeclaration" ? statement.declaration : statement) as
        | AnyNode
        | null;
    if (declaration?.type !== "VariableDeclaration") return;
    for (const { id, init } of declaration.declarations) {
      const from = init?.type === "CallExpression"
        ? init.callee as AnyNode
        : init as AnyNode | null | undefined;
      const isCall = init?.type === "CallExpression";
      if (from === null || from === undefined || !this.#isOfApi(from)) continue;
      if (id.type !== "ObjectPattern" && !(isCall && /activities$/i.test(nameOf(from)))) continue;
      for (const { name } of patternNames(id)) this.#api.add(name);
    }
  }

  #insert(at: number, text: string): void {
    this.#insertions.push({ at, text });
  }

  #point(
    node: AnyNode,
    kind: ProbePoint["kind"],
    name: string,
    variables: readonly string[],
    more: Pick<ProbePoint, "test"> = {},
  ): number {
    const { line, column } = node.loc!.start;
    return this.#points.push({ line, column: column + 1, kind, name, variables, ...more }) - 1;
  }

  #hit(node: AnyNode): string {
    const { line } = node.loc!.start;
    if (!this.#readAt.has(line)) {
      return `$tlh(${this.#point(node, "statement", nameOfStatement(node), [])})`;
    }
    const variables = this.#variables();
    return `$tlh(${this.#point(node, "statement", nameOfStatement(node), variables)},${
      readerOf(variables)
    })`;
  }

  // ----------------------------------------------------------------------------- statements

  /** Statements of a module, a block or a case. */
  #list(statements: readonly AnyNode[]): void {
    for (const statement of statements) {
      if (runs(statement)) this.#insert(statement.start, `${this.#hit(statement)};`);
      this.#visit(statement);
    }
  }

  /** The single statement of an `if` or a loop. */
  #body(node: AnyNode | null | undefined): void {
    if (node === null || node === undefined) return;
    if (node.type === "BlockStatement" || !runs(node)) return this.#visit(node);
    this.#insert(node.start, `{${this.#hit(node)};`);
    this.#visit(node);
    this.#insert(node.end, "}");
  }

  #block(statements: readonly AnyNode[]): void {
    this.#within(() => {
      this.#hoist(statements);
      this.#list(statements);
    });
  }

  #visit(node: AnyNode): void {
    if (this.#predicates.get(node) === -1) {
      this.#predicates.set(node, this.#points.length);
      return this.#test(node, "condition");
    }
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
        return;
      case "ExportNamedDeclaration":
      case "ExportDefaultDeclaration":
        if (node.declaration) this.#visit(node.declaration as AnyNode);
        return;
      case "BlockStatement":
        return this.#block(node.body as AnyNode[]);
      case "StaticBlock":
        return this.#inFunction(() => this.#block(node.body as AnyNode[]));
      case "SwitchStatement":
        this.#test(node.discriminant as AnyNode, "switch");
        return this.#within(() => {
          this.#hoist(node.cases.flatMap(({ consequent }) => consequent) as AnyNode[]);
          for (const each of node.cases) {
            if (each.test) this.#visit(each.test as AnyNode);
            this.#list(each.consequent as AnyNode[]);
          }
        });
      case "IfStatement":
        this.#test(node.test as AnyNode, "if");
        this.#body(node.consequent as AnyNode);
        return this.#body(node.alternate as AnyNode | null);
      case "WhileStatement":
        this.#test(node.test as AnyNode, "while");
        return this.#body(node.body as AnyNode);
      case "DoWhileStatement":
        this.#body(node.body as AnyNode);
        return this.#test(node.test as AnyNode, "while");
      case "ForStatement":
        return this.#within(() => {
          if (node.init?.type === "VariableDeclaration") this.#declare(node.init);
          if (node.init) this.#visit(node.init as AnyNode);
          if (node.test) this.#test(node.test as AnyNode, "for");
          if (node.update) this.#visit(node.update as AnyNode);
          this.#body(node.body as AnyNode);
        });
      case "ForInStatement":
      case "ForOfStatement":
        this.#visit(node.right as AnyNode);
        return this.#within(() => {
          if (node.left.type === "VariableDeclaration") this.#declare(node.left);
          this.#visit(node.left as AnyNode);
          this.#body(node.body as AnyNode);
        });
      case "LabeledStatement":
        return this.#visit(node.body as AnyNode);
      case "TryStatement":
        return this.#try(node);
      case "CatchClause":
        return this.#within(() => {
          if (node.param) {
            for (const id of patternNames(node.param)) this.#scope.names.add(id.name);
          }
          if (node.param) this.#visit(node.param as AnyNode);
          this.#visit(node.body);
        });
      default:
        return this.#expression(node);
    }
  }

  // ---------------------------------------------------------------------------- expressions

  #expression(node: AnyNode): void {
    switch (node.type) {
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        return this.#function(node);
      case "ClassExpression":
        return this.#within(() => {
          if (node.id) this.#scope.hidden.add(node.id.name);
          this.#children(node);
        });
      case "PropertyDefinition":
        if (node.computed) this.#visit(node.key as AnyNode);
        return this.#inFunction(() => node.value && this.#visit(node.value as AnyNode));
      case "AwaitExpression":
        return this.#await(node);
      case "CallExpression":
        return this.#call(node);
      case "ConditionalExpression":
        this.#test(node.test as AnyNode, "?:");
        this.#visit(node.consequent as AnyNode);
        return this.#visit(node.alternate as AnyNode);
      case "LogicalExpression":
        return this.#test(node, node.operator);
      default:
        return this.#children(node);
    }
  }

  #children(node: AnyNode): void {
    for (const [key, value] of Object.entries(node) as [string, unknown][]) {
      // Key and value of a shorthand property are one node.
      if (node.type === "Property" && node.shorthand && key === "key") continue;
      for (const child of Array.isArray(value) ? value as unknown[] : [value]) {
        if (isNode(child)) this.#visit(child);
      }
    }
  }

  /** Surrounds a test and its operands. Each is evaluated once, as without probes. */
  #test(node: AnyNode, name: string): void {
    const operands = operandsOf(node);
    const point = this.#point(node, "test", name, [], {
      test: { text: this.#textOf(node), operands: operands.map((one) => this.#textOf(one)) },
    });
    this.#insert(node.start, `$tlb(${point},(`);
    const wrap = (part: AnyNode): void => {
      const index = operands.indexOf(part);
      if (index >= 0) {
        this.#insert(part.start, `$tlo(${point},${index},(`);
        this.#visit(part);
        return this.#insert(part.end, "))");
      }
      if (part.type === "LogicalExpression" || part.type === "BinaryExpression") {
        if (part.left.type !== "PrivateIdentifier") wrap(part.left as AnyNode);
        return wrap(part.right as AnyNode);
      }
      if (part.type === "UnaryExpression" && part.operator === "!") {
        return wrap(part.argument as AnyNode);
      }
      this.#visit(part);
    };
    wrap(node);
    this.#insert(node.end, "))");
  }

  #textOf({ start, end }: AnyNode): string {
    const text = this.#text.slice(start, end).replace(/\s+/g, " ");
    return text.length > MAX_TEST_TEXT ? `${text.slice(0, MAX_TEST_TEXT)}…` : text;
  }

  /** Reports errors at the beginning of `catch`; without one, errors that pass `finally`. */
  #try(node: Extract<AnyNode, { type: "TryStatement" }>): void {
    const { block, handler, finalizer } = node;
    this.#visit(block);
    const at = handler ?? finalizer!;
    const point = this.#point(at as AnyNode, "catch", handler ? "catch" : "finally", []);
    if (handler === null || handler === undefined) {
      this.#insert(block.end, `catch($tle){$tlx(${point},$tle);throw $tle}`);
    } else if (handler.param === null || handler.param === undefined) {
      this.#insert(handler.body.start, "($tle)");
      this.#insert(handler.body.start + 1, `$tlx(${point},$tle);`);
    } else if (handler.param.type === "Identifier") {
      this.#insert(handler.body.start + 1, `$tlx(${point},${handler.param.name});`);
    }
    if (handler) this.#visit(handler);
    if (finalizer) this.#visit(finalizer);
  }

  /** Adds what is known of a `condition` to the points of its call and of its predicate. */
  #linkCondition(call: CallExpression, { predicate, variables, handlers }: ConditionReads): void {
    const point = this.#callPoints.get(call);
    if (point === undefined) return;
    this.#points[point]!.condition = {
      variables,
      handlers: handlers.flatMap(({ call: setting, ...written }) => {
        const at = this.#callPoints.get(setting);
        return at === undefined ? [] : [{ point: at, ...written }];
      }),
    };
    const result = returnedExpression(predicate);
    const test = result && this.#points[this.#predicates.get(result) ?? -1];
    if (test !== undefined) test.callPoints = [...test.callPoints ?? [], point];
  }

  #await(node: Extract<AnyNode, { type: "AwaitExpression" }>): void {
    const argument = node.argument as AnyNode;
    const variables = this.#variables();
    const point = this.#point(node, "await", nameOf(argument), variables);
    this.#callPoints.set(argument, point);
    this.#insert(argument.start, `$tlv(${point},(`);
    // The await already reads the variables.
    if (argument.type === "CallExpression" && this.#isApi(argument)) this.#children(argument);
    else this.#visit(argument);
    this.#insert(argument.end, `),${readerOf(variables)})`);
  }

  #call(node: Extract<AnyNode, { type: "CallExpression" }>): void {
    if (!this.#isApi(node)) return this.#children(node);
    const variables = this.#variables();
    const point = this.#point(node, "call", nameOf(node), variables);
    this.#callPoints.set(node, point);
    this.#insert(node.start, `($tlc(${point},${readerOf(variables)}),`);
    this.#children(node);
    this.#insert(node.end, ")");
  }

  /**
   * `sleep(1)`, `wf.sleep(1)`, `log.info("...")`: calls of names imported from the workflow API.
   */
  #isApi(node: Extract<AnyNode, { type: "CallExpression" }>): boolean {
    return !this.#top && !node.optional && this.#isOfApi(node.callee as AnyNode);
  }

  #isOfApi(node: AnyNode): boolean {
    let from = node;
    while (from.type === "MemberExpression" && !from.optional) from = from.object as AnyNode;
    return from.type === "Identifier" && this.#api.has(from.name) && !this.#isLocal(from.name);
  }

  #function(node: FunctionNode): void {
    this.#inFunction(() =>
      this.#within(() => {
        if (node.type === "FunctionExpression" && node.id) this.#scope.hidden.add(node.id.name);
        for (const param of node.params) {
          for (const id of patternNames(param)) this.#scope.names.add(id.name);
        }
        for (const param of node.params) this.#visit(param as AnyNode);
        const body = node.body as AnyNode;
        if (body.type === "BlockStatement") {
          this.#hoistVars(body.body as AnyNode[]);
          this.#hoist(body.body as AnyNode[]);
          return this.#list(body.body as AnyNode[]);
        }
        this.#insert(body.start, `(${this.#hit(body)},`);
        this.#visit(body);
        this.#insert(body.end, ")");
      })
    );
  }

  // ---------------------------------------------------------------------------------- names

  #within(work: () => void): void {
    const outer = this.#scope;
    this.#scope = { names: new Set(), hidden: new Set(), parent: outer };
    work();
    this.#scope = outer;
  }

  #inFunction(work: () => void): void {
    const outer = this.#top;
    this.#top = false;
    work();
    this.#top = outer;
  }

  #isLocal(name: string): boolean {
    for (
      let scope: Scope | undefined = this.#scope;
      scope?.parent !== undefined;
      scope = scope.parent
    ) {
      if (scope.names.has(name) || scope.hidden.has(name)) return true;
    }
    return false;
  }

  #declare(node: Extract<AnyNode, { type: "VariableDeclaration" }>, onlyChanging = false): void {
    for (const { id } of node.declarations) {
      for (const { name } of patternNames(id)) {
        (onlyChanging && node.kind === "const" ? this.#scope.hidden : this.#scope.names).add(name);
      }
    }
  }

  /** Records what a list of statements declares for its block. */
  #hoist(statements: readonly AnyNode[], onlyChanging = false): void {
    for (const statement of statements) {
      if (statement.type === "VariableDeclaration") this.#declare(statement, onlyChanging);
      else if (statement.type === "FunctionDeclaration" || statement.type === "ClassDeclaration") {
        if (statement.id !== null) this.#scope.hidden.add((statement.id as Identifier).name);
      }
    }
  }

  /** A `var` in nested statements belongs to the function. */
  #hoistVars(nodes: readonly AnyNode[]): void {
    for (const node of nodes) {
      if (node.type === "VariableDeclaration" && node.kind === "var") this.#declare(node);
      if (!HOLDS_STATEMENTS.has(node.type)) continue;
      for (const value of Object.values(node) as unknown[]) {
        this.#hoistVars((Array.isArray(value) ? value as unknown[] : [value]).filter(isNode));
      }
    }
  }

  /** Returns the variables in scope, nearest first. */
  #variables(): string[] {
    const found: string[] = [];
    const seen = new Set<string>();
    for (let scope: Scope | undefined = this.#scope; scope !== undefined; scope = scope.parent) {
      for (const name of scope.names) {
        if (!seen.has(name) && !this.#api.has(name)) found.push(name);
        seen.add(name);
      }
      for (const name of scope.hidden) seen.add(name);
    }
    return found.slice(0, MAX_VARIABLES);
  }
}

/** Maximum characters of the source text of a test or operand. */
const MAX_TEST_TEXT = 120;

/** Operators whose sides are operands of a test. */
const COMPARES = /^(?:[=!]==?|[<>]=?|in|instanceof)$/;

/** Values that are written in the source, and functions, need no look. */
const CONSTANT: ReadonlySet<string> = new Set([
  "Literal",
  "FunctionExpression",
  "ArrowFunctionExpression",
  "ClassExpression",
  "PrivateIdentifier",
]);

/** Returns the parts of a test whose values decide it. */
function operandsOf(node: AnyNode): AnyNode[] {
  if (node.type === "LogicalExpression") {
    return [node.left, node.right].flatMap((side) => operandsOf(side as AnyNode));
  }
  if (node.type === "UnaryExpression" && node.operator === "!") {
    return operandsOf(node.argument as AnyNode);
  }
  if (node.type === "BinaryExpression" && COMPARES.test(node.operator)) {
    return [node.left, node.right].flatMap((side) => operandsOf(side as AnyNode));
  }
  return CONSTANT.has(node.type) ? [] : [node];
}

const HOLDS_STATEMENTS: ReadonlySet<string> = new Set([
  ...[
    "BlockStatement",
    "IfStatement",
    "LabeledStatement",
    "ForStatement",
    "ForInStatement",
    "ForOfStatement",
  ],
  ...[
    "WhileStatement",
    "DoWhileStatement",
    "TryStatement",
    "CatchClause",
    "SwitchStatement",
    "SwitchCase",
  ],
]);

const isNode = (value: unknown): value is AnyNode =>
  typeof value === "object" && value !== null &&
  typeof (value as { type?: unknown }).type === "string" &&
  typeof (value as { start?: unknown }).start === "number";

/** Whether a statement has an effect when control reaches it. */
function runs(node: AnyNode): boolean {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
    case "FunctionDeclaration":
    case "EmptyStatement":
    case "BlockStatement":
      return false;
    case "ExportNamedDeclaration":
      return node.declaration ? runs(node.declaration as AnyNode) : false;
    case "ExportDefaultDeclaration":
      return runs(node.declaration as AnyNode);
    case "ExpressionStatement":
      return (node as { directive?: string }).directive === undefined;
    default:
      return true;
  }
}

function readerOf(variables: readonly string[]): string {
  if (variables.length === 0) return "0";
  return `($tli)=>{switch($tli){${
    variables.map((name, i) => `case ${i}:return ${name};`).join("")
  }}}`;
}

/** Returns the text of what is awaited or called, if it is short. */
function nameOf(node: AnyNode): string {
  const callee = node.type === "CallExpression" ? node.callee as AnyNode : node;
  if (callee.type === "Identifier") return callee.name;
  if (
    callee.type !== "MemberExpression" || callee.computed || callee.property.type !== "Identifier"
  ) return "";
  const object = callee.object as AnyNode;
  return object.type === "Identifier" || object.type === "MemberExpression"
    ? `${nameOf(object)}.${callee.property.name}`
    : callee.property.name;
}
