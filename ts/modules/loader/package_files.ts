// Maps a file to its package by its path: under node_modules with pnpm's links resolved, or in
// Deno's cache (".../npm/<registry>/<name>/<version>/...").

const NODE_MODULES = /^((?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\/)/;
const DENO_CACHE = /^(.*\/npm\/[^/]+\/((?:@[^/]+\/)?[^/@]+)\/\d+\.\d+\.\d+[^/]*\/)/;

/**
 * Returns the package's folder, ending with "/", and its name; undefined for the user's own files.
 */
export function packageFolder(
  url: string,
): { readonly folder: string; readonly name: string } | undefined {
  const [, folder, name] = NODE_MODULES.exec(url) ?? DENO_CACHE.exec(url) ?? [];
  return folder === undefined ? undefined : { folder, name: name! };
}
