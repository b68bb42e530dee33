// Compiles TypeScript and JSX to JavaScript with the meaning that the language gives it. Separate from strip.ts, which every worker loads: what
// is here needs a parser.
import { orderParameterProperties } from "./parameter_properties.ts";
import { IS_TS, strip } from "./strip.ts";
import { type UnsupportedConstruct, unsupportedTypeScript } from "./typescript_checks.ts";

/** The JavaScript of a module, and what of its TypeScript that JavaScript cannot mean. */
export interface CompiledText {
  readonly code: string;
  readonly unsupported: readonly UnsupportedConstruct[];
}

/** An exported enum that is declared again: sucrase exports its variable twice. */
function mergeEnums(code: string): string {
  const known = new Set<string>();
  return code.replace(/\bexport var ([\p{ID_Start}$_][\p{ID_Continue}$]*); \(function \(\1\) \{/gu, (text, name: string) => {
    if (known.has(name)) return text.slice("export ".length);
    known.add(name);
    return text;
  });
}

/** Compiles a module for evaluation, on the same lines. Throws errors of sucrase and acorn, and an UnsupportedSyntaxError. */
export function compileText(url: string, text: string): CompiledText {
  const code = strip(url, text);
  if (!IS_TS.test(url)) return { code, unsupported: [] };
  const unsupported = unsupportedTypeScript(text, code, (part) => strip(url, part));
  return { code: mergeEnums(orderParameterProperties(text, code)), unsupported };
}
