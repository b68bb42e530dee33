// Walks a module's syntax tree once and reports what the loader needs: references with their
// bindings, writes and mutations (and whether they are inside a function), top-level awaits,
// dynamic imports and import.meta. Names are resolved by JavaScript's scope rules, so a shadowing
// name is not taken for an import or a top-level variable.
import type {
  AnyNode,
  AssignmentProperty,
  CallExpression,
  Identifier,
  ImportExpression,
  MemberExpression,
  Node,
  Pattern,
  Program,
} from "acorn";

export type BindingKind = "import" | "var" | "let" | "const" | "function" | "class" | "param";

/** A declared name. `init`: the initializer of a `const`, `let` or `var` with a single name. */
export interface Binding {
  readonly name: string;
  readonly kind: BindingKind;
  readonly node: Identifier;
  readonly top: boolean;
  readonly init?: AnyNode;
}

/**
 * Callbacks of the walk. `deferred`: in a function that does not run during evaluation of the
 * module.
 */
export interface Visitor {
  /** `parents` is the live stack, innermost last; valid only during the call. */
  reference?(
    node: Identifier,
    binding: Binding | undefined,
    write: boolean,
    deferred: boolean,
    parents: readonly AnyNode[],
  ): void;
  /** `name.a.b = x`, `name.a++`, `delete name.a`. */
  mutation?(binding: Binding, at: Node, deferred: boolean, parents: readonly AnyNode[]): void;
  /** `name.method(...)` or `name.a.method(...)`. */
  methodCall?(
    binding: Binding,
    method: string,
    direct: boolean,
    at: CallExpression,
    deferred: boolean,
    parents: readonly AnyNode[],
  ): void;
  topLevelAwait?(at: Node): void;
  dynamicImport?(at: ImportExpression): void;
  importMeta?(at: Node): void;
  /** A call of a name that the module does not declare, such as `require("x")`. */
  globalCall?(
    name: string,
    at: CallExpression,
    deferred: boolean,
    parents: readonly AnyNode[],
  ): void;
}

interface Scope {
  readonly names: Map<string, Binding>;
  readonly parent: Scope | undefined;
}

/** Walks a module and returns its top-level bindings. */
export function walkModule(program: Program, visitor: Visitor): ReadonlyMap<string, Binding> {
  const walker = new Walker(visitor);
  return walker.program(program);
}

type FunctionNode = Extract<
  AnyNode,
  { type: "FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression" }
>;

const isFunction = (node: AnyNode): node is FunctionNode =>
  node.type === "FunctionDeclaration" || node.type === "FunctionExpression" ||
  node.type === "ArrowFunctionExpression";

/** Yields the children of a node in source order. */
export function* children(node: AnyNode): Generator<AnyNode> {
  for (const value of Object.values(node) as unknown[]) {
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item)) yield item;
    } else if (isNode(value)) yield value;
  }
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === "object" && value !== null &&
  typeof (value as { type?: unknown }).type === "string" &&
  typeof (value as { start?: unknown }).start === "number";

/** Yields the identifiers that a pattern declares. */
export function* patternNames(pattern: Pattern): Generator<Identifier> {
  switch (pattern.type) {
    case "Identifier":
      yield pattern;
      break;
    case "ObjectPattern":
      for (const p of pattern.properties) {
        yield* patternNames(p.type === "RestElement" ? p.argument : p.value);
      }
      break;
    case "ArrayPattern":
      for (const e of pattern.elements) if (e !== null) yield* patternNames(e);
      break;
    case "RestElement":
      yield* patternNames(pattern.argument);
      break;
    case "AssignmentPattern":
      yield* patternNames(pattern.left);
      break;
  }
}

/**
 * Statements that can contain a `var` of the function. Expressions, most of a program, are skipped.
 */
const HOLDS_STATEMENTS: ReadonlySet<AnyNode["type"]> = new Set<AnyNode["type"]>([
  ...[
    "BlockStatement",
    "IfStatement",
    "LabeledStatement",
    "WithStatement",
    "ExportNamedDeclaration",
  ] as const,
  ...[
    "ForStatement",
    "ForInStatement",
    "ForOfStatement",
    "WhileStatement",
    "DoWhileStatement",
  ] as const,
  ...["TryStatement", "CatchClause", "SwitchStatement", "SwitchCase"] as const,
]);

class Walker {
  readonly #visitor: Visitor;
  readonly #parents: AnyNode[] = [];
  #scope: Scope = { names: new Map(), parent: undefined };
  /** Number of enclosing functions that run after the module's own code. */
  #deferred = 0;
  /** Number of enclosing functions of any kind: `await` belongs to the innermost. */
  #functions = 0;

