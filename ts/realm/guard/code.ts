// Code made from text would reach modules around the loader (`new Function("return
// import('node:fs')")()`), so eval and function constructors are blocked, also on the prototypes of
// functions. protobufjs is exempt: its message types are functions made from text. They run under
// the same guard, and text with `import` is rejected, the only capability that a module lacks. See
// docs/dev/decisions/057-protobufjs-makes-code.md
import { DeterminismError } from "./errors.ts";
import { type Globals, override } from "./patch.ts";
import type { GuardContext } from "./violations.ts";

/**
 * Packages that compile message descriptions to code: protobufjs, and before 8.0 its codegen
 * package.
 */
const MAKERS: ReadonlySet<string> = new Set(["protobufjs", "@protobufjs/codegen"]);
/**
 * Matches `import` where it could be the keyword. Next to a letter it is part of a name; before a
 * quote, a colon or `."` it is part of a string, because import() is never followed by these. The
 * keyword cannot be written with escapes.
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
      // Older libraries get the global object this way.
      if (
        name === "Function" && args.length === 1 &&
        /^\s*return\s+this\s*;?\s*$/.test(String(args[0]))
      ) return () => globals;
      // Newer libraries (zod) test whether code from text is allowed. They catch the error, as
      // under a page's policy, and work without it.
      if (args.every((text) => String(text).trim() === "")) {
        throw new DeterminismError(`${name}()`, ADVICE);
      }
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
  const closedEval = (text: unknown): unknown =>
    typeof text === "string" ? context.refuse("eval()", ADVICE) : text;
  Object.defineProperty(closedEval, "name", { value: "eval", configurable: true });
  override(globals, "eval", closedEval);
}
