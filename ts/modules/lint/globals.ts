// Uses of globals that workflow code must not use, or not while its module is loaded.
import type { AnyNode, Identifier } from "acorn";
import { BLOCKED } from "../guarded_names.ts";
import type { RawFinding } from "./module_lint.ts";

/**
 * Functions of Math whose results ECMAScript only approximates (tools/soak/engine_differences.mjs).
 */
export const APPROXIMATED_MATH = new Set(
  "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp expm1 log log1p log2 log10 cbrt hypot pow"
    .split(" "),
);

/**
 * Returns the findings for a reference to a global name. `deferred`: the code runs after the module
 * is loaded.
 */
export function checkGlobal(
  node: Identifier,
  deferred: boolean,
  parents: readonly AnyNode[],
): Omit<RawFinding, "at">[] {
  const parent = parents.at(-1);
  const member = parent?.type === "MemberExpression" && parent.object === node ? parent : undefined;
  const calls = (parent?.type === "CallExpression" || parent?.type === "NewExpression") &&
    parent.callee === node;
  const key = member !== undefined && !member.computed && member.property.type === "Identifier"
    ? member.property.name
    : "";
  const grand = parents.at(-2);
  const callsMember = member !== undefined &&
    (grand?.type === "CallExpression" || grand?.type === "NewExpression") &&
    grand.callee === member;
  const name = key === "" ? node.name : `${node.name}.${key}`;
  const blocked = BLOCKED.get(node.name);
  if (blocked !== undefined) {
    if (!calls && (member === undefined || key === "prototype")) return [];
    const what = `${name}${calls || callsMember ? "()" : ""}`;
    const message = `${what} is not available in workflow code: ${blocked.advice}`;
    return [{ rule: "outside", name, message }];
  }
  if (name === "crypto.subtle") {
    const message = "workflow code cannot use crypto.subtle: hash and sign in an activity";
    return [{ rule: "outside", name, message }];
  }
  const findings: Omit<RawFinding, "at">[] = [];
  if (node.name === "Math" && callsMember && APPROXIMATED_MATH.has(key)) {
    const message = `${name}() has different last digits in different engines`;
    findings.push({ rule: "engine-math", name, message });
  }
  if (deferred) return findings;
  const readsClock = (node.name === "Date" &&
    (parent?.type === "NewExpression"
      ? calls && parent.arguments.length === 0
      : calls || (key === "now" && callsMember))) ||
    (name === "Math.random" && callsMember) ||
    (node.name === "crypto" && callsMember &&
      (key === "randomUUID" || key === "getRandomValues")) ||
    (name === "performance.now" && callsMember);
  if (readsClock) {
    const what = parent?.type === "NewExpression" ? `new ${node.name}()` : `${name}()`;
    const message = `${what} is called while the module is loaded`;
    findings.push({ rule: "clock-while-loading", name, message });
  }
  return findings;
}
