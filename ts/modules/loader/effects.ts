// Debug sessions only: the variables that each function of a module may read and write, with the
// functions that it calls. Everything that cannot be resolved makes the result unknown.
import type { AnyNode, CallExpression, Identifier, Pattern, Program } from "acorn";
import { Aliases, THIS } from "./aliases.ts";
import { children } from "./scope.ts";

export type FunctionNode = Extract<
  AnyNode,
  { type: "FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression" }
>;

/** One read or write of a variable. */
export interface Access {
  /** The declared name; `THIS` for `this`. */
  readonly root: Identifier;
  readonly name: string;
  /** The first property: `state.items` and `state.items.length` have "items". */
  readonly property: string | undefined;
  /** The variable itself is assigned. */
  readonly isAssigned: boolean;
  /** Declared with `const`. */
  readonly isConst: boolean;
  /** Declared in the function itself. */
  readonly isLocal: boolean;
  readonly line: number;
}

/** Properties of an access that callers set. */
type AccessDetails = Partial<Pick<Access, "property" | "isAssigned">>;

/** What a function may do, including the functions that it calls. */
export interface Effects {
  readonly reads: readonly Access[];
  readonly writes: readonly Access[];
  /** It may read other things: the results of imported functions, the time. */
  readonly readsMore: boolean;
  /** It may write other variables, too. */
  readonly writesMore: boolean;
}

interface OwnEffects {
  readonly reads: Access[];
  readonly writes: Access[];
  readonly calls: Set<FunctionNode>;
  readsMore: boolean;
  writesMore: boolean;
}

/** Standard methods that leave their receiver as it is. */
const READING = new Set(
  ("at charAt charCodeAt codePointAt concat endsWith entries every filter find findIndex findLast " +
    "findLastIndex flat flatMap forEach get getTime has includes indexOf isPrototypeOf join keys " +
    "lastIndexOf localeCompare map match padEnd padStart reduce reduceRight repeat replace " +
    "replaceAll search slice some split startsWith substring toFixed toISOString toJSON " +
    "toLowerCase toReversed toSorted toSpliced toString toUpperCase trim trimEnd trimStart " +
    "values valueOf with hasOwnProperty then catch finally").split(" "),
);

/** Standard methods that change their receiver and keep their arguments in it. */
const CHANGING = new Set(
  "add clear copyWithin delete fill pop push reverse set shift sort splice unshift".split(" "),
);

/** Functions of the platform that change their first argument. */
const CHANGES_ARGUMENT = /^(?:Object\.(?:assign|define|setPrototype)|Reflect\.)/;

/** The effects of all functions of a module. */
export class EffectsOfModule {
  /** Calls of the workflow API by the last part of their names. */
  readonly apiCalls: {
    readonly name: string;
    readonly call: CallExpression;
    /** The functions that contain the call, the outermost first. */
    readonly inside: readonly FunctionNode[];
  }[] = [];
  readonly #own = new Map<FunctionNode, OwnEffects>();
  readonly #declared = new Map<Identifier, FunctionNode>();
  /** Functions of classes and object literals, by their names. */
  readonly #members = new Map<string, FunctionNode[]>();
  readonly #accessors = new Map<string, FunctionNode[]>();
  readonly #api: ReadonlySet<Identifier>;
  readonly #aliases: Aliases;
  readonly #inside: FunctionNode[] = [];

