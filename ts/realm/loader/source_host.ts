// Where module sources come from: the file system of Node and Deno, or a table of texts that the caller gives (browsers, tests).
// Synchronous, because loading happens once per realm pool and its steps depend on each other.

export interface SourceHost {
  /** The text of a file; undefined when there is no such file. */
  read(url: string): string | undefined;
  isFile(url: string): boolean;
  /** The URL with symbolic links resolved: a package manager's links must not make two modules of one. */
  real(url: string): string;
  /** A bare or remote specifier that the host maps itself (import maps); undefined: as usual. */
  map(specifier: string, parent: string): string | undefined;
}

/** Sources from a table of URL (or path) to text. Keys without a scheme stand for `file:///<key>`. */
export function mapSources(
  files: { readonly [url: string]: string },
  imports: { readonly [specifier: string]: string } = {},
): SourceHost {
  const table = new Map(Object.entries(files).map(([url, text]) => [sourceUrl(url), text]));
  return {
    read: (url) => table.get(url),
    isFile: (url) => table.has(url),
    real: (url) => url,
    map: (specifier) => Object.hasOwn(imports, specifier) ? sourceUrl(imports[specifier]!) : undefined,
  };
}

/** The URL for a key of `mapSources`. */
export function sourceUrl(key: string): string {
  return /^[a-z][a-z0-9+.-]+:/i.test(key) ? key : new URL(key, "file:///").href;
}
