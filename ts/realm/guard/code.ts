// Code made from text would reach modules past the loader (`new Function("return import('node:fs')")()`), so eval and the constructors of
// functions are closed, also where they hang on the prototypes of functions.
import { DeterminismError } from "./errors.ts";
import { type Globals, override } from "./patch.ts";
import type { GuardContext } from "./violations.ts";

const ADVICE = "code made from text could load modules; write the function in a module";

export function guardCode(globals: Globals, context: GuardContext): void {
  const samples: readonly (readonly [string, unknown])[] = [
    ["Function", function () {}],
    ["AsyncFunction", async function () {}],
    ["GeneratorFunction", function* () {}],
    ["AsyncGeneratorFunction", async function* () {}],
  ];
  for (const [name, sample] of samples) {
    const prototype = Object.getPrototypeOf(sample) as object;
    const replacement = function (...args: unknown[]): unknown {
      // How older libraries ask for the global object.
      if (name === "Function" && args.length === 1 && /^\s*return\s+this\s*;?\s*$/.test(String(args[0]))) return () => globals;
      // How newer ones ask whether code from text is allowed (zod): they catch the answer, as under a page's policy, and do without.
      if (args.every((text) => String(text).trim() === "")) throw new DeterminismError(`${name}()`, ADVICE);
      return context.refuse(`${name}()`, ADVICE);
    };
    Object.defineProperty(replacement, "name", { value: name, configurable: true });
    Object.defineProperty(replacement, "length", { value: 1, configurable: true });
    Object.defineProperty(replacement, "prototype", {
      value: prototype,
      writable: false,
      enumerable: false,
      configurable: false,
    });
    override(prototype, "constructor", replacement);
    if (name === "Function") override(globals, name, replacement);
  }
  const closedEval = (text: unknown): unknown => typeof text === "string" ? context.refuse("eval()", ADVICE) : text;
  Object.defineProperty(closedEval, "name", { value: "eval", configurable: true });
  override(globals, "eval", closedEval);
}
