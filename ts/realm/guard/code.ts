// Code made from text would reach modules past the loader (`new Function("return import('node:fs')")()`), so eval and the constructors of
// functions are closed, also where they hang on the prototypes of functions.
//
// One library is let through: protobufjs, whose types at run time are functions made from text. What it makes runs under the same guard; what
// text could do that a module cannot is import(), so text with that word is refused. docs/dev/decisions/057-protobufjs-makes-code.md
import { DeterminismError } from "./errors.ts";
import { type Globals, override } from "./patch.ts";
import type { GuardContext } from "./violations.ts";

/** Packages that make code from descriptions of messages: protobufjs, and before 8.0 the part of it that does so. */
const MAKERS: ReadonlySet<string> = new Set(["protobufjs", "@protobufjs/codegen"]);
/**
 * The word `import` where it could be the keyword. Beside a letter it is part of a name, before a quote, a colon or `."` a part of a string:
 * the language has no import() that goes on so. The keyword cannot be written with escapes.
 */
const MAY_IMPORT = /(?<![\w$])import(?![\w$":']|\.["'])/;

const ADVICE = "code made from text could load modules; write the function in a module";

export function guardCode(globals: Globals, context: GuardContext): void {
  const samples: readonly (readonly [string, unknown])[] = [
    ["Function", function () {}],
    ["AsyncFunction", async function () {}],
    ["GeneratorFunction", function* () {}],
    ["AsyncGeneratorFunction", async function* () {}],
  ];
  const RealFunction = globals["Function"] as FunctionConstructor;
  for (const [name, sample] of samples) {
    const prototype = Object.getPrototypeOf(sample) as object;
    const replacement = function (...args: unknown[]): unknown {
      // How older libraries ask for the global object.
      if (name === "Function" && args.length === 1 && /^\s*return\s+this\s*;?\s*$/.test(String(args[0]))) return () => globals;
      // How newer ones ask whether code from text is allowed (zod): they catch the answer, as under a page's policy, and do without.
      if (args.every((text) => String(text).trim() === "")) throw new DeterminismError(`${name}()`, ADVICE);
      const maker = name === "Function" ? context.callingPackage() : undefined;
      if (maker !== undefined && MAKERS.has(maker)) {
        const texts = args.map(String);
        if (!texts.some((text) => MAY_IMPORT.test(text))) return RealFunction(...texts);
      }
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
