// Finds state that outlives a workflow run. A module is evaluated once per realm, so all runs of
// the process share its variables; a replay elsewhere reads other values. Top-level names that
// functions assign are rejected. Collections and objects that functions change cause a warning:
// they may be tables that are only filled once. hidden_state.ts finds state in closures, instances
// and iterators.
import type { AnyNode, Node } from "acorn";
import { displayName, type Problem, type ProblemCode } from "./errors.ts";
import type { HiddenState } from "./hidden_state.ts";
import type { CompiledModule, ImportedMutation } from "./module_code.ts";
import type { Binding } from "./scope.ts";

const ARRAY_MUTATORS = new Set([
  "push",
  "pop",
  "shift",
  "unshift",
  "splice",
  "sort",
  "reverse",
  "fill",
  "copyWithin",
]);
const KEYED_MUTATORS = new Set([
  "set",
  "add",
  "delete",
  "clear",
  "getOrInsert",
  "getOrInsertComputed",
]);
const COLLECTIONS =
  /^(?:Map|Set|WeakMap|WeakSet|Array|ArrayBuffer|DataView|(?:Big)?(?:Ui|I)nt\d+(?:Clamped)?Array|Float\d+Array|URLSearchParams)$/;

/** Whether the method changes the object that it is called on. */
export const isMutatingMethod = (method: string): boolean =>
  ARRAY_MUTATORS.has(method) || KEYED_MUTATORS.has(method);

/** Whether the initializer creates an array or a built-in collection. */
export function isCollection(init: AnyNode | undefined): boolean {
  if (init === undefined) return false;
  switch (init.type) {
    case "ArrayExpression":
      return true;
    case "NewExpression":
      return init.callee.type === "Identifier" && COLLECTIONS.test(init.callee.name);
    case "CallExpression": {
      const callee = init.callee as AnyNode;
      return callee.type === "MemberExpression" && callee.object.type === "Identifier" &&
        callee.property.type === "Identifier" &&
        /^Array\.(?:from|of)$/.test(`${callee.object.name}.${callee.property.name}`);
    }
    default:
      return false;
  }
}

/**
 * Whether the initializer creates a plain object. Its methods are its own (hidden_state.ts reads
 * them); what it contains may be collections.
 */
export function isPlainObject(init: AnyNode | undefined): boolean {
  if (init?.type === "ObjectExpression") return true;
  const callee = init?.type === "CallExpression" ? init.callee as AnyNode : undefined;
  return callee?.type === "MemberExpression" && callee.object.type === "Identifier" &&
    callee.object.name === "Object" && callee.property.type === "Identifier" &&
    /^(?:create|fromEntries|assign)$/.test(callee.property.name);
}

/** `/x/g` and `/x/y` keep their lastIndex. */
const remembers = (init: AnyNode | undefined): boolean =>
  init?.type === "Literal" && init.regex !== undefined && /[gy]/.test(init.regex.flags);

export class StateFindings {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  readonly #source: { readonly url: string; readonly foreign: boolean };
  readonly #lines: { line(offset: number): number };
  readonly #seen = new Set<string>();

  constructor(
    source: { readonly url: string; readonly foreign: boolean },
    lines: { line(offset: number): number },
  ) {
    this.#source = source;
    this.#lines = lines;
  }

  reference(binding: Binding, at: Node, write: boolean, deferred: boolean): void {
    if (!write || !deferred || binding.kind === "const") return;
    const message =
      `"${binding.name}" is declared at the top level and assigned inside a function, so its value would pass from one ` +
      `workflow run to the next. Declare it inside the workflow's function; if it is a constant, assign it where it is declared`;
    // Users of a package cannot fix it.
    this.#add(this.#source.foreign ? this.warnings : this.problems, binding.name, at, message);
  }

  mutation(binding: Binding, at: Node): void {
    this.#warn(binding, at);
  }

  /** `direct`: a method of the value itself, not of something that it contains. */
  methodCall(binding: Binding, method: string, direct: boolean, at: Node): void {
    const { init } = binding;
    const mayChange = isCollection(init) || (!direct && isPlainObject(init));
    if (mayChange && isMutatingMethod(method)) this.#warn(binding, at);
    else if (remembers(init) && (method === "test" || method === "exec")) {
      const message =
        `"${binding.name}" is a regular expression with the flag g or y at the top level: its lastIndex passes from ` +
        `one workflow run to the next. Create it inside the function, or remove the flag`;
      this.#add(this.warnings, binding.name, at, message);
    }
  }

  hidden(found: HiddenState): void {
    this.#add(this.warnings, found.binding, found.at, hiddenState(found));
  }

  #warn(binding: Binding, at: Node): void {
    this.#add(this.warnings, binding.name, at, sharedObject(binding.name));
  }

  #add(list: Problem[], name: string, at: Node, message: string): void {
    const code: ProblemCode = "module-state";
    if (this.#seen.has(name)) return;
    this.#seen.add(name);
    list.push({
      code,
      file: displayName(this.#source.url),
      line: this.#lines.line(at.start),
      column: 0,
      name,
      message,
    });
  }
}

/** Returns the warning about an imported function whose result keeps state. */
export function madeState(name: string): string {
  return `${name}() is called at the top level, and its result keeps state: every workflow run in this process shares it, and a replay ` +
    "elsewhere does not see it. Call it inside the workflow's function";
}

/**
 * Returns the warning about a change of another module's export; undefined if nothing is shared.
 */
export function importedChange(
  compiled: CompiledModule | undefined,
  { name, method, direct }: Pick<ImportedMutation, "name" | "method" | "direct">,
): string | undefined {
  if (method !== undefined && compiled?.stateful?.get(name)?.methods.includes(method) === true) {
    return hiddenState({ binding: name, kind: "object" });
  }
  const mayChange = compiled?.collections.includes(name) === true ||
    (direct !== true && compiled?.plainObjects.includes(name) === true);
  const shared = method === undefined ? name !== "*" : mayChange && isMutatingMethod(method);
  return shared ? sharedObject(name) : undefined;
}

/** Returns the warning about state that no assignment to a top-level name shows. */
export function hiddenState({ binding, kind }: Pick<HiddenState, "binding" | "kind">): string {
  const what = kind === "closure"
    ? "is a variable of a function that is called at the top level, and a function inside it changes it"
    : kind === "iterator"
    ? "is an iterator at the top level, which remembers its position"
    : "is an object at the top level, and its methods change it";
  return `"${binding}" ${what}: every workflow run in this process shares it, and a replay elsewhere does not see it. ` +
    "Create it inside the workflow's function";
}

/** Returns the warning about a shared object. */
export function sharedObject(name: string): string {
  return `"${name}" is an object at the top level that is changed inside a function: every workflow run in this process shares it, and a ` +
    `replay elsewhere does not see it. Create it inside the workflow's function, unless it is only filled with constants`;
}
