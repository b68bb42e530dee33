// Takes the types out of TypeScript. sucrase comes in only where there are types: reading it is a good part of a worker's start.
import type { transform } from "sucrase";

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