  /** `api`: the names that the module imports from the workflow API. */
  constructor(program: Program, api: ReadonlySet<Identifier>) {
    this.#api = api;
    this.#collect(program);
    this.#aliases = new Aliases(program, {
      isFresh: (call) => this.#isApiCall(call),
      functionOf: (node) => this.functionOf(node),
    });
    this.#aliases.join(program);
    this.#visit(program);
  }

  isPrimitive(root: Identifier): boolean {
    return this.#aliases.isPrimitive(root);
  }

  isAlias(a: Identifier, b: Identifier): boolean {
    return this.#aliases.isAlias(a, b);
  }

  hasAliases(root: Identifier): boolean {
    return this.#aliases.hasAliases(root);
  }

  /** Returns the function of an expression: the literal, or a name that always has it. */
  functionOf(node: AnyNode | undefined): FunctionNode | undefined {
    if (node === undefined) return undefined;
    if (isFunction(node)) return node;
    if (node.type !== "Identifier") return undefined;
    const binding = this.#aliases.bindingOf(node);
    if (binding === undefined) return undefined;
    if (binding.kind === "const" && binding.init !== undefined && isFunction(binding.init)) {
      return binding.init;
    }
    return binding.kind === "function" && !this.#aliases.isReassigned(binding.node)
      ? this.#declared.get(binding.node)
      : undefined;
  }

  /** The functions whose effects are known. */
  functions(): readonly FunctionNode[] {
    return [...this.#own.keys()];
  }

  /** Returns a function with all functions that it may call, at any depth. */
  calledBy(own: FunctionNode): ReadonlySet<FunctionNode> {
    const seen = new Set<FunctionNode>([own]);
    for (const each of seen) for (const called of this.#effects(each).calls) seen.add(called);
    return seen;
  }

  /** Returns the effects of a function and of all functions that it may call. */
  effectsOf(own: FunctionNode): Effects {
    const seen = new Set<FunctionNode>([own]);
    const reads: Access[] = [], writes: Access[] = [];
    let [readsMore, writesMore] = [false, false];
    for (const each of seen) {
      const effects = this.#effects(each);
      const marked = (access: Access): Access => ({
        ...access,
        isLocal: access.root.start >= each.start && access.root.start < each.end,
      });
      reads.push(...effects.reads.map(marked));
      writes.push(...effects.writes.map(marked));
      readsMore ||= effects.readsMore;
      writesMore ||= effects.writesMore;
      for (const called of effects.calls) seen.add(called);
    }
    return { reads, writes, readsMore, writesMore };
  }

  #effects(own: FunctionNode): OwnEffects {
    let effects = this.#own.get(own);
    if (effects === undefined) {
      effects = { reads: [], writes: [], calls: new Set(), readsMore: false, writesMore: false };
      this.#own.set(own, effects);
    }
    return effects;
  }

  /** Records functions by their names. */
  #collect(node: AnyNode): void {
    if (node.type === "FunctionDeclaration" && node.id) this.#declared.set(node.id, node);
    if (
      node.type === "Property" || node.type === "MethodDefinition" ||
      node.type === "PropertyDefinition"
    ) {
      const value = node.value as AnyNode | null;
      const name = node.computed ? "" : keyText(node.key as AnyNode);
      if (value !== null && isFunction(value)) {
        const isAccessor = "kind" in node && (node.kind === "get" || node.kind === "set");
        const all = isAccessor ? this.#accessors : this.#members;
        all.set(name, [...all.get(name) ?? [], value]);
      }
    }
    for (const child of children(node)) this.#collect(child);
  }

  // ------------------------------------------------------------------------------ effects

  /** A nested function counts for all that contain it. */
  #add(change: (effects: OwnEffects) => void): void {
    for (const own of this.#inside) change(this.#effects(own));
  }

  #unknown(): void {
    this.#add((effects) => void (effects.readsMore = effects.writesMore = true));
  }

  #readsMore(): void {
    this.#add((effects) => void (effects.readsMore = true));
  }

  #call(called: FunctionNode): void {
    this.#add(({ calls }) => void calls.add(called));
  }

  #reads(access: Access): void {
    this.#add(({ reads }) => void reads.push(access));
  }

  #writes(access: Access): void {
    this.#add(({ writes }) => void writes.push(access));
  }

  #access(node: AnyNode, more: AccessDetails = {}): Access | undefined {
    const { root, property } = rootOf(node);
    const line = node.loc?.start.line ?? 0;
    const known = { property, isAssigned: false, line, isConst: false, isLocal: false, ...more };
    if (root?.type === "ThisExpression") return { ...known, root: THIS, name: "this" };
    const binding = root?.type === "Identifier" ? this.#aliases.bindingOf(root) : undefined;
    if (binding === undefined) return undefined;
    const isConst = binding.kind === "const";
    return { ...known, isConst, root: binding.node, name: binding.name };
  }

  #mutates(node: AnyNode): void {
    const access = this.#access(node);
    if (access !== undefined) this.#writes(access);
    else if (rootOf(node).root === undefined) this.#unknown();
  }

  // -------------------------------------------------------------------------------- visits

  #visit(node: AnyNode): void {
    if (isFunction(node)) {
      this.#inside.push(node);
      for (const child of children(node)) this.#visit(child);
      this.#inside.pop();
      return;
    }
    switch (node.type) {
      case "Identifier":
      case "ThisExpression":
        return this.#read(node);
      case "MemberExpression":
        return this.#member(node);
      case "AssignmentExpression":
        this.#assigned(node.left as AnyNode);
        break;
      case "UpdateExpression":
        this.#assigned(node.argument as AnyNode);
        break;
      case "UnaryExpression":
        if (node.operator === "delete") this.#mutates(node.argument as AnyNode);
        break;
      case "ForInStatement":
      case "ForOfStatement":
        if (node.left.type !== "VariableDeclaration") this.#assigned(node.left as AnyNode);
        break;
      case "CallExpression":
        return this.#called(node);
      case "NewExpression":
        this.#constructed(node);
        break;
      case "TaggedTemplateExpression":
      case "ImportExpression":
      case "YieldExpression":
        this.#unknown();
        break;
    }
    for (const child of children(node)) this.#visit(child);
  }

  #read(node: AnyNode): void {
    if (node.type === "Identifier" && node.name === "globalThis") this.#unknown();
    const called = this.functionOf(node);
    if (called !== undefined) return this.#call(called);
    const access = this.#access(node);
    if (access !== undefined) this.#reads(access);
  }

  #member(node: Extract<AnyNode, { type: "MemberExpression" }>): void {
    const name = node.computed ? undefined : keyText(node.property as AnyNode);
    for (const each of this.#accessors.get(name ?? "") ?? []) this.#call(each);
    const access = this.#access(node);
    // `a.b.c` is one read of `a.b`; expressions in brackets are read separately.
    let at: AnyNode = node;
    while (at.type === "MemberExpression") {
      if (at.computed) this.#visit(at.property as AnyNode);
      at = at.object as AnyNode;
    }
    if (access !== undefined) this.#reads(access);
    else if (at.type !== "Identifier") this.#visit(at);
  }

  #assigned(target: AnyNode): void {
    if (target.type === "Identifier") {
      const access = this.#access(target, { isAssigned: true });
      if (access !== undefined) this.#writes(access);
    } else if (target.type === "MemberExpression") this.#mutates(target);
    else for (const part of targetsOf(target as Pattern)) this.#assigned(part);
  }

  #isOfApi({ callee }: CallExpression): boolean {
    const { root } = rootOf(callee as AnyNode);
    const binding = root?.type === "Identifier" ? this.#aliases.bindingOf(root) : undefined;
    return binding !== undefined && this.#api.has(binding.node);
  }

  /** Calls of the API, and of what it returned: `const { charge } = proxyActivities()`. */
  #isApiCall(node: CallExpression): boolean {
    if (this.#isOfApi(node)) return true;
    const { root } = rootOf(node.callee as AnyNode);
    const binding = root?.type === "Identifier" ? this.#aliases.bindingOf(root) : undefined;
    return binding !== undefined && this.#aliases.isMadeBy(binding.node, this.#api);
  }

  #called(node: CallExpression): void {
    const callee = node.callee as AnyNode;
    this.#effectsOfCall(node, callee);
    // The method is not a property that the call reads.
    this.#visit(callee.type === "MemberExpression" ? callee.object as AnyNode : callee);
    if (callee.type === "MemberExpression" && callee.computed) {
      this.#visit(callee.property as AnyNode);
    }
    for (const each of node.arguments as AnyNode[]) this.#visit(each);
  }

  #effectsOfCall(node: CallExpression, callee: AnyNode): void {
    if (this.#isApiCall(node)) {
      const name = callee.type === "Identifier" ? callee.name : lastName(callee);
      if (this.#isOfApi(node)) {
        this.apiCalls.push({ name, call: node, inside: [...this.#inside] });
      }
      return this.#readsMore();
    }
    if (callee.type === "MemberExpression" && !callee.computed) {
      return this.#methodCalled(node, callee);
    }
    const isKnown = isFunction(callee) || this.functionOf(callee) !== undefined;
    const isGlobal = callee.type === "Identifier" && this.#aliases.bindingOf(callee) === undefined;
    if (isGlobal || isKnown) return;
    this.#unknown();
    this.#mutateArguments(node);
  }

  #methodCalled(
    node: CallExpression,
    callee: Extract<AnyNode, { type: "MemberExpression" }>,
  ): void {
    const method = keyText(callee.property as AnyNode);
    const { root } = rootOf(callee.object as AnyNode);
    const isGlobal = root?.type === "Identifier" && this.#aliases.bindingOf(root) === undefined;
    if (isGlobal) {
      if (root.name === "Date") this.#readsMore();
      const [first] = node.arguments as AnyNode[];
      if (first !== undefined && CHANGES_ARGUMENT.test(`${root.name}.${method}`)) {
        this.#mutates(first);
      }
      return;
    }
    const own = this.#members.get(method) ?? [];
    for (const each of own) this.#call(each);
    const binding = root?.type === "Identifier" ? this.#aliases.bindingOf(root) : undefined;
    const isForeign = binding?.kind === "import" ||
      (binding !== undefined && this.#aliases.isMadeByImport(binding.node));
    const isStandard = READING.has(method) || CHANGING.has(method);
    if (isForeign || (own.length === 0 && !isStandard)) this.#unknown();
    if (READING.has(method) && own.length === 0 && !isForeign) return;
    this.#mutates(callee.object as AnyNode);
    if (!isStandard || own.length > 0 || isForeign) this.#mutateArguments(node);
  }

  #constructed({ callee, arguments: given }: Extract<AnyNode, { type: "NewExpression" }>): void {
    if (callee.type === "Identifier" && this.#aliases.bindingOf(callee) === undefined) return;
    // A class of the module or an imported one.
    this.#unknown();
    for (const each of given) this.#mutates(each as AnyNode);
  }

  #mutateArguments({ arguments: given }: CallExpression): void {
    for (const each of given as AnyNode[]) {
      const value = each.type === "SpreadElement" ? each.argument as AnyNode : each;
      for (const root of this.#aliases.rootsIn(value)) {
        this.#writes({
          root,
          name: root.name,
          property: undefined,
          isAssigned: false,
          isConst: false,
          isLocal: false,
          line: value.loc?.start.line ?? 0,
        });
      }
    }
  }
}

