// Checks one module by its syntax tree, with names resolved by scope: a call counts as a call of a
// primitive only if its name is imported from "temporalex/workflow" or made from such an import. A
// user function called `sleep` is not reported.
import type { AnyNode, CallExpression, Identifier, Node, Program } from "acorn";
import { checkGlobal } from "./globals.ts";
import { Receives } from "./receives.ts";
import { type Binding, children, patternNames, walkModule } from "../loader/scope.ts";
import type { RuleId } from "./rules.ts";
import {
  type FunctionNode,
  isDropped,
  isEndless,
  isFunctionNode,
  isLoop,
  isNamedTimer,
  isPromiseMethod,
  leaves,
  property,
  propertyKey,
} from "./shapes.ts";

export interface RawFinding {
  readonly rule: RuleId;
  /** Offset in the parsed text. */
  readonly at: number;
  /** The name or construct that is reported. */
  readonly name: string;
  readonly message: string;
}

/** Messages that a module declares, lists, uses and imports; other modules need this. */
export interface MessageUse {
  /** Messages listed under `messages` of a workflow, with their places. */
  readonly listed: readonly {
    readonly binding: string;
    readonly at: number;
    readonly workflow: string;
  }[];
  /** Local names of the signals and updates that this module declares. */
  readonly declared: ReadonlyMap<string, "signal" | "update">;
  /** Local names that are referred to outside of a list of messages. */
  readonly used: ReadonlySet<string>;
  /** By local name: the module and the name under which that module exports it. */
  readonly imported: ReadonlyMap<string, { readonly specifier: string; readonly name: string }>;
}

const WORKFLOW = /^(?:temporalex|@temporalex\/temporalex)\/workflow$/;
/** Primitives whose promise must be awaited. */
const WAITING = new Set([
  ...["sleep", "waitForSignal", "receive", "select", "parallel", "shield", "updateState"],
  ...["executeChild", "startChild", "spawn"],
]);
/** Primitives that take effect only if run returns their result. */
const CONTINUES = new Set(["continueAsNew", "continueAsNewWith"]);
/** Primitives that need a running workflow. */
const NEEDS_RUN = new Set([
  ...WAITING,
  ...["upsertSearchAttributes", "upsertMemo"],
  ...[
    "publishState",
    "sideEffect",
    "patched",
    "deprecatePatch",
    "cancelled",
    "workflowInfo",
    "now",
    "random",
    "uuid4",
  ],
]);

export class ModuleLint {
  readonly findings: RawFinding[] = [];
  readonly #program: Program;
  /** Local names of imports from "temporalex/workflow"; "*" for its namespace. */
  readonly #primitives = new Map<string, string>();
  readonly #imported = new Map<string, { specifier: string; name: string }>();
  /** Identifiers that hold the result of `activities(...)`, or a function from it. */
  readonly #tables = new Set<Node>();
  readonly #activityFunctions = new Set<Node>();
  readonly #patches = new Map<
    string,
    { readonly call: "patched" | "deprecatePatch"; readonly at: number }
  >();
  readonly #declared = new Map<string, "signal" | "update">();
  readonly #used = new Set<string>();
  readonly #listed: { binding: string; at: number; workflow: string }[] = [];
  readonly #receives = new Receives((node) => this.#calleeName(node));
  /** Calls that wait, by position: what a try block awaits. */
  readonly #waits: { readonly start: number }[] = [];

  constructor(program: Program) {
    this.#program = program;
  }

  /** Whether the module uses this package's workflow API. */
  get usesModel(): boolean {
    return this.#primitives.size > 0;
  }

