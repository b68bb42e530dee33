// Global names of modules that are evaluated for each run (programs of `@temporalio/workflow`):
// those of the official sandbox. Names that neither the module nor the language declares are looked
// up in the run's global object, never in the host's. Missing ones are `undefined` for `typeof` and
// a ReferenceError otherwise, in every runtime.
import type { AnyNode, Identifier } from "acorn";
import type { Edits } from "./edits.ts";
import type { RunNames } from "./module_code.ts";
import { PROBES } from "../../executor/program/line_probe.ts";

/** Globals of the language, and those that the guard makes deterministic: read in place. */
const LANGUAGE: ReadonlySet<string> = new Set(
  ("AbortController AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean " +
    "DataView Date DisposableStack Error EvalError Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array " +
    "Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set " +
    "SharedArrayBuffer String SuppressedError Symbol SyntaxError Temporal TextDecoder TextEncoder TypeError URIError URL " +
    "URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakSet WebAssembly arguments console decodeURI " +
    "decodeURIComponent encodeURI encodeURIComponent escape eval isFinite isNaN parseFloat parseInt undefined unescape")
    .split(
      " ",
    ),
);
/** Globals of the run's global object (ts/compat/sandbox/globals.ts has their values). */
const OF_RUN: ReadonlySet<string> = new Set([
  ...[
    "globalThis",
    "global",
    "setTimeout",
    "clearTimeout",
    "WeakRef",
    "FinalizationRegistry",
    "assert",
    "AsyncLocalStorage",
  ],
]);
/** Whether programs of `@temporalio/workflow` have the global. */
export const isRunGlobal = (name: string): boolean => LANGUAGE.has(name) || OF_RUN.has(name);

/** Names that a CommonJS module is passed. */
const OF_COMMONJS: ReadonlySet<string> = new Set(["exports", "require", "module"]);
/** Constants of the official bundler for paths, which differ between machines. */
const PATHS: ReadonlyMap<string, string> = new Map([["__filename", '"/index.js"'], [
  "__dirname",
  '"/"',
]]);

/** Rewrites a reference to a name that the module does not declare. */
export function editGlobal(
  node: Identifier,
  write: boolean,
  parents: readonly AnyNode[],
  edits: Edits,
  names: RunNames,
  isCommonJs: boolean,
): void {
  const { name } = node;
  if (name === "Function") return editFunction(node, parents, edits, names);
  if (LANGUAGE.has(name) || PROBES.includes(name) || (isCommonJs && OF_COMMONJS.has(name))) return;
  const env = name === "process" ? nodeEnv(node, parents) : undefined;
  // As in the official bundler.
  if (env !== undefined) return edits.replace(env.start, env.end, '"development"');
  const parent = parents.at(-1);
  const asked = parent?.type === "UnaryExpression" && parent.operator === "typeof";
  const path = write ? undefined : PATHS.get(name);
  const text = path ??
    `${write || asked || OF_RUN.has(name) ? names.global : names.lookup}.${name}`;
  const shorthand = parent?.type === "Property" && parent.shorthand &&
    parent.value === node as unknown;
  edits.replace(node.start, node.end, shorthand ? `${name}: ${text}` : text);
}

/** Returns the node of `process.env.NODE_ENV` around the name `process`. */
function nodeEnv(node: AnyNode, parents: readonly AnyNode[]): AnyNode | undefined {
  const env = memberOf(parents.at(-1), node, "env");
  return env === undefined ? undefined : memberOf(parents.at(-2), env, "NODE_ENV");
}

function memberOf(parent: AnyNode | undefined, object: AnyNode, name: string): AnyNode | undefined {
  if (parent?.type !== "MemberExpression" || parent.object !== object as unknown) return undefined;
  const property = parent.property as AnyNode;
  const key = property.type === "Identifier" && !parent.computed
    ? property.name
    : property.type === "Literal"
    ? property.value
    : undefined;
  return key === name ? parent : undefined;
}

/** Rewrites `Function("return this")`, by which older libraries get the global object. */
function editFunction(
  node: AnyNode,
  parents: readonly AnyNode[],
  edits: Edits,
  names: RunNames,
): void {
  const call = parents.at(-1);
  if (
    (call?.type !== "CallExpression" && call?.type !== "NewExpression") ||
    call.callee !== node as unknown
  ) return;
  const [text, ...more] = call.arguments as AnyNode[];
  if (
    text?.type !== "Literal" || more.length > 0 || !/^\s*return this;?\s*$/.test(String(text.value))
  ) return;
  edits.replace(call.start, call.end, `(() => ${names.global})`);
}