const isFunction = (node: AnyNode): node is FunctionNode =>
  node.type === "FunctionDeclaration" || node.type === "FunctionExpression" ||
  node.type === "ArrowFunctionExpression";

const keyText = (node: AnyNode): string =>
  node.type === "Identifier" || node.type === "PrivateIdentifier"
    ? node.name
    : node.type === "Literal"
    ? String(node.value)
    : "";

const lastName = (node: AnyNode): string =>
  node.type === "MemberExpression" && !node.computed ? keyText(node.property as AnyNode) : "";

/** Returns the variable of `name.a.b`, and its first property. */
function rootOf(
  node: AnyNode,
): { readonly root: AnyNode | undefined; readonly property: string | undefined } {
  let at = node;
  let property: string | undefined;
  while (at.type === "MemberExpression" || at.type === "ChainExpression") {
    if (at.type === "ChainExpression") {
      at = at.expression as AnyNode;
      continue;
    }
    // An index changes the length as well.
    property = at.computed ? undefined : keyText(at.property as AnyNode);
    at = at.object as AnyNode;
  }
  const isVariable = at.type === "Identifier" || at.type === "ThisExpression";
  return { root: isVariable ? at : undefined, property };
}

/** Yields the targets of a destructuring assignment. */
function* targetsOf(pattern: Pattern): Generator<AnyNode> {
  switch (pattern.type) {
    case "ObjectPattern":
      for (const each of pattern.properties) {
        yield* targetsOf(each.type === "RestElement" ? each.argument : each.value);
      }
      break;
    case "ArrayPattern":
      for (const each of pattern.elements) if (each !== null) yield* targetsOf(each);
      break;
    case "RestElement":
      yield* targetsOf(pattern.argument);
      break;
    case "AssignmentPattern":
      yield* targetsOf(pattern.left);
      break;
    default:
      yield pattern as AnyNode;
  }
}
