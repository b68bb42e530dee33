// Finds state that all runs share and that no assignment to a top-level variable shows: variables
// in closures, class instances, objects with methods, iterators, dates. A change by one run is
// visible to the next run in the process, and not to a replay elsewhere. Only the text is analyzed.
// A class or function of another module is judged by that module's `stateful` exports (graph.ts);
// packages are skipped.
import type {
  AnyNode,
  CallExpression,
  Class,
  Identifier,
  NewExpression,
  Node,
  ObjectExpression,
} from "acorn";
import type { StatefulExport } from "./module_code.ts";
import { type Binding, children } from "./scope.ts";

export interface HiddenState {
  readonly binding: string;
  readonly kind: "closure" | "object" | "iterator";
  readonly at: Node;
}

type FunctionNode = Extract<
  AnyNode,
  { type: "FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression" }
>;

/** Methods that change instances of built-in classes. */
const BUILT_IN_MUTATORS: ReadonlyMap<string, RegExp> = new Map([
  ["Date", /^set/],
  ["DataView", /^set/],
  ["URLSearchParams", /^(?:append|delete|set|sort)$/],
  ["AbortController", /^abort$/],
  ["EventTarget", /^(?:addEventListener|removeEventListener)$/],
  ["DisposableStack", /^(?:use|adopt|defer|move|dispose)$/],
  ["AsyncDisposableStack", /^(?:use|adopt|defer|move|disposeAsync)$/],
]);
const MUTATORS =
  /^(?:push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin|set|add|delete|clear|append|getOrInsert|getOrInsertComputed)$/;
const MAKES_ITERATOR = /^(?:values|entries|keys|matchAll)$/;
/** Methods that call their callbacks before they return. */
const CALLS_AT_ONCE =
  /^(?:forEach|map|filter|reduce|reduceRight|some|every|find|findIndex|findLast|findLastIndex|flatMap|sort|toSorted|replace|replaceAll|from)$/;

const isFunction = (node: AnyNode): node is FunctionNode => /Function/.test(node.type);
const isClass = (node: AnyNode): node is Class & AnyNode =>
  node.type === "ClassDeclaration" || node.type === "ClassExpression";
const contains = (outer: Node, inner: Node): boolean =>
  outer.start <= inner.start && inner.end <= outer.end;

/** Receives the reports of the walk over a module (scope.ts), and then lists what keeps state. */
export class HiddenStateFinder {
  /** By function: a variable of it that an inner function changes. */
  readonly #keepers = new Map<AnyNode, { readonly name: string; readonly at: Node }>();
  /** By top-level name: deferred uses. */
  readonly #uses = new Map<Binding, { readonly at: Node; readonly method: string | undefined }[]>();

  /** Called for a read or write of a name. */
  reference(
    node: Identifier,
    binding: Binding,
    write: boolean,
    deferred: boolean,
    parents: readonly AnyNode[],
  ): void {
    if (!binding.top) return write ? this.#changed(binding, node, parents) : undefined;
    if (!deferred && !isBind(parents, node)) return;
    const uses = this.#uses.get(binding) ?? [];
    this.#uses.set(binding, uses);
    uses.push({ at: node, method: methodOf(parents, node) });
  }

  /** Called for an assignment to a property of a value, or a call of its method. */
  changed(
    binding: Binding,
    method: string | undefined,
    at: Node,
    parents: readonly AnyNode[],
  ): void {
    if (!binding.top && (method === undefined || MUTATORS.test(method))) {
      this.#changed(binding, at, parents);
    }
  }

  /** Records a variable of a function that an inner function, possibly called later, changes. */
  #changed(binding: Binding, at: Node, parents: readonly AnyNode[]): void {
    const functions = parents.filter(isFunction);
    const owner = functions.findLast((each) =>
      contains(each, binding.node) && (each as { id?: unknown }).id !== binding.node
    );
    if (owner === undefined || owner === functions.at(-1) || this.#keepers.has(owner)) return;
    const inside = functions.slice(functions.indexOf(owner) + 1);
    if (inside.every((each) => isCalledAtOnce(each, parents))) return;
    this.#keepers.set(owner, { name: binding.name, at });
  }

  /** Returns the hidden state of the module. */
  found(body: readonly AnyNode[], top: ReadonlyMap<string, Binding>): HiddenState[] {
    const values = valuesOf(body);
    const found: HiddenState[] = [];
    for (const { node } of evaluatedCalls(body, values)) {
      const made = node === undefined ? undefined : this.#keepers.get(node);
      if (made !== undefined) found.push({ binding: made.name, kind: "closure", at: made.at });
    }
    for (const [binding, uses] of this.#uses) {
      if (top.get(binding.name) !== binding) continue;
      const init = values.get(binding.name);
      if (init === undefined) continue;
      if (isIterator(init, values)) {
        found.push({ binding: binding.name, kind: "iterator", at: uses[0]!.at });
        continue;
      }
      const mutates = mutatorsOf(init, values);
      const use = mutates && uses.find(({ method, at }) => mutates(method, at));
      if (use) found.push({ binding: binding.name, kind: "object", at: use.at });
    }
    return found;
  }

