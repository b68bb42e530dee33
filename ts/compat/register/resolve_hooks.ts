// Module hooks for Node without `registerHooks` (before 22.15), in Node's hooks thread, for
// `import`; mod.ts handles `require`.
import { findSubpath } from "../package_names/subpaths.ts";

type Resolve<Result> = (specifier: string, context: object) => Result;

let urls: { readonly [subpath: string]: string } = {};

/** `urls`: modules that replace the official packages, by subpath. */
export function initialize(data: { readonly urls: { readonly [subpath: string]: string } }): void {
  urls = data.urls;
}

/** Node's hook: returns the URL of a specifier. */
export function resolve<Result>(
  specifier: string,
  context: object,
  next: Resolve<Result>,
): Result | { url: string; shortCircuit: true } {
  const found = findSubpath(specifier);
  if (found === undefined) return next(specifier, context);
  if ("refused" in found) throw new Error(found.refused);
  const url = urls[found.subpath];
  return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
}
