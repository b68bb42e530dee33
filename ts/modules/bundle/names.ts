// Names of modules in a bundle, the same on every machine: paths from the project's folder, and
// "node_modules/<name>/" for packages, independent of where the package manager puts them.
import { packageFolder } from "../loader/package_files.ts";

/** Reads a file; undefined if it does not exist. */
type Read = (url: string) => string | undefined;

/** Returns a name for each module, in the same order. The first URL is an entry of the project. */
export function bundleNames(urls: readonly string[], read: Read): string[] {
  const own = urls.filter((url) => packageFolder(url) === undefined);
  const root = commonFolder([projectFolder(own[0] ?? urls[0]!, read), ...own]);
  const folders = new Map<string, string>();
  const taken = new Set<string>();
  return urls.map((url) => {
    const found = packageFolder(url);
    if (found === undefined) return url.slice(root.length);
    let folder = folders.get(found.folder);
    if (folder === undefined) folders.set(found.folder, folder = freeName(found, taken, read));
    return folder + url.slice(found.folder.length);
  });
}

/**
 * A second copy of a package gets its version in the name, further copies of a version a number.
 */
function freeName(
  { folder, name }: { folder: string; name: string },
  taken: Set<string>,
  read: Read,
): string {
  let free = `node_modules/${name}/`;
  if (taken.has(free)) {
    const version = versionOf(read(`${folder}package.json`));
    free = `node_modules/${name}@${version}/`;
    for (let n = 2; taken.has(free); n++) free = `node_modules/${name}@${version}_${n}/`;
  }
  taken.add(free);
  return free;
}

function versionOf(json: string | undefined): string {
  try {
    return encodeURIComponent(
      String((JSON.parse(json ?? "{}") as { version?: unknown }).version ?? "other"),
    );
  } catch {
    return "other";
  }
}

/** Returns the nearest folder with a package.json or deno.json, or else the module's folder. */
function projectFolder(url: string, read: Read): string {
  const own = new URL(".", url).href;
  for (let folder = own;;) {
    if (
      ["package.json", "deno.json", "deno.jsonc"].some((name) => read(folder + name) !== undefined)
    ) return folder;
    const above = new URL("..", folder).href;
    if (above === folder) return own;
    folder = above;
  }
}

/** Returns the deepest folder that contains all of them. */
function commonFolder(urls: readonly string[]): string {
  let common = urls[0]!.slice(0, urls[0]!.lastIndexOf("/") + 1);
  for (const url of urls) {
    while (!url.startsWith(common)) {
      common = common.slice(0, common.lastIndexOf("/", common.length - 2) + 1);
    }
  }
  return common;
}