  /** Returns the state that an export keeps. */
  statefulExport(name: string, body: readonly AnyNode[]): StatefulExport | undefined {
    const values = valuesOf(body);
    const init = values.get(name);
    if (init === undefined) return undefined;
    const methods = init.type === "NewExpression" || init.type === "ObjectExpression"
      ? ownMutators(init, values)
      : [];
    const makesState = isFunction(init) && this.#keepers.has(init);
    return methods.length === 0 && !makesState ? undefined : { methods, makesState };
  }
}

/**
 * Reports calls during the evaluation of a module. `node`: the function, if it is the module's own.
 */
export function evaluatedCalls(
  body: readonly AnyNode[],
  values: ReadonlyMap<string, AnyNode> = valuesOf(body),
): { readonly name: string; readonly at: Node; readonly node: AnyNode | undefined }[] {
  const calls: { name: string; at: Node; node: AnyNode | undefined }[] = [];
  const entered = new Set<AnyNode>();
  const enter = (node: AnyNode) => {
    if (entered.has(node)) return;
    entered.add(node);
    for (const child of children(node)) visit(child);
  };
  const visit = (node: AnyNode) => {
    if (isFunction(node)) return;
    if (node.type === "PropertyDefinition" && !node.static) return;
    if (node.type === "CallExpression" || node.type === "NewExpression") {
      const callee = node.callee as AnyNode;
      const called = isFunction(callee)
        ? callee
        : callee.type === "Identifier"
        ? values.get(callee.name)
        : undefined;
      calls.push({ name: callee.type === "Identifier" ? callee.name : "", at: node, node: called });
      if (called !== undefined && isFunction(called) && !called.generator) enter(called);
    }
    for (const child of children(node)) visit(child);
  };
  for (const statement of body) visit(statement);
  return calls;
}