  constructor(visitor: Visitor) {
    this.#visitor = visitor;
  }

  program(program: Program): ReadonlyMap<string, Binding> {
    this.#hoistVars(program.body as AnyNode[]);
    this.#hoistLexical(program.body as AnyNode[]);
    this.#parents.push(program);
    for (const statement of program.body) this.#visit(statement as AnyNode);
    this.#parents.pop();
    return this.#scope.names;
  }

  #declare(id: Identifier, kind: BindingKind, init?: AnyNode | null): void {
    const { names, parent } = this.#scope;
    if (names.has(id.name)) return;
    names.set(id.name, {
      name: id.name,
      kind,
      node: id,
      top: parent === undefined,
      ...(init ? { init } : {}),
    });
  }

  /** Records the `var` declarations of this function, without nested functions. */
  #hoistVars(nodes: Iterable<AnyNode>): void {
    for (const node of nodes) {
      if (isFunction(node) || node.type === "ClassBody") continue;
      if (node.type === "VariableDeclaration" && node.kind === "var") {
        for (const d of node.declarations) {
          for (const id of patternNames(d.id)) {
            this.#declare(id, "var", d.id.type === "Identifier" ? d.init as AnyNode | null : null);
          }
        }
      }
      if (HOLDS_STATEMENTS.has(node.type)) this.#hoistVars(children(node));
    }
  }

  /** Records the declarations of this block. */
  #hoistLexical(nodes: Iterable<AnyNode>): void {
    for (const statement of nodes) {
      const node = (statement.type === "ExportNamedDeclaration" ||
          statement.type === "ExportDefaultDeclaration"
        ? statement.declaration ?? statement
        : statement) as AnyNode;
      switch (node.type) {
        case "VariableDeclaration":
          if (node.kind === "var") {
            break;
          }
          for (const d of node.declarations) {
            const init = d.id.type === "Identifier" ? d.init as AnyNode | null : null;
            for (const id of patternNames(d.id)) {
              this.#declare(id, node.kind === "let" ? "let" : "const", init);
            }
          }
          break;
        case "FunctionDeclaration":
          if (node.id) {
            this.#declare(node.id, "function");
          }
          break;
        case "ClassDeclaration":
          if (node.id) {
            this.#declare(node.id, "class");
          }
          break;
        case "ImportDeclaration":
          for (const s of node.specifiers) {
            this.#declare(s.local, "import");
          }
          break;
      }
    }
  }

  #lookup(name: string): Binding | undefined {
    for (let scope: Scope | undefined = this.#scope; scope !== undefined; scope = scope.parent) {
      const found = scope.names.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #inScope(enter: () => void, body: () => void): void {
    const outer = this.#scope;
    this.#scope = { names: new Map(), parent: outer };
    enter();
    body();
    this.#scope = outer;
  }

  #visitChildren(node: AnyNode): void {
    this.#below(node, () => {
      for (const child of children(node)) this.#visit(child);
    });
  }

  /** Calls `visit` with the node on the stack of parents. */
  #below(node: AnyNode, visit: () => void): void {
    this.#parents.push(node);
    visit();
    this.#parents.pop();
  }

  #visit(node: AnyNode): void {
    switch (node.type) {
      case "Identifier":
        return this.#reference(node, false);
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        return this.#function(node);
      case "ClassDeclaration":
        return this.#class(node);
      case "ClassExpression":
        return this.#inScope(
          () => node.id && this.#declare(node.id, "class"),
          () => this.#class(node),
        );
      case "PropertyDefinition":
      case "MethodDefinition":
        return this.#member(node);
      case "StaticBlock":
        this.#functions++;
        this.#inScope(
          () => (this.#hoistVars(node.body as AnyNode[]),
            this.#hoistLexical(node.body as AnyNode[])),
          () => this.#visitChildren(node),
        );
        this.#functions--;
        return;
      case "BlockStatement":
        return this.#inScope(
          () => this.#hoistLexical(node.body as AnyNode[]),
          () => this.#visitChildren(node),
        );
      case "SwitchStatement":
        return this.#below(node, () => {
          this.#visit(node.discriminant as AnyNode);
          this.#inScope(
            () => this.#hoistLexical(node.cases.flatMap((c) => c.consequent) as AnyNode[]),
            () => node.cases.forEach((c) => this.#visitChildren(c)),
          );
        });
      case "ForStatement":
        return this.#inScope(
          () => node.init?.type === "VariableDeclaration" && this.#hoistLexical([node.init]),
          () => this.#visitChildren(node),
        );
      case "ForInStatement":
      case "ForOfStatement":
        if (node.type === "ForOfStatement" && node.await && this.#functions === 0) {
          this.#visitor.topLevelAwait?.(node);
        }
        return this.#inScope(
          () => node.left.type === "VariableDeclaration" && this.#hoistLexical([node.left]),
          () =>
            this.#below(node, () => {
              if (node.left.type === "VariableDeclaration") this.#visit(node.left);
              else this.#target(node.left as Pattern);
              this.#visit(node.right as AnyNode);
              this.#visit(node.body as AnyNode);
            }),
        );
      case "CatchClause":
        return this.#inScope(
          () =>
            node.param && [...patternNames(node.param)].forEach((id) => this.#declare(id, "param")),
          () =>
            this.#below(node, () => {
              if (node.param) this.#patternDefaults(node.param);
              this.#visit(node.body);
            }),
        );
      case "VariableDeclarator":
        return this.#below(node, () => {
          this.#patternDefaults(node.id);
          if (node.init) this.#visit(node.init as AnyNode);
        });
      case "ExportNamedDeclaration":
        return this.#below(
          node,
          () => node.declaration && this.#visit(node.declaration as AnyNode),
        );
      case "LabeledStatement":
        return this.#below(node, () => this.#visit(node.body as AnyNode));
      case "BreakStatement":
      case "ContinueStatement":
      case "ImportDeclaration":
      case "ExportAllDeclaration":
      case "Literal":
        return;
      default:
        return this.#expression(node);
    }
  }

  #expression(node: AnyNode): void {
    switch (node.type) {
      case "AssignmentExpression":
        return this.#below(node, () => {
          this.#target(node.left);
          this.#visit(node.right as AnyNode);
        });
      case "UpdateExpression":
        return this.#below(node, () => this.#target(node.argument as Pattern));
      case "UnaryExpression":
        if (node.operator === "delete" && node.argument.type === "MemberExpression") {
          this.#mutated(node.argument);
        }
        return this.#visitChildren(node);
      case "MemberExpression":
        return this.#below(node, () => {
          this.#visit(node.object as AnyNode);
          if (node.computed) this.#visit(node.property as AnyNode);
        });
      case "Property":
        return this.#below(node, () => {
          if (node.computed) this.#visit(node.key as AnyNode);
          this.#visit(node.value as AnyNode);
        });
      case "CallExpression":
        this.#call(node);
        return this.#visitChildren(node);
      case "AwaitExpression":
        if (this.#functions === 0) this.#visitor.topLevelAwait?.(node);
        return this.#visitChildren(node);
      case "ImportExpression":
        this.#visitor.dynamicImport?.(node);
        return this.#visitChildren(node);
      case "MetaProperty":
        if (node.meta.name === "import") this.#visitor.importMeta?.(node);
        return;
      default:
        return this.#visitChildren(node);
    }
  }

  #member(node: Extract<AnyNode, { type: "PropertyDefinition" | "MethodDefinition" }>): void {
    this.#below(node, () => {
      if (node.computed) this.#visit(node.key as AnyNode);
      if (!node.value) return;
      // The initializer of an instance field runs with each `new`, that of a static field with the
      // module.
      const later = node.type === "PropertyDefinition";
      if (later && !node.static) this.#deferred++;
      if (later) this.#functions++;
      this.#visit(node.value as AnyNode);
      if (later) this.#functions--;
      if (later && !node.static) this.#deferred--;
    });
  }

  #class(node: Extract<AnyNode, { type: "ClassDeclaration" | "ClassExpression" }>): void {
    this.#parents.push(node);
    if (node.superClass) this.#visit(node.superClass as AnyNode);
    this.#visit(node.body as AnyNode);
    this.#parents.pop();
  }

  #function(node: FunctionNode): void {
    const parent = this.#parents.at(-1);
    // `(() => { ... })()` runs immediately.
    const immediate = parent?.type === "CallExpression" && parent.callee === node as unknown &&
      !node.async && !node.generator;
    if (!immediate) this.#deferred++;
    this.#functions++;
    this.#inScope(() => {
      for (const param of node.params) {
        for (const id of patternNames(param)) this.#declare(id, "param");
      }
      if (node.body.type === "BlockStatement") {
        this.#hoistVars(node.body.body as AnyNode[]);
        this.#hoistLexical(node.body.body as AnyNode[]);
      }
      if (node.type === "FunctionExpression" && node.id) this.#declare(node.id, "function");
    }, () => {
      this.#parents.push(node);
      for (const param of node.params) this.#patternDefaults(param);
      if (node.body.type === "BlockStatement") this.#visitChildren(node.body);
      else this.#visit(node.body as AnyNode);
      this.#parents.pop();
    });
    this.#functions--;
    if (!immediate) this.#deferred--;
  }

  /**
   * Visits default values and computed keys of a declaring pattern; its names are not references.
   */
  #patternDefaults(pattern: Pattern): void {
    this.#parents.push(pattern as AnyNode);
    switch (pattern.type) {
      case "ObjectPattern":
        for (const p of pattern.properties) {
          if (p.type === "RestElement") this.#patternDefaults(p.argument);
          else this.#patternProperty(p, (value) => this.#patternDefaults(value));
        }
        break;
      case "ArrayPattern":
        for (const e of pattern.elements) if (e !== null) this.#patternDefaults(e);
        break;
      case "RestElement":
        this.#patternDefaults(pattern.argument);
        break;
      case "AssignmentPattern":
        this.#patternDefaults(pattern.left);
        this.#visit(pattern.right as AnyNode);
        break;
    }
    this.#parents.pop();
  }

  #patternProperty(property: AssignmentProperty, value: (pattern: Pattern) => void): void {
    this.#parents.push(property as AnyNode);
    if (property.computed) this.#visit(property.key as AnyNode);
    value(property.value);
    this.#parents.pop();
  }

  /** Visits the left side of an assignment. */
  #target(pattern: Pattern): void {
    switch (pattern.type) {
      case "Identifier":
        return this.#reference(pattern, true);
      case "MemberExpression":
        this.#mutated(pattern);
        return this.#visit(pattern);
    }
    this.#parents.push(pattern as AnyNode);
    switch (pattern.type) {
      case "ObjectPattern":
        for (const p of pattern.properties) {
          if (p.type === "RestElement") this.#target(p.argument);
          else this.#patternProperty(p, (value) => this.#target(value));
        }
        break;
      case "ArrayPattern":
        for (const e of pattern.elements) if (e !== null) this.#target(e);
        break;
      case "RestElement":
        this.#target(pattern.argument);
        break;
      case "AssignmentPattern":
        this.#target(pattern.left);
        this.#visit(pattern.right as AnyNode);
        break;
      default:
        this.#visit(pattern as AnyNode);
    }
    this.#parents.pop();
  }

  #reference(node: Identifier, write: boolean): void {
    this.#visitor.reference?.(
      node,
      this.#lookup(node.name),
      write,
      this.#deferred > 0,
      this.#parents,
    );
  }

  #root(member: MemberExpression): { binding: Binding; direct: boolean } | undefined {
    let object = member.object as AnyNode;
    let direct = true;
    while (object.type === "MemberExpression") {
      object = object.object as AnyNode;
      direct = false;
    }
    if (object.type !== "Identifier") return undefined;
    const binding = this.#lookup(object.name);
    return binding === undefined ? undefined : { binding, direct };
  }

  #mutated(member: MemberExpression): void {
    const root = this.#root(member);
    if (root !== undefined) {
      this.#visitor.mutation?.(root.binding, member, this.#deferred > 0, this.#parents);
    }
  }

  #call(node: CallExpression): void {
    const callee = node.callee as AnyNode;
    if (callee.type === "Identifier") {
      if (this.#lookup(callee.name) === undefined) {
        this.#visitor.globalCall?.(callee.name, node, this.#deferred > 0, this.#parents);
      }
      return;
    }
    if (
      callee.type !== "MemberExpression" || callee.computed || callee.property.type !== "Identifier"
    ) return;
    const method = callee.property.name;
    const root = this.#root(callee);
    if (root !== undefined) {
      return this.#visitor.methodCall?.(
        root.binding,
        method,
        root.direct,
        node,
        this.#deferred > 0,
        this.#parents,
      );
    }
    // Object.assign(name, ...), Object.defineProperty(name, ...), Reflect.set(name, ...)
    const object = callee.object as AnyNode;
    const first = node.arguments[0] as AnyNode | undefined;
    if (object.type !== "Identifier" || first?.type !== "Identifier") return;
    const writes = (object.name === "Object" && /^(assign|define|setPrototype)/.test(method)) ||
      (object.name === "Reflect" && /^(set|define|delete)/.test(method));
    const binding = writes ? this.#lookup(first.name) : undefined;
    if (binding !== undefined) {
      this.#visitor.mutation?.(binding, node, this.#deferred > 0, this.#parents);
    }
  }
}
