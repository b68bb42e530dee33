// Checks one module of a `@temporalio/workflow` program. There, clock and random numbers are
// deterministic, timers of the runtime are durable, and modules are evaluated for each run, so
// fewer rules apply. Calls are identified by the import of their name.
import type { AnyNode, CallExpression, Identifier, Node, Program } from "acorn";
import { findAlternative } from "../../compat/sandbox/globals.ts";
import { BLOCKED } from "../guarded_names.ts";
import { children, patternNames, walkModule } from "../loader/scope.ts";
import { isRunGlobal } from "../loader/run_globals.ts";
import { APPROXIMATED_MATH } from "./globals.ts";
import type { RawFinding } from "./module_lint.ts";
import type { RuleId } from "./rules.ts";
import { isEndless, isFunctionNode, isLoop, leaves, property, propertyKey } from "./shapes.ts";

const WORKFLOW = /^(?:@temporalio\/workflow|temporalex\/compat\/workflow)(?:\/|$)/;
/** Functions whose promise must be awaited. */
const WAITING = new Set(["sleep", "condition", "executeChild", "startChild"]);
/** Functions that return tables of functions whose promise should be awaited. */
const PROXIES = new Set(["proxyActivities", "proxyLocalActivities"]);

export class TemporalLint {
  readonly findings: RawFinding[] = [];
  readonly #program: Program;
  readonly #text: string;
  /** Local names of imports from `@temporalio/workflow`; "*" for its namespace. */
  readonly #names = new Map<string, string>();
  /**
   * Local names of activity tables, activities, functions of makeContinueAsNewFunc(), queries and
   * updates.
   */
  readonly #tables = new Set<string>();
  readonly #activities = new Set<string>();
  readonly #continues = new Set<string>();
  readonly #messages = new Map<string, "query" | "update">();
  readonly #patches = new Map<string, string>();
  readonly #waits: Node[] = [];

  constructor(program: Program, text: string) {
    this.#program = program;
    this.#text = text;
  }

