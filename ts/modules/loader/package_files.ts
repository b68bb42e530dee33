// Which package a file belongs to, by its path: under node_modules, pnpm's links resolved, or in Deno's own cache
// (".../npm/<registry>/<name>/<version>/...").

const NODE_MODULES = /^((?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\/)/;
const DENO_CACHE = /^(.*\/npm\/[^/]+\/((?:@[^/]+\/)?[^/@]+)\/\d+\.\d+\.\d+[^/]*\/)/;

/** The package's folder, ending with "/", and its name; undefined for the user's own files. */
export function packageFolder(url: string): { readonly folder: string; readonly name: string } | undefined {
  const [, folder, name] = NODE_MODULES.exec(url) ?? DENO_CACHE.exec(url) ?? [];
  return folder === undefined ? undefined : { folder, name: name! };
}
