// Module hooks for a Node that has no `registerHooks` (before 22.15): they run in Node's hooks thread and see what `import` asks for;
// `require` is handled in mod.ts.
import { doorOf } from "../doors/names.ts";

type Resolve<Result> = (specifier: string, context: object) => Result;

let urls: { readonly [subpath: string]: string } = {};

/** `urls`: where the modules are that stand for the official packages, by subpath. */
export function initialize(data: { readonly urls: { readonly [subpath: string]: string } }): void {
  urls = data.urls;
}

/** Node's hook: the URL of what a specifier means. */
export function resolve<Result>(
  specifier: string,
  context: object,
  next: Resolve<Result>,
): Result | { url: string; shortCircuit: true } {
  const door = doorOf(specifier);
  if (door === undefined) return next(specifier, context);
  if ("refused" in door) throw new Error(door.refused);
  const url = urls[door.subpath];
  return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
}