  run(): void {
    for (const statement of this.#program.body) {
      if (statement.type === "ImportDeclaration") this.#import(statement);
    }
    this.#declarations(this.#program as AnyNode);
    walkModule(this.#program, {
      reference: (node, binding, _write, _deferred, parents) => {
        if (binding === undefined) this.#global(node, parents);
      },
    });
    this.#walk(this.#program as AnyNode, []);
    this.#loops(this.#program as AnyNode, []);
  }

  #add(rule: RuleId, at: Node, name: string, message: string): void {
    this.findings.push({ rule, at: at.start, name, message });
  }

  #import(node: Extract<AnyNode, { type: "ImportDeclaration" }>): void {
    if (!WORKFLOW.test(String(node.source.value))) return;
    for (const s of node.specifiers) {
      const name = s.type === "ImportSpecifier" && s.imported.type === "Identifier"
        ? s.imported.name
        : "*";
      this.#names.set(s.local.name, name);
    }
  }

  /** Returns the name in `@temporalio/workflow` that a callee means. */
  #called(callee: AnyNode): string | undefined {
    if (callee.type === "Identifier") {
      const name = this.#names.get(callee.name);
      return name === "*" ? undefined : name;
    }
    if (
      callee.type !== "MemberExpression" || callee.computed || callee.object.type !== "Identifier"
    ) return undefined;
    return this.#names.get(callee.object.name) === "*" && callee.property.type === "Identifier"
      ? callee.property.name
      : undefined;
  }

  #declarations(node: AnyNode): void {
    if (node.type === "VariableDeclarator" && node.init?.type === "CallExpression") {
      const made = this.#called(node.init.callee as AnyNode) ?? "";
      const single = node.id.type === "Identifier" ? node.id.name : undefined;
      if (PROXIES.has(made)) {
        if (single !== undefined) this.#tables.add(single);
        else for (const { name } of patternNames(node.id)) this.#activities.add(name);
      } else if (made === "makeContinueAsNewFunc" && single !== undefined) {
        this.#continues.add(single);
      } else if (made === "defineQuery" && single !== undefined) {
        this.#messages.set(single, "query");
      } else if (made === "defineUpdate" && single !== undefined) {
        this.#messages.set(single, "update");
      }
    }
    for (const child of children(node)) this.#declarations(child);
  }

  #walk(node: AnyNode, parents: AnyNode[]): void {
    parents.push(node);
    if (node.type === "CallExpression") this.#call(node, parents.slice(0, -1));
    for (const child of children(node)) this.#walk(child, parents);
    parents.pop();
  }

  #call(call: CallExpression, outer: readonly AnyNode[]): void {
    const callee = call.callee as AnyNode;
    const name = this.#called(callee);
    const dropped = outer.at(-1)?.type === "ExpressionStatement";
    if (
      name === "continueAsNew" || (callee.type === "Identifier" && this.#continues.has(callee.name))
    ) {
      const shown = name ?? (callee as Identifier).name;
      const parent = outer.at(-1);
      if (dropped || (parent?.type === "UnaryExpression" && parent.operator === "void")) {
        this.#add(
          "unreturned-continue-as-new",
          call,
          shown,
          `${shown}() is called but neither awaited nor returned`,
        );
      }
      return;
    }
    if (name !== undefined && WAITING.has(name)) this.#wait(name, call, dropped);
    else if (callee.type === "Identifier" && this.#activities.has(callee.name)) {
      this.#wait(callee.name, call, dropped);
    } else if (
      callee.type === "MemberExpression" && callee.object.type === "Identifier" &&
      this.#tables.has(callee.object.name) &&
      callee.property.type === "Identifier" && !callee.computed &&
      callee.property.name !== "executeWithOptions"
    ) this.#wait(`${callee.object.name}.${callee.property.name}`, call, dropped);
    else if (name === "setHandler") this.#handler(call);
    else if (name === "patched" || name === "deprecatePatch") this.#patch(name, call);
  }

  #wait(name: string, call: CallExpression, dropped: boolean): void {
    this.#waits.push(call);
    if (dropped) this.#add("floating-promise", call, name, `${name}() is started but not awaited`);
  }

  #handler(call: CallExpression): void {
    const [definition, handler, options] = call.arguments as AnyNode[];
    const kind = definition?.type === "Identifier"
      ? this.#messages.get(definition.name)
      : definition?.type === "CallExpression" &&
          this.#called(definition.callee as AnyNode) === "defineQuery"
      ? "query"
      : undefined;
    if (kind === "query" && isFunctionNode(handler) && handler.async) {
      this.#add("async-query", handler, "setHandler", "this query handler is async");
    }
    const validator = property(options, "validator");
    if (isFunctionNode(validator) && validator.async) {
      this.#add("async-validator", validator, "validator", "this validator is async");
    }
  }

  #patch(name: string, call: CallExpression): void {
    const [id] = call.arguments;
    if (id?.type !== "Literal" || typeof id.value !== "string") return;
    const before = this.#patches.get(id.value);
    if (before === undefined) this.#patches.set(id.value, name);
    else if (before !== name) {
      this.#add(
        "patch-twice",
        call,
        id.value,
        `"${id.value}" is passed to ${before}() and to ${name}()`,
      );
    }
  }

  #global(node: Identifier, parents: readonly AnyNode[]): void {
    const { name } = node;
    const parent = parents.at(-1);
    const called = (parent?.type === "CallExpression" || parent?.type === "NewExpression") &&
      parent.callee === node;
    const member =
      parent?.type === "MemberExpression" && parent.object === node && !parent.computed &&
        parent.property.type === "Identifier"
        ? parent.property.name
        : undefined;
    if (name === "Math" && member !== undefined && APPROXIMATED_MATH.has(member)) {
      const grand = parents.at(-2);
      if (grand?.type === "CallExpression" && grand.callee === parent) {
        this.#add(
          "engine-math",
          node,
          `Math.${member}`,
          `Math.${member}() has different last digits in different engines`,
        );
      }
      return;
    }
    if (name === "WeakRef" || name === "FinalizationRegistry") {
      const what = "when it acts depends on the garbage collector";
      if (called) {
        this.#add("outside", node, name, `${name} cannot be used in workflow code: ${what}`);
      }
      return;
    }
    const advice = findAlternative(name) ?? BLOCKED.get(name)?.advice;
    if (advice === undefined || isRunGlobal(name) || (!called && member === undefined)) return;
    // Code that tests with `typeof` works without it; NODE_ENV is a constant.
    if (
      new RegExp(`\\btypeof\\s+${name}\\b`).test(this.#text) || isNodeEnv(name, member, parents)
    ) return;
    const path = member === undefined ? `${name}()` : `${name}.${member}`;
    this.#add(
      "outside",
      node,
      path,
      `workflow code cannot use ${path}: ${findAlternative(name) ?? "do it in an activity"}`,
    );
  }

  #loops(node: AnyNode, parents: AnyNode[]): void {
    parents.push(node);
    if (node.type === "TryStatement") this.#try(node, parents);
    for (const child of children(node)) this.#loops(child, parents);
    parents.pop();
  }

  #try(node: Extract<AnyNode, { type: "TryStatement" }>, parents: readonly AnyNode[]): void {
    const { block, handler, finalizer } = node;
    if (!handler || !this.#waits.some(({ start }) => start >= block.start && start < block.end)) {
      return;
    }
    const inner = parents.slice(parents.findLastIndex((parent) => isFunctionNode(parent)) + 1, -1);
    const loop = inner.findLast(isLoop);
    if (loop === undefined || !isEndless(loop) || leaves(handler.body as AnyNode)) return;
    if ((finalizer && leaves(finalizer as AnyNode)) || mentionsCancellation(loop)) return;
    const message = "this catch ignores every error, including cancellation of the workflow";
    this.#add("swallowed-cancellation", handler, "catch", message);
  }
}

function isNodeEnv(name: string, member: string | undefined, parents: readonly AnyNode[]): boolean {
  const above = parents.at(-2);
  return name === "process" && member === "env" && above?.type === "MemberExpression" &&
    !above.computed &&
    above.property.type === "Identifier" && above.property.name === "NODE_ENV";
}

/** Whether the code tests for cancellation. */
function mentionsCancellation(node: AnyNode): boolean {
  if (node.type === "Identifier" && /cancel/i.test(node.name)) return true;
  if (node.type === "Literal" && typeof node.value === "string" && /cancel/i.test(node.value)) {
    return true;
  }
  if (node.type === "Property" && /cancel/i.test(propertyKey(node) ?? "")) return true;
  for (const child of children(node)) if (mentionsCancellation(child)) return true;
  return false;
}
