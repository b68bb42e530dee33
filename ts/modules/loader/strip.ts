// Removes TypeScript's types. sucrase is loaded only if a module has types: parsing it takes a
// large part of a worker's start.
import type { transform } from "sucrase";

/** Files with types. */
export const IS_TS = /\.[cm]?tsx?$/;
const IS_JSX = /\.[jt]sx$/;

/** Whether sucrase must compile the module; others are plain JavaScript. */
export const needsSucrase = (url: string): boolean => IS_TS.test(url) || IS_JSX.test(url);

let loaded: typeof transform | undefined;

/**
 * Thrown by `strip` before `loadSucrase` has resolved. Loading is synchronous, so the caller loads
 * sucrase and starts again.
 */
export class SucraseNotLoadedError extends Error {
  override name = "SucraseNotLoadedError";
}

/** Loads sucrase. */
export async function loadSucrase(): Promise<void> {
  loaded ??= (await import("sucrase")).transform;
}

/** Returns the module without types and JSX, on the same lines. Throws sucrase's errors. */
export function strip(url: string, text: string): string {
  if (loaded === undefined) {
    throw new SucraseNotLoadedError(`sucrase is not loaded yet, and ${url} needs it`);
  }
  return loaded(text, {
    transforms: [
      ...(IS_TS.test(url) ? ["typescript" as const] : []),
      ...(IS_JSX.test(url) ? ["jsx" as const] : []),
    ],
    disableESTransforms: true,
    production: true,
  }).code;
}
