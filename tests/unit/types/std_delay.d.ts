// What tests use of @std/async/delay. The npm package that deno.json maps it to has no types; JSR's
// has these.
/** Resolves after `ms`; rejects with the signal's reason when that is aborted first. */
export function delay(
  ms: number,
  options?: { readonly signal?: AbortSignal; readonly persistent?: boolean },
): Promise<void>;