/** Returns the initial values of top-level names: a function, a class, the initializer. */
function valuesOf(body: readonly AnyNode[]): Map<string, AnyNode> {
  const values = new Map<string, AnyNode>();
  for (const statement of body) {
    const node = ("declaration" in statement && statement.declaration
      ? statement.declaration
      : statement) as AnyNode;
    if ((node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") && node.id) {
      values.set(node.id.name, node);
    }
    if (node.type !== "VariableDeclaration") {
      continue;
    }
    for (const { id, init } of node.declarations) {
      if (id.type === "Identifier" && init) {
        values.set(id.name, init as AnyNode);
      }
    }
  }
  return values;
}

/** `name.bind(...)` and the like at the top level pass the object on. */
function isBind(parents: readonly AnyNode[], node: Node): boolean {
  const members = parents.slice(-3);
  return members.some((each) =>
    each.type === "MemberExpression" && each.property.type === "Identifier" &&
    each.property.name === "bind" &&
    contains(each, node)
  );
}

/** Returns "next" for `name` in `name.next()`; undefined if the value itself is used. */
function methodOf(parents: readonly AnyNode[], node: Node): string | undefined {
  const member = parents.at(-1);
  if (member?.type !== "MemberExpression" || member.object !== node as unknown) return undefined;
  return member.property.type === "Identifier" && !member.computed ? member.property.name : "";
}

function isCalledAtOnce(node: FunctionNode, parents: readonly AnyNode[]): boolean {
  const call = parents[parents.indexOf(node) - 1];
  if (call?.type !== "CallExpression") return false;
  const callee = call.callee as AnyNode;
  if (callee === node) return !node.async && !node.generator;
  return callee.type === "MemberExpression" && callee.property.type === "Identifier" &&
    CALLS_AT_ONCE.test(callee.property.name);
}

function isIterator(init: AnyNode, values: ReadonlyMap<string, AnyNode>): boolean {
  if (init.type !== "CallExpression") return false;
  const callee = init.callee as AnyNode;
  if (isFunction(callee)) return callee.generator === true;
  if (callee.type === "Identifier") {
    const called = values.get(callee.name);
    return called !== undefined && isFunction(called) && called.generator === true;
  }
  if (callee.type !== "MemberExpression") return false;
  const { property } = callee;
  if (!callee.computed) {
    // Schema builders have methods of these names that take arguments.
    const takes = property.type === "Identifier" && property.name === "matchAll" ? 1 : 0;
    if (init.arguments.length > takes) return false;
    return property.type === "Identifier" && MAKES_ITERATOR.test(property.name) &&
      !isNamespace(callee.object as AnyNode);
  }
  return property.type === "MemberExpression" && property.property.type === "Identifier" &&
    /^(?:asyncI|i)terator$/.test(property.property.name);
}

/** `Object.keys()` returns an array. */
const isNamespace = (node: AnyNode): boolean =>
  node.type === "Identifier" && (node.name === "Object" || node.name === "Reflect");

/**
 * Returns a predicate for uses that change the object; undefined for values without such methods.
 */
function mutatorsOf(
  init: AnyNode,
  values: ReadonlyMap<string, AnyNode>,
): ((method: string | undefined, at: Node) => boolean) | undefined {
  if (init.type !== "NewExpression" && init.type !== "ObjectExpression") return undefined;
  if (
    init.type === "NewExpression" && init.callee.type === "Identifier" &&
    !values.has(init.callee.name)
  ) {
    const built = BUILT_IN_MUTATORS.get(init.callee.name);
    return built && ((method) => method !== undefined && built.test(method));
  }
  const own = ownMutators(init, values);
  // A receiver may change a value that is passed to it.
  return own.length === 0 ? undefined : (method) => method === undefined || own.includes(method);
}

/** Returns the methods of an object or instance that change it by `this`. */
function ownMutators(
  init: NewExpression | ObjectExpression,
  values: ReadonlyMap<string, AnyNode>,
): string[] {
  const bodies = new Map<string, AnyNode>();
  if (init.type === "ObjectExpression") {
    for (const property of init.properties) {
      if (property.type === "Property" && isFunction(property.value as AnyNode)) {
        bodies.set(keyOf(property.key as AnyNode), property.value as AnyNode);
      }
    }
  } else {
    let of = init.callee.type === "Identifier"
      ? values.get(init.callee.name)
      : init.callee as AnyNode;
    for (const seen = new Set<AnyNode>(); of !== undefined && isClass(of) && !seen.has(of);) {
      seen.add(of);
      for (const member of of.body.body) {
        if (member.type !== "MethodDefinition" && member.type !== "PropertyDefinition") continue;
        if (member.static || !member.value || !isFunction(member.value as AnyNode)) continue;
        const key = keyOf(member.key as AnyNode);
        if (key !== "constructor" && !bodies.has(key)) bodies.set(key, member.value as AnyNode);
      }
      of = of.superClass?.type === "Identifier" ? values.get(of.superClass.name) : undefined;
    }
  }
  const changing = new Set([...bodies].filter(([, body]) => changesThis(body)).map(([key]) => key));
  for (let before = -1; before !== changing.size;) {
    before = changing.size;
    for (const [key, body] of bodies) {
      if (callsOfThis(body).some((called) => changing.has(called))) changing.add(key);
    }
  }
  return [...changing];
}

const keyOf = (key: AnyNode): string =>
  key.type === "Identifier"
    ? key.name
    : key.type === "PrivateIdentifier"
    ? `#${key.name}`
    : key.type === "Literal"
    ? String(key.value)
    : "";

/** Whether an expression such as `this.a.b` begins with `this`. */
function isOfThis(node: AnyNode): boolean {
  if (node.type !== "MemberExpression") return false;
  const object = node.object as AnyNode;
  return object.type === "ThisExpression" || isOfThis(object);
}

function changesThis(node: AnyNode): boolean {
  if (node.type === "AssignmentExpression" && isOfThis(node.left as AnyNode)) return true;
  if (node.type === "UpdateExpression" && isOfThis(node.argument as AnyNode)) return true;
  if (
    node.type === "UnaryExpression" && node.operator === "delete" &&
    isOfThis(node.argument as AnyNode)
  ) return true;
  if (node.type === "CallExpression") {
    const callee = node.callee as AnyNode;
    const method = callee.type === "MemberExpression" && callee.property.type === "Identifier"
      ? callee.property.name
      : "";
    if (
      callee.type === "MemberExpression" && isOfThis(callee.object as AnyNode) &&
      MUTATORS.test(method)
    ) return true;
  }
  return [...children(node)].some(changesThis);
}

function callsOfThis(node: AnyNode): string[] {
  const inside = [...children(node)].flatMap(callsOfThis);
  const callee = node.type === "CallExpression"
    ? (node as CallExpression).callee as AnyNode
    : undefined;
  if (callee?.type !== "MemberExpression" || callee.object.type !== "ThisExpression") return inside;
  return [keyOf(callee.property as AnyNode), ...inside];
}
