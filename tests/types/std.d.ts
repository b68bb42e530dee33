// What tests and tools use of Deno's std. The npm package that deno.json maps it to has no types; JSR's have these.
declare module "@std/assert" {
  export function assertEquals<T>(actual: T, expected: T, msg?: string): void;
  export function assertRejects<E extends Error = Error>(
    fn: () => PromiseLike<unknown>,
    // deno-lint-ignore no-explicit-any
    ErrorClass: abstract new (...args: any[]) => E,
    msgIncludes?: string,
  ): Promise<E>;
}

declare module "@std/async/delay" {
  /** Resolves after `ms`; rejects with the signal's reason when that is aborted first. */
  export function delay(ms: number, options?: { readonly signal?: AbortSignal; readonly persistent?: boolean }): Promise<void>;
}