  run(): MessageUse {
    for (const statement of this.#program.body) {
      if (statement.type === "ImportDeclaration") this.#import(statement);
    }
    this.#declarations(this.#program as AnyNode);
    walkModule(this.#program, {
      reference: (node, binding, _write, deferred, parents) =>
        this.#reference(node, binding, deferred, parents),
    });
    this.#shapes(this.#program as AnyNode, []);
    for (const { rule, at, message } of this.#receives.findings()) {
      this.#add(rule, at, "receive", message);
    }
    return {
      listed: this.#listed,
      declared: this.#declared,
      used: this.#used,
      imported: this.#imported,
    };
  }

  #add(rule: RuleId, at: Node, name: string, message: string): void {
    if (!this.findings.some((f) => f.rule === rule && f.at === at.start)) {
      this.findings.push({ rule, at: at.start, name, message });
    }
  }

  #import(node: Extract<AnyNode, { type: "ImportDeclaration" }>): void {
    const specifier = String(node.source.value);
    for (const s of node.specifiers) {
      const imported = s.type === "ImportSpecifier"
        ? (s.imported.type === "Identifier" ? s.imported.name : String(s.imported.value))
        : s.type === "ImportDefaultSpecifier"
        ? "default"
        : "*";
      this.#imported.set(s.local.name, { specifier, name: imported });
      if (WORKFLOW.test(specifier)) this.#primitives.set(s.local.name, imported);
    }
  }

  /** Returns the name in "temporalex/workflow" that a callee means, by its text. */
  #calleeName(callee: AnyNode): string | undefined {
    if (callee.type === "Identifier") {
      const name = this.#primitives.get(callee.name);
      return name === "*" ? undefined : name;
    }
    if (
      callee.type !== "MemberExpression" || callee.computed || callee.object.type !== "Identifier"
    ) return undefined;
    return this.#primitives.get(callee.object.name) === "*" && callee.property.type === "Identifier"
      ? callee.property.name
      : undefined;
  }

  /** Records results of `activities(...)`, `nexus(...)`, `signal(...)` and `update(...)`. */
  #declarations(node: AnyNode): void {
    if (node.type === "VariableDeclarator" && node.init?.type === "CallExpression") {
      const made = this.#calleeName(node.init.callee as AnyNode);
      if (made === "activities" || made === "nexus") {
        const into = node.id.type === "Identifier" ? this.#tables : this.#activityFunctions;
        for (const id of patternNames(node.id)) into.add(id);
      } else if ((made === "signal" || made === "update") && node.id.type === "Identifier") {
        this.#declared.set(node.id.name, made);
      }
    }
    for (const child of children(node)) this.#declarations(child);
  }

  // ------------------------------------------------------------------------- calls of names

  #reference(
    node: Identifier,
    binding: Binding | undefined,
    deferred: boolean,
    parents: readonly AnyNode[],
  ): void {
    if (binding === undefined) return this.#global(node, deferred, parents);
    if (binding.top) this.#noteUse(node, parents);
    const parent = parents.at(-1);
    const member = parent?.type === "MemberExpression" && parent.object === node
      ? parent
      : undefined;
    const called = (member === undefined ? parent : parents.at(-2)) as AnyNode | undefined;
    const callee: Node = member ?? node;
    if (called?.type !== "CallExpression" || called.callee !== callee) return;
    const outer = parents.slice(0, member === undefined ? -1 : -2);
    const key = member !== undefined && !member.computed && member.property.type === "Identifier"
      ? member.property.name
      : undefined;
    if (binding.kind === "import") {
      const imported = this.#primitives.get(binding.name);
      if (imported === undefined) return;
      // `namespace.sleep()`. Methods of a named import (log.info) are not primitives that wait.
      const primitive = imported === "*" ? key : member === undefined ? imported : undefined;
      if (primitive !== undefined) this.#primitive(primitive, called, deferred, outer);
    } else if (this.#tables.has(binding.node) && key !== undefined) {
      this.#activity(`${binding.name}.${key}`, called, deferred, outer);
    } else if (this.#activityFunctions.has(binding.node) && member === undefined) {
      this.#activity(binding.name, called, deferred, outer);
    }
  }

  #activity(
    name: string,
    call: CallExpression,
    deferred: boolean,
    outer: readonly AnyNode[],
  ): void {
    this.#waits.push(call);
    if (!deferred) {
      return this.#add(
        "primitive-while-loading",
        call,
        name,
        `${name}() is called at the top level of the module, outside of a workflow run`,
      );
    }
    this.#where(name, call, outer);
    this.#floating(name, call, outer);
  }

  #primitive(
    name: string,
    call: CallExpression,
    deferred: boolean,
    outer: readonly AnyNode[],
  ): void {
    const named = name === "timer" && isNamedTimer(call);
    const waits = WAITING.has(name) || named;
    const needsRun = NEEDS_RUN.has(name) || named;
    if (waits) this.#waits.push(call);
    if (!deferred) {
      if (needsRun) {
        this.#add(
          "primitive-while-loading",
          call,
          name,
          `${name}() is called at the top level of the module, outside of a workflow run`,
        );
      }
      return;
    }
    if (needsRun) this.#where(name, call, outer);
    if (waits) this.#floating(name, call, outer);
    if (name === "receive") {
      this.#inConstruct("receive-where-forbidden", name, call, outer);
      this.#receives.add(call, outer);
    }
    if (CONTINUES.has(name)) {
      this.#inConstruct("continue-as-new-where-forbidden", name, call, outer);
      this.#receives.continues(outer);
      if (isDropped(outer)) {
        this.#add("unreturned-continue-as-new", call, name, `${name}() is called but not returned`);
      }
    }
    if (name === "patched" || name === "deprecatePatch") this.#patch(name, call);
  }

  #floating(name: string, call: CallExpression, outer: readonly AnyNode[]): void {
    let parent = outer.at(-1);
    if (parent?.type === "UnaryExpression" && parent.operator === "void") parent = outer.at(-2);
    if (parent?.type !== "ExpressionStatement") return;
    this.#add("floating-promise", call, name, `${name}() is started but not awaited`);
  }

  #patch(call: "patched" | "deprecatePatch", at: CallExpression): void {
    const [id] = at.arguments;
    if (id?.type !== "Literal" || typeof id.value !== "string") return;
    const before = this.#patches.get(id.value);
    if (before === undefined) this.#patches.set(id.value, { call, at: at.start });
    else if (before.call !== call) {
      this.#add(
        "patch-twice",
        at,
        id.value,
        `"${id.value}" is passed to ${before.call}() and to ${call}()`,
      );
    }
  }

  /** Reports primitives in functions that forbid them: validators, query handlers, side effects. */
  #where(name: string, at: Node, outer: readonly AnyNode[]): void {
    for (let i = outer.length - 1; i > 0; i--) {
      if (!isFunctionNode(outer[i])) continue;
      const place = this.#placeOf(outer, i);
      if (place === undefined) continue;
      return this.#add("blocking-where-forbidden", at, name, `${name}() is called in ${place}`);
    }
  }

  /** Returns what the function at `outer[i]` is for, if primitives are forbidden in it. */
  #placeOf(outer: readonly AnyNode[], i: number): string | undefined {
    const fn = outer[i]!;
    const parent = outer[i - 1]!;
    if (
      parent.type === "CallExpression" &&
      this.#calleeName(parent.callee as AnyNode) === "sideEffect"
    ) {
      return "the function of sideEffect()";
    }
    if (parent.type !== "Property" || parent.value !== (fn as unknown)) return undefined;
    const key = propertyKey(parent);
    const object = outer[i - 2];
    const above = outer[i - 3];
    if (object?.type !== "ObjectExpression" || above === undefined) return undefined;
    if (
      key === "validate" && above.type === "CallExpression" &&
      this.#calleeName(above.callee as AnyNode) === "on"
    ) {
      return "the validator of an update";
    }
    if (above.type !== "Property" || propertyKey(above) !== "queries") return undefined;
    const definition = outer[i - 5];
    return definition?.type === "CallExpression" &&
        this.#calleeName(definition.callee as AnyNode) === "workflow"
      ? `the handler of query "${key}"`
      : undefined;
  }

  /**
   * Reports calls that belong in run. A separate function may be called from anywhere, so only code
   * directly in the construct is checked.
   */
  #inConstruct(
    rule: RuleId,
    called: string,
    call: CallExpression,
    outer: readonly AnyNode[],
  ): void {
    let inFunction = false;
    for (let i = outer.length - 1; i >= 0; i--) {
      const node = outer[i]!;
      if (isFunctionNode(node)) inFunction = true;
      if (node.type !== "CallExpression" || !inFunction) continue;
      const name = this.#calleeName(node.callee as AnyNode);
      // The body of an arm runs where its select is; a function as its source is a scope of its
      // own.
      const arm = name === "on" && this.#isArm(outer, i);
      if (arm && outer[i + 1] !== (node.arguments[0] as unknown)) continue;
      const where = arm
        ? "a function of a select"
        : name === "on"
        ? "a message handler"
        : name === "parallel"
        ? "a branch of parallel()"
        : name === "spawnAsync"
        ? "an async handler"
        : undefined;
      if (where !== undefined) {
        return this.#add(rule, call, called, `${called}() is called in ${where}`);
      }
      if (name === "workflow") return;
    }
  }

  /** Whether the call at `outer[i]` is in the list of a select. */
  #isArm(outer: readonly AnyNode[], i: number): boolean {
    const above = outer[i - 2];
    return outer[i - 1]?.type === "ArrayExpression" && above?.type === "CallExpression" &&
      this.#calleeName(above.callee as AnyNode) === "select";
  }

  // -------------------------------------------------------------------------------- globals

  #global(node: Identifier, deferred: boolean, parents: readonly AnyNode[]): void {
    if (this.#inSideEffect(parents)) return;
    for (const { rule, name, message } of checkGlobal(node, deferred, parents)) {
      this.#add(rule, node, name, message);
    }
  }

  #inSideEffect(parents: readonly AnyNode[]): boolean {
    return parents.some((node, i) =>
      isFunctionNode(node) && i > 0 && parents[i - 1]!.type === "CallExpression" &&
      this.#calleeName((parents[i - 1] as CallExpression).callee as AnyNode) === "sideEffect"
    );
  }

  // --------------------------------------------------------------------------------- shapes

  #shapes(node: AnyNode, parents: AnyNode[]): void {
    parents.push(node);
    switch (node.type) {
      case "CallExpression":
        this.#call(node);
        break;
      case "Identifier":
        this.#receives.mentions(node.name);
        break;
      case "AwaitExpression":
        this.#await(node, parents);
        break;
      case "TryStatement":
        this.#try(node, parents);
        break;
    }
    for (const child of children(node)) this.#shapes(child, parents);
    parents.pop();
  }

  #call(node: CallExpression): void {
    const name = this.#calleeName(node.callee as AnyNode);
    if (name === "on") {
      const validate = property(node.arguments[2] as AnyNode | undefined, "validate");
      if (isFunctionNode(validate) && validate.async) {
        this.#add("async-validator", validate, "validate", "this validator is async");
      }
    } else if (name === "workflow") this.#definition(node);
    else if (name === "select") this.#arms(node);
    else if (name === "sideEffect") {
      const fn = node.arguments[0] as AnyNode | undefined;
      if (isFunctionNode(fn) && fn.async) {
        this.#add("async-side-effect", fn, "sideEffect", "this function of sideEffect() is async");
      }
    } else if (isPromiseMethod(node.callee as AnyNode)) this.#race(node);
  }

  #race(node: CallExpression): void {
    const [list] = node.arguments;
    if (list?.type !== "ArrayExpression") return;
    const raced = list.elements.some((element) =>
      element !== null && this.#waits.some((wait) => wait.start === element.start)
    );
    const { name } =
      ((node.callee as Extract<AnyNode, { type: "MemberExpression" }>).property) as Identifier;
    if (raced) {
      this.#add(
        "promise-race",
        node,
        `Promise.${name}`,
        `the losers of Promise.${name}() continue until their scope ends`,
      );
    }
  }

  /** Reports `on(sleep("1h"), ...)`: the select does not cancel what is already started. */
  #arms(node: CallExpression): void {
    const [list] = node.arguments;
    if (list?.type !== "ArrayExpression") return;
    for (const arm of list.elements) {
      if (arm?.type !== "CallExpression" || this.#calleeName(arm.callee as AnyNode) !== "on") {
        continue;
      }
      const [source] = arm.arguments;
      if (source === undefined || !this.#waits.some(({ start }) => start === source.start)) {
        continue;
      }
      this.#add(
        "eager-arm",
        source,
        "on",
        "this operation has already started and continues if another arm of the select wins",
      );
    }
  }

  #definition(node: CallExpression): void {
    const definition = node.arguments[1] as AnyNode | undefined;
    const title = node.arguments[0]?.type === "Literal" ? String(node.arguments[0].value) : "";
    const queries = property(definition, "queries");
    if (queries?.type === "ObjectExpression") {
      for (const p of queries.properties) {
        if (
          p.type !== "Property" || !isFunctionNode(p.value as AnyNode) ||
          !(p.value as FunctionNode).async
        ) continue;
        this.#add(
          "async-query",
          p,
          propertyKey(p) ?? "",
          `the handler of query "${propertyKey(p) ?? "?"}" is async`,
        );
      }
    }
    const messages = property(definition, "messages");
    if (messages?.type !== "ObjectExpression") return;
    for (const p of messages.properties) {
      if (p.type === "Property" && p.value.type === "Identifier") {
        this.#listed.push({ binding: p.value.name, at: p.start, workflow: title });
      }
    }
  }

  /**
   * Records that a top-level name is used other than by listing it as a message or exporting it.
   */
  #noteUse(node: Identifier, parents: readonly AnyNode[]): void {
    const parent = parents.at(-1);
    if (parent?.type === "ExportSpecifier") return;
    if (parent?.type === "Property" && parent.value === (node as unknown)) {
      const above = parents.at(-3);
      if (
        parents.at(-2)?.type === "ObjectExpression" && above?.type === "Property" &&
        propertyKey(above) === "messages"
      ) return;
    }
    this.#used.add(node.name);
  }

  #await(node: Extract<AnyNode, { type: "AwaitExpression" }>, parents: readonly AnyNode[]): void {
    const { argument } = node;
    if (
      !this.usesModel || argument.type !== "NewExpression" || argument.callee.type !== "Identifier"
    ) return;
    if (
      argument.callee.name !== "Promise" ||
      parents.some((parent) => isFunctionNode(parent) && this.#declares(parent, "Promise"))
    ) {
      return;
    }
    this.#add(
      "foreign-await",
      node,
      "Promise",
      "this promise is not durable: nothing can settle it on replay",
    );
  }

  #declares(fn: FunctionNode, name: string): boolean {
    return fn.params.some((param) => [...patternNames(param)].some((id) => id.name === name));
  }

  #try(node: Extract<AnyNode, { type: "TryStatement" }>, parents: readonly AnyNode[]): void {
    if (
      !node.handler ||
      !this.#waits.some(({ start }) => start >= node.block.start && start < node.block.end)
    ) return;
    // The innermost loop of the same function, unless a statement between the two leaves it.
    let loop: AnyNode | undefined;
    for (let i = parents.length - 2; i >= 0; i--) {
      const parent = parents[i]!;
      if (isFunctionNode(parent)) break;
      if (isLoop(parent)) {
        loop = parent;
        break;
      }
    }
    if (loop === undefined || !isEndless(loop)) return;
    if (
      leaves(node.handler.body as AnyNode) || (node.finalizer && leaves(node.finalizer as AnyNode))
    ) return;
    // The handler inspects the error or tests for cancellation.
    if (this.#thinksOfCancellation(loop)) return;
    this.#add(
      "swallowed-cancellation",
      node.handler,
      "catch",
      "this catch ignores every error, including cancellation of the workflow",
    );
  }

  #thinksOfCancellation(node: AnyNode): boolean {
    if (
      node.type === "Identifier" && /cancel/i.test(this.#primitives.get(node.name) ?? node.name)
    ) return true;
    if (node.type === "Literal" && typeof node.value === "string" && /cancel/i.test(node.value)) {
      return true;
    }
    for (const child of children(node)) if (this.#thinksOfCancellation(child)) return true;
    return false;
  }
}
