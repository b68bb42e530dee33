// Takes the types out of TypeScript. sucrase comes in only where there are types: reading it is a good part of a worker's start.
import type { transform } from "sucrase";
import { orderParameterProperties } from "./parameter_properties.ts";
import { type UnsupportedConstruct, unsupportedTypeScript } from "./typescript_checks.ts";

/** Files whose types have to go. */
export const IS_TS = /\.[cm]?tsx?$/;
const IS_JSX = /\.[jt]sx$/;

/** A module that has to be rewritten by sucrase; others are JavaScript as they are. */
export const needsSucrase = (url: string): boolean => IS_TS.test(url) || IS_JSX.test(url);

let loaded: typeof transform | undefined;

/** Thrown by `strip` before `loadSucrase` has resolved. Loading is synchronous, so whoever loads starts again. */
export class SucraseNotLoadedError extends Error {
  override name = "SucraseNotLoadedError";
}

/** Brings sucrase in. */
export async function loadSucrase(): Promise<void> {
  loaded ??= (await import("sucrase")).transform;
}

/** The module without types and JSX, its lines where they were. Throws sucrase's errors. */
export function strip(url: string, text: string): string {
  if (loaded === undefined) throw new SucraseNotLoadedError(`sucrase is not loaded yet, and ${url} needs it`);
  return loaded(text, {
    transforms: [...(IS_TS.test(url) ? ["typescript" as const] : []), ...(IS_JSX.test(url) ? ["jsx" as const] : [])],
    disableESTransforms: true,
    production: true,
  }).code;
}

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
