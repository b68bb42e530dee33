// Finds APIs of the language that some supported runtimes lack (Node 20 and 22, browsers of 2024):
// a run that a newer runtime started would fail there. Only what the text shows: globals, static
// members, and methods of values whose class is evident.
import type { AnyNode, Identifier, MemberExpression, Node, Program } from "acorn";
import { type Binding, children } from "./scope.ts";

export interface RecentName {
  /** "Promise.try()" */
  readonly name: string;
  readonly at: Node;
  readonly message: string;
}

interface Group {
  /** The first version of Node that has them; undefined: none before 26. */
  readonly node: number | undefined;
  readonly names: string;
}

/** Globals, and static members as "Class.member". */
const STATIC: readonly Group[] = [
  { node: 21, names: "Object.groupBy Map.groupBy JSON.rawJSON JSON.isRawJSON" },
  { node: 22, names: "Array.fromAsync Promise.withResolvers Iterator" },
  { node: 23, names: "Promise.try Intl.DurationFormat" },
  {
    node: 24,
    names:
      "Float16Array Math.f16round RegExp.escape Error.isError Atomics.pause DisposableStack AsyncDisposableStack SuppressedError",
  },
  {
    node: undefined,
    names: "Temporal Uint8Array.fromBase64 Uint8Array.fromHex Math.sumPrecise AsyncIterator",
  },
];
/** Method names that no other class has. */
const METHODS: readonly Group[] = [
  { node: 21, names: "transferToFixedLength" },
  { node: 22, names: "isSubsetOf isSupersetOf isDisjointFrom symmetricDifference" },
  { node: 24, names: "getFloat16 setFloat16" },
  { node: undefined, names: "setFromBase64 setFromHex" },
];
/**
 * Method names that other classes have as well; reported for values that are evidently of the
 * class.
 */
const OF_CLASS: readonly (Group & { readonly of: string })[] = [
  { of: "Set", node: 22, names: "union intersection difference" },
  { of: "Map", node: undefined, names: "getOrInsert getOrInsertComputed" },
  { of: "WeakMap", node: undefined, names: "getOrInsert getOrInsertComputed" },
  { of: "Uint8Array", node: undefined, names: "toBase64 toHex" },
];
const ITERATOR_METHODS =
  /^(?:map|filter|take|drop|flatMap|reduce|toArray|forEach|some|every|find)$/;
const MAKES_ITERATOR = /^(?:values|keys|entries|matchAll)$/;

const versions = (groups: readonly Group[]) =>
  new Map(
    groups.flatMap(({ node, names }) => names.split(" ").map((name) => [name, node] as const)),
  );
const STATIC_VERSIONS = versions(STATIC);
const METHOD_VERSIONS = versions(METHODS);
const OF_CLASS_VERSIONS = new Map(
  OF_CLASS.flatMap(({ of, node, names }) =>
    names.split(" ").map((name) => [`${of}.${name}`, node] as const)
  ),
);
const MAY_CALL = new RegExp(
  String.raw`\.(?:${
    [...METHOD_VERSIONS.keys(), ...OF_CLASS_VERSIONS.keys()].map((name) =>
      name.replace(/^.*\./, "")
    ).join("|")
  })\s*\(|` +
    String.raw`\.(?:values|keys|entries|matchAll)\s*\(`,
);

function found(name: string, at: Node, node: number | undefined): RecentName {
  const lack = node === undefined
    ? "Node 20 to 24 and several browsers lack it"
    : `Node ${node > 22 ? "20 and 22" : "20"} and older browsers lack it`;
  return {
    name,
    at,
    message:
      `uses ${name}: ${lack}, so a run that uses it fails there. Import a module that computes the same`,
  };
}

/**
 * Returns a global that the module does not declare; undefined if all runtimes have it, or if the
 * code tests for it.
 */
export function recentGlobal(
  node: Identifier,
  parents: readonly AnyNode[],
  text: string,
): RecentName | undefined {
  const parent = parents.at(-1);
  if (parent?.type === "UnaryExpression" && parent.operator === "typeof") return undefined;
  const member =
    parent?.type === "MemberExpression" && parent.object === node as unknown && !parent.computed
      ? parent
      : undefined;
  const key = member?.property.type === "Identifier"
    ? `${node.name}.${member.property.name}`
    : undefined;
  const name = [node.name, key].find((each) => each !== undefined && STATIC_VERSIONS.has(each));
  if (
    name === undefined || asks(name, text) || isWritten(member, parents) ||
    isOptional(name === key ? member : parent, parents)
  ) {
    return undefined;
  }
  return found(name, node, STATIC_VERSIONS.get(name));
}

/** `typeof X`, `"x" in X`, `X.y ??= ...`: the module handles its absence. */
function asks(name: string, text: string): boolean {
  const [holder, member] = name.split(".");
  if (text.includes(`typeof ${name}`) || text.includes(`typeof globalThis.${name}`)) return true;
  return member !== undefined &&
    (text.includes(`"${member}" in ${holder}`) || text.includes(`'${member}' in ${holder}`));
}

const isWritten = (member: MemberExpression | undefined, parents: readonly AnyNode[]): boolean => {
  const outer = parents.at(-2);
  return member !== undefined && outer?.type === "AssignmentExpression" &&
    outer.left === member as unknown;
};

function isOptional(node: AnyNode | undefined, parents: readonly AnyNode[]): boolean {
  if (node?.type === "MemberExpression" && node.optional) return true;
  const call = node === undefined ? undefined : parents[parents.indexOf(node) - 1];
  return call?.type === "CallExpression" && call.optional;
}

/** Returns calls of methods that some runtimes lack. */
export function recentMethods(
  program: Program,
  text: string,
  top: ReadonlyMap<string, Binding>,
): RecentName[] {
  if (!MAY_CALL.test(text)) return [];
  const all: RecentName[] = [];
  const visit = (node: AnyNode): void => {
    if (
      node.type === "CallExpression" && node.callee.type === "MemberExpression" && !node.optional
    ) {
      const one = recentMethod(node.callee, top);
      if (one !== undefined) all.push(one);
    }
    for (const child of children(node)) visit(child);
  };
  visit(program as AnyNode);
  return all;
}

function recentMethod(
  callee: MemberExpression,
  top: ReadonlyMap<string, Binding>,
): RecentName | undefined {
  if (callee.computed || callee.optional || callee.property.type !== "Identifier") return undefined;
  const { name } = callee.property;
  if (METHOD_VERSIONS.has(name)) {
    return found(`${name}()`, callee.property, METHOD_VERSIONS.get(name));
  }
  const object = callee.object as AnyNode;
  const made = object.type === "Identifier" ? top.get(object.name)?.init : object;
  const className = made?.type === "NewExpression" && made.callee.type === "Identifier"
    ? made.callee.name
    : "";
  if (OF_CLASS_VERSIONS.has(`${className}.${name}`)) {
    return found(
      `${className}.prototype.${name}()`,
      callee.property,
      OF_CLASS_VERSIONS.get(`${className}.${name}`),
    );
  }
  if (!ITERATOR_METHODS.test(name) || object.type !== "CallExpression") return undefined;
  const maker = object.callee as AnyNode;
  if (
    maker.type !== "MemberExpression" || maker.property.type !== "Identifier" ||
    !MAKES_ITERATOR.test(maker.property.name)
  ) {
    return undefined;
  }
  // The result of `Object.keys(x).map()` is an array.
  if (maker.property.name !== "matchAll" && object.arguments.length > 0) return undefined;
  return found(`Iterator.prototype.${name}()`, callee.property, 22);
}
