// Compiles TypeScript and JSX to JavaScript with the semantics of the language. Separate from
// strip.ts, which every worker loads: this file needs a parser.
import { orderParameterProperties } from "./parameter_properties.ts";
import { IS_TS, strip } from "./strip.ts";
import { type UnsupportedConstruct, unsupportedTypeScript } from "./typescript_checks.ts";

/** The JavaScript of a module, and its TypeScript constructs that have no JavaScript equivalent. */
export interface CompiledText {
  readonly code: string;
  readonly unsupported: readonly UnsupportedConstruct[];
}

/** Merges declarations of an exported enum: sucrase exports its variable once for each. */
function mergeEnums(code: string): string {
  const known = new Set<string>();
  return code.replace(
    /\bexport var ([\p{ID_Start}$_][\p{ID_Continue}$]*); \(function \(\1\) \{/gu,
    (text, name: string) => {
      if (known.has(name)) return text.slice("export ".length);
      known.add(name);
      return text;
    },
  );
}

/**
 * Compiles a module for evaluation and keeps its lines. Throws errors of sucrase and acorn, and an
 * UnsupportedSyntaxError.
 */
export function compileText(url: string, text: string): CompiledText {
  const code = strip(url, text);
  if (!IS_TS.test(url)) return { code, unsupported: [] };
  const unsupported = unsupportedTypeScript(text, code, (part) => strip(url, part));
  return { code: mergeEnums(orderParameterProperties(text, code)), unsupported };
}
