// Debug sessions only: which variables of a module may hold the same object, by its declarations,
// assignments and calls, and which hold only primitive values.
import type { AnyNode, CallExpression, Identifier, Pattern, Program } from "acorn";
import { type Binding, children, patternNames, walkModule } from "./scope.ts";

/** `this`, as a variable: one for the module. */
export const THIS: Identifier = { type: "Identifier", name: "this", start: -1, end: -1 };

type FunctionNode = Extract<
  AnyNode,
  { type: "FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression" }
>;

export interface AliasRules {
  /** The result of the call has no object of the program: a call of the workflow API. */
  isFresh(call: CallExpression): boolean;
  functionOf(node: AnyNode | undefined): FunctionNode | undefined;
}

/** Expressions whose values are primitive. */
const PRIMITIVE: ReadonlySet<string> = new Set([
  "Literal",
  "TemplateLiteral",
  "UnaryExpression",
  "BinaryExpression",
  "UpdateExpression",
]);

export class Aliases {
  readonly #bindings = new Map<Identifier, Binding>();
  readonly #rules: AliasRules;
  readonly #parent = new Map<Identifier, Identifier>();
  /** Values that variables are declared with or assigned, by the declared name. */
  readonly #values = new Map<Identifier, (AnyNode | undefined)[]>();
  /** Names of destructured values, with the value. */
  readonly #parts = new Map<Identifier, AnyNode>();
  readonly #assigned = new Set<Identifier>();
  readonly #reassigned = new Set<Identifier>();

  constructor(program: Program, rules: AliasRules) {
    this.#rules = rules;
    walkModule(program, {
      reference: (node, binding, isWrite) => {
        if (binding === undefined) return;
        this.#bindings.set(node, binding);
        if (isWrite) this.#reassigned.add(binding.node);
      },
    });
    this.#visit(program, (node) => this.#readValues(node));
  }

  /** Joins variables that may hold one object. */
  join(program: Program): void {
    this.#visit(program, (node) => this.#unions(node));
  }

  /** Returns the variable of a reference; undefined for globals. */
  bindingOf(node: Identifier): Binding | undefined {
    return this.#bindings.get(node);
  }

  isReassigned(root: Identifier): boolean {
    return this.#reassigned.has(root);
  }

  isAlias(a: Identifier, b: Identifier): boolean {
    return this.#classOf(a) === this.#classOf(b);
  }

  /** Whether another variable may hold the same object, or a part of it. */
  hasAliases(root: Identifier): boolean {
    const own = this.#classOf(root);
    for (const [each] of this.#parent) {
      if (each !== root && this.#classOf(each) === own) return true;
    }
    return own !== root;
  }

  /** Whether a variable only ever has primitive values. */
  isPrimitive(root: Identifier, seen = new Set<Identifier>()): boolean {
    if (seen.has(root)) return true;
    seen.add(root);
    const values = this.#values.get(root);
    if (root === THIS || values === undefined || this.#assigned.has(root)) return false;
    return values.every((value) => value === undefined || this.#isPrimitiveValue(value, seen));
  }

  #isPrimitiveValue(node: AnyNode, seen: Set<Identifier>): boolean {
    switch (node.type) {
      case "ConditionalExpression":
        return this.#isPrimitiveValue(node.consequent as AnyNode, seen) &&
          this.#isPrimitiveValue(node.alternate as AnyNode, seen);
      case "LogicalExpression":
        return this.#isPrimitiveValue(node.left as AnyNode, seen) &&
          this.#isPrimitiveValue(node.right as AnyNode, seen);
      case "Identifier": {
        const binding = this.#bindings.get(node);
        if (binding === undefined) return /^(?:undefined|NaN|Infinity)$/.test(node.name);
        return this.isPrimitive(binding.node, seen);
      }
      default:
        return PRIMITIVE.has(node.type) && !("regex" in node);
    }
  }

  /** Whether a variable is declared with the result of a call of one of these imports. */
  isMadeBy(root: Identifier, imports: ReadonlySet<Identifier>): boolean {
    const maker = this.#makerOf(root);
    const binding = maker && this.#bindings.get(maker);
    return binding !== undefined && imports.has(binding.node);
  }

  /** Whether a variable is declared with the result of an imported function or class. */
  isMadeByImport(root: Identifier): boolean {
    const maker = this.#makerOf(root);
    return maker !== undefined && this.#bindings.get(maker)?.kind === "import";
  }

  #makerOf(root: Identifier): Identifier | undefined {
    let from = this.#parts.get(root) ?? this.#values.get(root)?.[0];
    while (from?.type === "AwaitExpression") from = from.argument as AnyNode;
    if (from?.type !== "CallExpression" && from?.type !== "NewExpression") return undefined;
    let callee = from.callee as AnyNode;
    while (callee.type === "MemberExpression") callee = callee.object as AnyNode;
    return callee.type === "Identifier" ? callee : undefined;
  }

  // ------------------------------------------------------------------------------- values

  #visit(node: AnyNode, see: (node: AnyNode) => void): void {
    see(node);
    for (const child of children(node)) this.#visit(child, see);
  }

