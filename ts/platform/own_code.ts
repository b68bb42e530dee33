// Where this package's own code lies: to tell its stack frames from the user's, and to find the files that its workers start from. It may be
// the sources, a tree of stripped files, or the published package, whose chunks have names that nobody else gives (tools/pack.mjs). In a
// bundle that a user made neither is known: the user's code is in the same file.

const FILE = /(?:platform\/own_code\.[jt]s|_temporalex_\w+\.js)(?:[?#].*)?$/;

/** True where a user's bundler has put this package into a file of its own making. */
export const bundled: boolean = !FILE.test(import.meta.url);

/** The URL prefix that all frames of this package have and no others; in a bundle, the bundle's own URL. */
export const ownCode: string = import.meta.url.replace(FILE, "");

/**
 * The URL of a file of this package that a worker starts from, given without extension from the folder of sources. In a bundle there is
 * no such file: `instead` says what to do.
 */
export function ownFile(path: string, instead: string): URL {
  if (bundled) throw new TypeError(`temporalex is bundled, so ${path}.js is not next to it: ${instead}`);
  // Not `new URL("...", import.meta.url)`: bundlers that see this form copy the file as an asset, without what it imports.
  return new URL(`${path}.${/\.ts(?:[?#]|$)/.test(import.meta.url) ? "ts" : "js"}`, ownCode);
}
