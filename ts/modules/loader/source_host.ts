// Module sources other than the file system (ts/platform/source_files.ts): a table of texts from
// the caller, for browsers and tests.

import type { SourceHost } from "../../platform/source_files.ts";

export type { SourceHost };

/**
 * Returns a host for a table of URL (or path) to text. A key without a scheme means
 * `file:///<key>`.
 */
export function mapSources(
  files: { readonly [url: string]: string },
  imports: { readonly [specifier: string]: string } = {},
): SourceHost {
  const table = new Map(Object.entries(files).map(([url, text]) => [sourceUrl(url), text]));
  return {
    read: (url) => table.get(url),
    isFile: (url) => table.has(url),
    real: (url) => url,
    map: (specifier) =>
      Object.hasOwn(imports, specifier) ? sourceUrl(imports[specifier]!) : undefined,
  };
}

/** Returns the URL for a key of `mapSources`. */
export function sourceUrl(key: string): string {
  return /^[a-z][a-z0-9+.-]+:/i.test(key) ? key : new URL(key, "file:///").href;
}