  #hasValue(root: Identifier, value: AnyNode | undefined): void {
    const known = this.#values.get(root);
    if (known === undefined) this.#values.set(root, [value]);
    else known.push(value);
  }

  /** Records the values of variables. */
  #readValues(node: AnyNode): void {
    if (node.type === "VariableDeclarator") {
      const init = node.init as AnyNode | null | undefined;
      if (node.id.type === "Identifier") return this.#hasValue(node.id, init ?? undefined);
      for (const id of patternNames(node.id)) {
        this.#assigned.add(id);
        if (init) this.#parts.set(id, init);
      }
    } else if (node.type === "AssignmentExpression") {
      if (node.left.type !== "Identifier") {
        if (node.left.type === "MemberExpression") return;
        for (const id of patternNames(node.left as Pattern)) {
          const root = this.#bindings.get(id)?.node;
          if (root !== undefined) this.#assigned.add(root);
        }
        return;
      }
      const root = this.#bindings.get(node.left)?.node;
      const isCopy = node.operator === "=" || /^(?:\|\||&&|\?\?)=$/.test(node.operator);
      if (root !== undefined && isCopy) this.#hasValue(root, node.right as AnyNode);
    } else if (node.type === "ForOfStatement" || node.type === "ForInStatement") {
      const { left } = node;
      const all = left.type === "VariableDeclaration"
        ? left.declarations.flatMap(({ id }) => [...patternNames(id)])
        : [];
      for (const id of all) this.#assigned.add(id);
    }
  }

  // ------------------------------------------------------------------------------ aliases

  #classOf(root: Identifier): Identifier {
    let at = root;
    for (let next = this.#parent.get(at); next !== undefined; next = this.#parent.get(at)) {
      at = next;
    }
    return at;
  }

  #union(names: readonly Identifier[]): void {
    const all = names.filter((each) => !this.isPrimitive(each));
    for (const each of all.slice(1)) {
      const [a, b] = [this.#classOf(all[0]!), this.#classOf(each)];
      if (a !== b) this.#parent.set(b, a);
    }
  }

  #unions(node: AnyNode): void {
    switch (node.type) {
      case "VariableDeclarator":
        if (node.init) this.#unionEach([...patternNames(node.id)], node.init as AnyNode);
        return;
      case "AssignmentExpression":
        return this.#union([
          ...this.rootsIn(node.left as AnyNode),
          ...this.rootsIn(node.right as AnyNode),
        ]);
      case "ForOfStatement":
        return node.left.type === "VariableDeclaration"
          ? node.left.declarations.forEach(({ id }) =>
            this.#unionEach([...patternNames(id)], node.right as AnyNode)
          )
          : this.#union([
            ...this.rootsIn(node.left as AnyNode),
            ...this.rootsIn(node.right as AnyNode),
          ]);
      case "CallExpression":
        return this.#unionCall(node);
    }
  }

  #unionEach(names: readonly Identifier[], value: AnyNode): void {
    const roots = this.rootsIn(value);
    for (const each of names) this.#union([each, ...roots]);
  }

  /** Arguments and receiver may be kept in each other, and are passed to callbacks. */
  #unionCall(node: CallExpression): void {
    if (this.#rules.isFresh(node)) return;
    const callee = node.callee as AnyNode;
    const receiver = callee.type === "MemberExpression"
      ? this.rootsIn(callee.object as AnyNode)
      : [];
    const given = (node.arguments as AnyNode[]).flatMap((each) => this.rootsIn(each));
    const called = this.#rules.functionOf(callee);
    const callbacks = (node.arguments as AnyNode[]).flatMap((each) =>
      this.#rules.functionOf(each) ?? []
    );
    const params = [...(called === undefined ? [] : [called]), ...callbacks].flatMap((each) =>
      each.params.flatMap((param) => [...patternNames(param)])
    );
    this.#union([...receiver, ...given, ...params]);
  }

  /** Returns the variables whose objects an expression may return, or hold in its result. */
  rootsIn(node: AnyNode, seen = new Set<AnyNode>()): Identifier[] {
    if (seen.has(node) || PRIMITIVE.has(node.type)) return [];
    seen.add(node);
    switch (node.type) {
      case "Identifier": {
        const binding = this.#bindings.get(node);
        return binding === undefined || binding.kind === "function" ? [] : [binding.node];
      }
      case "ThisExpression":
        return [THIS];
      case "MemberExpression":
        return this.rootsIn(node.object as AnyNode, seen);
      case "FunctionExpression":
      case "ArrowFunctionExpression":
      case "ClassExpression":
        return [];
      case "Property":
        return this.rootsIn(node.value as AnyNode, seen);
      case "CallExpression": {
        if (this.#rules.isFresh(node)) return [];
        const called = this.#rules.functionOf(node.callee as AnyNode);
        return [
          ...(called === undefined ? [] : this.#returned(called, seen)),
          ...[...children(node)].flatMap((child) => this.rootsIn(child, seen)),
        ];
      }
      default:
        return [...children(node)].flatMap((child) => this.rootsIn(child, seen));
    }
  }

  #returned({ body }: FunctionNode, seen: Set<AnyNode>): Identifier[] {
    if (body.type !== "BlockStatement") return this.rootsIn(body as AnyNode, seen);
    const found: Identifier[] = [];
    this.#visit(body as AnyNode, (node) => {
      if (node.type === "ReturnStatement" && node.argument) {
        found.push(...this.rootsIn(node.argument as AnyNode, seen));
      }
    });
    return found;
  }
}
