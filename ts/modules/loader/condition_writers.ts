// Debug sessions only: which handlers of a module can change the result of `condition(predicate)`,
// by the variables that the predicate reads and the handlers write. Every doubt counts as a change
// (imported functions, aliases of objects), so a handler that is left out cannot change it.
import type { AnyNode, CallExpression, Identifier, Program } from "acorn";
import { type Access, EffectsOfModule, type FunctionNode } from "./effects.ts";

/** A handler that can change a predicate. */
export interface HandlerWrite {
  /** The call of `setHandler`. */
  readonly call: CallExpression;
  /** The variables that it writes; empty if that is unknown. */
  readonly variables: readonly string[];
  /** The line of the first write; 0: unknown. */
  readonly line: number;
  /** The handler ends another wait, and the code after that wait writes the variables. */
  readonly isIndirect: boolean;
}

/** What is known of the predicate of a `condition`. */
export interface ConditionReads {
  /** The function whose result decides; the predicate itself, or a function that it only calls. */
  readonly predicate: FunctionNode;
  /** The variables that it reads; undefined if it may read others. */
  readonly variables: readonly string[] | undefined;
  /** The handlers of the module that can change it. */
  readonly handlers: readonly HandlerWrite[];
}

/** `api`: the names that the module imports from the workflow API. */
export function readConditions(
  program: Program,
  api: ReadonlySet<Identifier>,
): ReadonlyMap<CallExpression, ConditionReads> {
  const module = new EffectsOfModule(program, api);
  const found = new Map<CallExpression, ConditionReads>();
  const waits: Wait[] = [];
  const handlers = module.apiCalls.filter(({ name }) => name === "setHandler").map(({ call }) => {
    const own = module.functionOf(call.arguments[1] as AnyNode | undefined);
    return { call, effects: own && module.effectsOf(own) };
  });
  for (const { name, call, inside } of module.apiCalls) {
    const given = name === "condition" ? call.arguments[0] as AnyNode | undefined : undefined;
    const own = module.functionOf(given);
    if (own === undefined) continue;
    const reads = module.effectsOf(own);
    waits.push({ call, inside, reads: reads.reads });
    found.set(call, {
      predicate: innermost(own, module),
      variables: reads.readsMore ? undefined : namesOf(
        reads.reads.filter(({ root, isConst }) => !(isConst && module.isPrimitive(root))),
      ),
      handlers: handlers.flatMap(({ call, effects }): HandlerWrite[] => {
        const written = (effects?.writes ?? []).flatMap((write) => {
          const read = reads.reads.find((read) => changes(write, read, module));
          return read === undefined ? [] : [{ write, read }];
        });
        const direct = written.filter(({ write, read }) => write.root === read.root);
        const named = direct.length > 0 ? direct : written;
        if (named.length > 0) {
          const variables = namesOf(named.map(({ write, read }) => write.isLocal ? read : write));
          return [{ call, variables, line: named[0]!.write.line, isIndirect: false }];
        }
        const isDoubtful = effects === undefined || effects.writesMore || reads.readsMore;
        return isDoubtful ? [{ call, variables: [], line: 0, isIndirect: false }] : [];
      }),
    });
  }
  return withIndirect(found, waits, module);
}

/** A `condition` with the functions around its call and the variables that its predicate reads. */
interface Wait {
  readonly call: CallExpression;
  readonly inside: readonly FunctionNode[];
  readonly reads: readonly Access[];
}

/** Adds handlers that end a wait of other code, which then writes what a predicate reads. */
function withIndirect(
  found: ReadonlyMap<CallExpression, ConditionReads>,
  waits: readonly Wait[],
  module: EffectsOfModule,
): ReadonlyMap<CallExpression, ConditionReads> {
  const all = new Map(found);
  const links = waits.flatMap((wait) =>
    waits.flatMap((other) => {
      const write = writeAfter(other, wait, module);
      return write === undefined ? [] : [{ wait, other, write }];
    })
  );
  // A wait can depend on another one that depends on a third: repeat until nothing is added.
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    for (const { wait, other, write } of links) {
      const own = all.get(wait.call)!;
      const known = new Set(own.handlers.map(({ call }) => call));
      const added = all.get(other.call)!.handlers.filter(({ call }) => !known.has(call));
      if (added.length === 0) continue;
      isChanged = true;
      const [variables, line] = [namesOf([{ ...write, isLocal: false }]), write.line];
      const indirect = added.map(({ call }) => ({ call, variables, line, isIndirect: true }));
      all.set(wait.call, { ...own, handlers: [...own.handlers, ...indirect] });
    }
  }
  return all;
}

/**
 * Returns a write of code that waits at `other` and runs next to `wait`, to a variable that the
 * predicate of `wait` reads. Code that contains or calls `wait` is at that wait itself.
 */
function writeAfter(other: Wait, wait: Wait, module: EffectsOfModule): Access | undefined {
  const own = other.inside.at(-1);
  const at = wait.inside.at(-1);
  if (own === undefined || other.call === wait.call) return undefined;
  for (const each of module.functions()) {
    if (wait.inside.includes(each)) continue;
    const called = module.calledBy(each);
    if (!called.has(own) || (at !== undefined && called.has(at))) continue;
    const write = module.effectsOf(each).writes.find((write) =>
      wait.reads.some((read) => changes(write, read, module))
    );
    if (write !== undefined) return write;
  }
  return undefined;
}

/** Follows `() => isReady()` to the function that it calls. */
function innermost(own: FunctionNode, module: EffectsOfModule): FunctionNode {
  const seen = new Set<FunctionNode>();
  let at = own;
  while (!seen.has(at)) {
    seen.add(at);
    const result = returnedExpression(at);
    if (result?.type !== "CallExpression" || result.arguments.length > 0) break;
    const called = module.functionOf(result.callee as AnyNode);
    if (called === undefined || returnedExpression(called) === undefined) break;
    at = called;
  }
  return at;
}

/** Returns the expression of the only `return` of a function, at its end. */
export function returnedExpression({ body, async, generator }: FunctionNode): AnyNode | undefined {
  if (async || generator) return undefined;
  if (body.type !== "BlockStatement") return body as AnyNode;
  const last = body.body.at(-1);
  const others = body.body.slice(0, -1);
  if (last?.type !== "ReturnStatement") return undefined;
  const isPlain = others.every(({ type }) => type === "VariableDeclaration");
  return isPlain ? last.argument as AnyNode | null ?? undefined : undefined;
}

const namesOf = (all: readonly Access[]): string[] => [
  ...new Set(
    all.filter(({ isLocal }) => !isLocal).map(({ name, property }) =>
      property === undefined ? name : `${name}.${property}`
    ),
  ),
];

function changes(write: Access, read: Access, module: EffectsOfModule): boolean {
  if (write.isAssigned) return write.root === read.root;
  if (module.isPrimitive(read.root) || !module.isAlias(write.root, read.root)) return false;
  return write.root !== read.root || module.hasAliases(read.root) ||
    write.property === undefined || read.property === undefined ||
    write.property === read.property;
}
