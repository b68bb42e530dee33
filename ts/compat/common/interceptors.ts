// Composition of interceptors in the official packages.
import type { Payload } from "./payload_converters.ts";

// deno-lint-ignore no-explicit-any
type AnyFunc = (...args: any[]) => any;
// deno-lint-ignore no-explicit-any
type OmitLast<T> = T extends [...infer REST, any] ? REST : never;

/** `next` of an interceptor's method: the method without its last parameter. */
export type Next<IF, FN extends keyof IF> = Required<IF>[FN] extends AnyFunc
  ? (...args: OmitLast<Parameters<Required<IF>[FN]>>) => ReturnType<Required<IF>[FN]>
  : never;

/** Headers by name. */
export type Headers = Record<string, Payload>;

/**
 * Composes the method of all interceptors around `next`, the first one outermost; `wrapNext` wraps
 * each call of `next`.
 */
export function composeInterceptorsWith<I, M extends keyof I>(
  interceptors: I[],
  method: M,
  next: Next<I, M>,
  wrapNext: <F extends AnyFunc>(next: F) => F,
): Next<I, M> {
  let composed = next as AnyFunc;
  for (const interceptor of interceptors.toReversed()) {
    if (interceptor?.[method] === undefined) continue;
    const inner = wrapNext(composed);
    // By property, so that `this` is the interceptor.
    composed = (input: unknown) => (interceptor[method] as AnyFunc)(input, inner);
  }
  return composed as Next<I, M>;
}

/** Composes the method of all interceptors around `next`, the first one outermost. */
export function composeInterceptors<I, M extends keyof I>(
  interceptors: I[],
  method: M,
  next: Next<I, M>,
): Next<I, M> {
  return composeInterceptorsWith(interceptors, method, next, (wrapped) => wrapped);
}
