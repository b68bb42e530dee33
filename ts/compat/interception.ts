// Calls interceptors: the chain is built for each call, the first interceptor outermost, without
// additional ticks. `next` continues with the random stream at the time of the call (an
// interceptor's stream must not reach the workflow) and in the cancellation scope of its caller.
import {
  type OptionNames,
  rejectMisspelledMethods,
  rejectMisspelledOptions,
} from "../base/option_names.ts";
import type { ScopeContext, ScopeFrame } from "./context.ts";
import type {
  Headers,
  WorkflowInboundCallsInterceptor,
  WorkflowInternalsInterceptor,
  WorkflowOutboundCallsInterceptor,
} from "./workflow/interceptors.ts";

interface Kinds {
  inbound: WorkflowInboundCallsInterceptor;
  outbound: WorkflowOutboundCallsInterceptor;
  internals: WorkflowInternalsInterceptor;
}

const METHODS: { readonly [K in keyof Kinds]: OptionNames<Kinds[K]> } = {
  inbound: { execute: 1, handleUpdate: 1, validateUpdate: 1, handleSignal: 1, handleQuery: 1 },
  outbound: {
    ...{
      startTimer: 1,
      scheduleActivity: 1,
      scheduleLocalActivity: 1,
      startNexusOperation: 1,
      startChildWorkflowExecution: 1,
    },
    ...{ signalWorkflow: 1, continueAsNew: 1, getLogAttributes: 1, getMetricTags: 1 },
  },
  internals: { activate: 1, concludeActivation: 1, dispose: 1 },
};

/** The part of a run that interception needs. */
export interface InterceptedRun {
  readonly context: ScopeContext;
  readonly interceptors: Interceptors;
  /** Returns the frame of the running code, with changes. */
  frame(changes: Partial<ScopeFrame>): ScopeFrame;
}

/** An intercepted operation. */
// deno-lint-ignore no-explicit-any
export type Operation = (input: any) => any;

/** Interceptors of one run, in the order of their modules. */
export class Interceptors {
  readonly #lists: { readonly [K in keyof Kinds]: Kinds[K][] } = {
    inbound: [],
    outbound: [],
    internals: [],
  };

  /**
   * Calls the factories exported by modules. Throws a TypeError if `interceptors` is not a
   * function, or a name is misspelled.
   */
  add(modules: readonly { readonly [name: string]: unknown }[]): void {
    for (const module of modules) {
      const factory = "interceptors" in module ? module["interceptors"] : undefined;
      if (factory === undefined) continue;
      if (typeof factory !== "function") {
        throw new TypeError(
          `Failed to initialize workflows interceptors: expected a function, but got: '${
            String(factory)
          }'`,
        );
      }
      const made = factory() as { [K in keyof Kinds]?: Kinds[K][] };
      rejectMisspelledOptions("workflow interceptors", made, METHODS);
      for (const kind of ["inbound", "outbound", "internals"] as const) {
        for (const each of made[kind] ?? []) {
          rejectMisspelledMethods(`${kind} of workflow interceptors`, each, METHODS[kind]);
        }
        this.#lists[kind].push(...made[kind] ?? [] as never[]);
      }
    }
  }

  /** Returns whether any interceptor has the method. */
  has<K extends keyof Kinds>(kind: K, method: keyof Kinds[K]): boolean {
    return this.#lists[kind].some((interceptor) => interceptor?.[method] !== undefined);
  }

  of<K extends keyof Kinds>(kind: K): readonly Kinds[K][] {
    return this.#lists[kind];
  }
}

/** Returns the operation `last` wrapped in the interceptors; the operation itself without any. */
export function callThrough<K extends keyof Kinds, F extends Operation>(
  run: InterceptedRun,
  kind: K,
  method: keyof Kinds[K],
  last: F,
): F {
  const list = run.interceptors.of(kind);
  let next: Operation = last;
  for (let i = list.length - 1; i >= 0; i--) {
    const interceptor = list[i] as {
      readonly [method: PropertyKey]: (input: unknown, next: Operation) => unknown;
    };
    if (interceptor?.[method] === undefined) continue;
    const inner = inRandomStream(run, next);
    next = (input) => interceptor[method]!(input, inner);
  }
  return next as F;
}

/** Returns a function that runs with the current random stream, whatever its caller uses. */
function inRandomStream(run: InterceptedRun, fn: Operation): Operation {
  const random = run.context.current()?.random;
  return (input) => {
    if (run.context.current()?.random === random) return fn(input);
    return run.context.run(run.frame({ random }), () => fn(input));
  };
}

/** Headers for interceptors: payloads with only metadata and data. */
export function toInterceptorHeaders(
  headers: {
    readonly [name: string]: { metadata: { [key: string]: Uint8Array }; data: Uint8Array };
  },
): Headers {
  const entries = Object.entries(headers).map((
    [name, { metadata, data }],
  ) => [name, { metadata, data }]);
  return Object.fromEntries(entries) as Headers;
}
