// What tests use of @std/assert. The npm package that deno.json maps it to has no types; JSR's has
// these.
export function assertEquals<T>(actual: T, expected: T, msg?: string): void;
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  // deno-lint-ignore no-explicit-any
  ErrorClass: abstract new (...args: any[]) => E,
  msgIncludes?: string,
): Promise<E>;
