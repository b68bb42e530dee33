// The names that modules see which are evaluated once for each run (programs of `@temporalio/workflow`): those of the official
// sandbox. A name that neither the module nor the language declares is looked up in the run's own global object, never in the host's:
// what is not there is `undefined` for `typeof` and a ReferenceError for whoever reads it, in every runtime.
import type { AnyNode, Identifier } from "acorn";
import type { Edits } from "./edits.ts";
import type { RunNames } from "./module_code.ts";
import { PROBES } from "../../executor/program/line_probe.ts";

/** The language's own, and what the realm's guard makes deterministic: read where they are. */
const LANGUAGE: ReadonlySet<string> = new Set(
  ("AbortController AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean " +
    "DataView Date DisposableStack Error EvalError Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array " +
    "Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set " +
    "SharedArrayBuffer String SuppressedError Symbol SyntaxError Temporal TextDecoder TextEncoder TypeError URIError URL " +
    "URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakSet WebAssembly arguments console decodeURI " +
    "decodeURIComponent encodeURI encodeURIComponent escape eval isFinite isNaN parseFloat parseInt undefined unescape").split(
      " ",
    ),
);
/** Of the run's own global object (ts/compat/sandbox/globals.ts gives their values). */
const OF_RUN: ReadonlySet<string> = new Set([
  ...["globalThis", "global", "setTimeout", "clearTimeout", "WeakRef", "FinalizationRegistry", "assert", "AsyncLocalStorage"],
]);
/** Programs of `@temporalio/workflow` find the name. */
export const isRunGlobal = (name: string): boolean => LANGUAGE.has(name) || OF_RUN.has(name);

/** What a CommonJS module is given. */
const OF_COMMONJS: ReadonlySet<string> = new Set(["exports", "require", "module"]);
/** What the official bundler puts in place of paths, which differ between machines. */
const PATHS: ReadonlyMap<string, string> = new Map([["__filename", '"/index.js"'], ["__dirname", '"/"']]);

/** Edits a reference to a name that the module does not declare. */
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
  // As the official bundler has it.
  if (env !== undefined) return edits.replace(env.start, env.end, '"development"');
  const parent = parents.at(-1);
  const asked = parent?.type === "UnaryExpression" && parent.operator === "typeof";
  const path = write ? undefined : PATHS.get(name);
  const text = path ?? `${write || asked || OF_RUN.has(name) ? names.global : names.lookup}.${name}`;
  const shorthand = parent?.type === "Property" && parent.shorthand && parent.value === node as unknown;
  edits.replace(node.start, node.end, shorthand ? `${name}: ${text}` : text);
}

/** `process.env.NODE_ENV` around the name `process`. */
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

/** `Function("return this")`, with which older libraries ask for the global object. */
function editFunction(node: AnyNode, parents: readonly AnyNode[], edits: Edits, names: RunNames): void {
  const call = parents.at(-1);
  if ((call?.type !== "CallExpression" && call?.type !== "NewExpression") || call.callee !== node as unknown) return;
  const [text, ...more] = call.arguments as AnyNode[];
  if (text?.type !== "Literal" || more.length > 0 || !/^\s*return this;?\s*$/.test(String(text.value))) return;
  edits.replace(call.start, call.end, `(() => ${names.global})`);
}
