// Checks how the receives of a module end, and where their state goes. Only code within one
// function is considered: a receive whose handlers are in its call, and a continue-as-new in the
// same function.
import type { AnyNode, CallExpression, Node } from "acorn";
import { children } from "../loader/scope.ts";
import type { RuleId } from "./rules.ts";

interface Found {
  readonly call: CallExpression;
  /** The function that contains it. */
  readonly fn: AnyNode | undefined;
  /** Its result is discarded. */
  readonly dropped: boolean;
}

/** Code that reads one of these considers the length of the history. */
const LENGTHS = new Set(["continueAsNewSuggested", "historyLength", "historySizeBytes"]);

const GOES_ON = new Set(["noreply", "reply", "spawnAsync"]);

const isFunction = (node: AnyNode): boolean =>
  /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type);

export class Receives {
  readonly #calleeName: (callee: AnyNode) => string | undefined;
  readonly #found: Found[] = [];
  /** Functions that continue as new. */
  readonly #continuing = new Set<AnyNode | undefined>();
  #looks = false;

  /** `calleeName`: the name in "temporalex/workflow" that a callee means. */
  constructor(calleeName: (callee: AnyNode) => string | undefined) {
    this.#calleeName = calleeName;
  }

  add(call: CallExpression, outer: readonly AnyNode[]): void {
    const parent = outer.at(-1);
    const statement = parent?.type === "AwaitExpression" ? outer.at(-2) : undefined;
    this.#found.push({
      call,
      fn: outer.findLast(isFunction),
      dropped: statement?.type === "ExpressionStatement",
    });
  }

  continues(outer: readonly AnyNode[]): void {
    this.#continuing.add(outer.findLast(isFunction));
  }

  mentions(name: string): void {
    this.#looks ||= LENGTHS.has(name);
  }

  /** Returns the findings, after the module has been walked. */
  *findings(): Iterable<{ rule: RuleId; at: Node; message: string }> {
    for (const { call, fn, dropped } of this.#found) {
      const [state, handlers, options] = call.arguments as (AnyNode | undefined)[];
      const continuing = this.#continuing.has(fn);
      if (continuing && dropped && !isNothing(state)) {
        yield {
          rule: "discarded-state",
          at: call,
          message: "the state of this receive() is dropped, and the workflow continues as new",
        };
      }
      const ends = endsOf(options);
      if (ends === "unknown" || ends.has("until") || this.#looks) continue;
      if (continuing) {
        yield {
          rule: "unbounded-history",
          at: call,
          message:
            "the workflow continues as new after this receive(), but never checks whether the server suggests it",
        };
      } else if (!ends.has("timeout") && this.#nothingStops(handlers)) {
        yield {
          rule: "unbounded-history",
          at: call,
          message: "nothing ends this receive(): no handler stops it, and it has no timeout",
        };
      }
    }
  }

  /** Whether all handlers are written in the call and no result of a handler stops the receive. */
  #nothingStops(handlers: AnyNode | undefined): boolean {
    if (handlers?.type !== "ArrayExpression" || handlers.elements.length === 0) return false;
    return handlers.elements.every((element) => {
      if (
        element?.type !== "CallExpression" || this.#calleeName(element.callee as AnyNode) !== "on"
      ) return false;
      const fn = element.arguments[1] as AnyNode | undefined;
      if (fn === undefined || !isFunction(fn)) return false;
      const { body } = fn as Extract<AnyNode, { type: "ArrowFunctionExpression" }>;
      return body.type === "BlockStatement"
        ? this.#returnsGoOn(body)
        : this.#goesOn(body as AnyNode);
    });
  }

  #returnsGoOn(node: AnyNode): boolean {
    if (isFunction(node)) return true; // returns of a nested function are its own
    if (node.type === "ReturnStatement") {
      return node.argument == null || this.#goesOn(node.argument as AnyNode);
    }
    for (const child of children(node)) if (!this.#returnsGoOn(child)) return false;
    return true;
  }

  /**
   * Whether a handler's result lets the receive continue. The result of another function may be a
   * stop.
   */
  #goesOn(node: AnyNode): boolean {
    if (node.type === "ConditionalExpression") {
      return this.#goesOn(node.consequent as AnyNode) && this.#goesOn(node.alternate as AnyNode);
    }
    return node.type === "CallExpression" &&
      GOES_ON.has(this.#calleeName(node.callee as AnyNode) ?? "");
  }
}

const isNothing = (node: AnyNode | undefined): boolean =>
  node === undefined || (node.type === "Identifier" && node.name === "undefined") ||
  (node.type === "Literal" && node.value === null);

/** Returns the names of the options; "unknown" if they are not written in the call. */
function endsOf(options: AnyNode | undefined): Set<string> | "unknown" {
  if (options === undefined) return new Set();
  if (options.type !== "ObjectExpression") return "unknown";
  const names = new Set<string>();
  for (const p of options.properties) {
    if (p.type !== "Property" || p.computed || p.key.type !== "Identifier") return "unknown";
    names.add(p.key.name);
  }
  return names;
}
