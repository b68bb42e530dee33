// Predicates over the shape of syntax nodes.
import type { AnyNode, CallExpression } from "acorn";
import { children } from "../loader/scope.ts";

export type FunctionNode = Extract<
  AnyNode,
  { type: "FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression" }
>;
export const isFunctionNode = (node: AnyNode | undefined): node is FunctionNode =>
  node?.type === "FunctionDeclaration" || node?.type === "FunctionExpression" ||
  node?.type === "ArrowFunctionExpression";
export const isLoop = (node: AnyNode): boolean =>
  ["WhileStatement", "DoWhileStatement", "ForStatement"].includes(node.type);

/**
 * Whether the value below these nodes is discarded: a statement, also in `void`, `await`, `x &&
 * ...`.
 */
export function isDropped(outer: readonly AnyNode[]): boolean {
  const above = outer.findLast((node) =>
    !["AwaitExpression", "LogicalExpression", "ConditionalExpression"].includes(node.type) &&
    !(node.type === "UnaryExpression" && node.operator === "void")
  );
  return above?.type === "ExpressionStatement";
}

/** `timer("name", "1h")`. With a body it is an arm of a select. */
export function isNamedTimer(call: CallExpression): boolean {
  return call.arguments.length === 2 && !isFunctionNode(call.arguments[1] as AnyNode) &&
    call.arguments[1]!.type !== "Identifier";
}

export function propertyKey(p: Extract<AnyNode, { type: "Property" }>): string | undefined {
  if (p.computed) return undefined;
  return p.key.type === "Identifier"
    ? p.key.name
    : p.key.type === "Literal"
    ? String(p.key.value)
    : undefined;
}

export function property(object: AnyNode | undefined, name: string): AnyNode | undefined {
  if (object?.type !== "ObjectExpression") return undefined;
  for (const p of object.properties) {
    if (p.type === "Property" && propertyKey(p) === name) return p.value as AnyNode;
  }
  return undefined;
}

export function isPromiseMethod(callee: AnyNode): boolean {
  return callee.type === "MemberExpression" && callee.object.type === "Identifier" &&
    callee.object.name === "Promise" &&
    callee.property.type === "Identifier" &&
    (callee.property.name === "race" || callee.property.name === "any");
}

/** `while (true)`, `for (;;)`, `do ... while (true)`: only a jump ends it. */
export function isEndless(loop: AnyNode): boolean {
  if (loop.type === "ForStatement") return !loop.test || isTrue(loop.test as AnyNode);
  return (loop.type === "WhileStatement" || loop.type === "DoWhileStatement") &&
    isTrue(loop.test as AnyNode);
}

const isTrue = (node: AnyNode): boolean =>
  node.type === "Literal" && (node.value === true || node.value === 1);

/** Whether a block contains a jump out of it: throw, return, break. */
export function leaves(node: AnyNode): boolean {
  if (isFunctionNode(node)) return false;
  if (
    node.type === "ThrowStatement" || node.type === "ReturnStatement" ||
    node.type === "BreakStatement"
  ) return true;
  for (const child of children(node)) if (leaves(child)) return true;
  return false;
}
