// Location of this package's own code: separates its stack frames from the user's, and finds the
// files of its workers. The code is the sources, a tree of stripped files, or the published package
// with its unique chunk names (tools/pack.mjs). In a user's bundle the location is not known.

const FILE = /(?:platform\/own_code\.[jt]s|_temporalex_\w+\.js)(?:[?#].*)?$/;

/** True if a user's bundler has put this package into another file. */
export const bundled: boolean = !FILE.test(import.meta.url);

/**
 * URL prefix of all frames of this package and of no others; in a bundle, the URL of the bundle.
 */
export const ownCode: string = import.meta.url.replace(FILE, "");

/**
 * Returns the URL of a file of this package that a worker starts from; `path` is relative to the
 * source folder, without extension. A bundle has no such file: throws an error with the advice
 * `instead`.
 */
export function ownFile(path: string, instead: string): URL {
  if (bundled) {
    throw new TypeError(`temporalex is bundled, so ${path}.js is not next to it: ${instead}`);
  }
  // Not `new URL("...", import.meta.url)`: bundlers copy a file named so as an asset, without its
  // imports.
  return new URL(`${path}.${/\.ts(?:[?#]|$)/.test(import.meta.url) ? "ts" : "js"}`, ownCode);
}
