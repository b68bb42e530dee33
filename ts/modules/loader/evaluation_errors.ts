// Errors of the evaluation of workflow modules: rejected imports, and places in modules.
import { stackOf } from "../../converter/thrown.ts";

/** Returns the error of an `import()` whose module was not loaded with the program. */
export function describeImportRefusal(specifier: unknown): Error {
  const what = `import(${JSON.stringify(specifier)})`;
  return new Error(
    `${what} is not available in workflow code: use an import declaration, or load it in an activity`,
  );
}

/**
 * Returns the first place of the error's stack that is in the module; zeros without one. Deno
 * writes evaluated code as "(<url>, <anonymous>:1:2)".
 */
export function placeInModule(error: unknown, url: string): { line: number; column: number } {
  const stack = stackOf(error);
  const at = stack.indexOf(url);
  const match = at < 0
    ? null
    : /^(?:, <anonymous>)?:(\d+):(\d+)/.exec(stack.slice(at + url.length));
  return match === null
    ? { line: 0, column: 0 }
    : { line: Number(match[1]), column: Number(match[2]) };
}
