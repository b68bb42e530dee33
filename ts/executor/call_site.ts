// Where workflow code called the API. Taking a stack costs about 6 us, so it is done only when it is asked for (debug sessions, the pass
// after a divergence) or when an error is about to be reported anyway. As files of its own, this package knows its frames by their
// folder. In a bundle frames of modules that a realm has loaded from text are the user's; where the user's code is in the bundle too, and
// names are minified, frames of ours are known by their number.
import { stackFrames } from "../converter/stack.ts";
import { bundled, ownCode } from "../platform/own_code.ts";

/** URLs of modules that this realm has loaded. */
const loaded = new Set<string>();

export function noteLoaded(urls: Iterable<string>): void {
  for (const url of urls) loaded.add(url);
}

/**
 * "function (file:line:column)" of the user's nearest frame in a stack, or "" when there is none. `depth`: how many frames of ours lie over
 * it, for bundles.
 */
export function userFrame(stack: string | undefined, depth = 0): string {
  const all = stackFrames(stack);
  if (bundled) {
    if (loaded.size === 0) return all[depth] ?? "";
    return all.find((frame) => [...loaded].some((url) => frame.includes(`${url}:`))) ?? "";
  }
  return all.find((line) => !line.includes(ownCode) && !/\bnode:|\bext:|\(<anonymous>\)$/.test(line)) ?? "";
}

/** The call site of whoever called into the API: `depth` frames over the caller of this function. */
export function callSite(depth: number): string {
  return userFrame(new Error().stack, depth + 1);
}
