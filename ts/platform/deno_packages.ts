// Packages in Deno's cache, for projects without node_modules:
// "<cache>/npm/<registry>/<name>/<version>/". The project's deno.lock has the versions, also of
// dependencies of packages. Without it, no package is found.

/** File system access for the lookup. */
export interface PackageFiles {
  read(url: string): string | undefined;
  /** Returns the names of the folders in a folder; empty if it cannot be read. */
  folders(url: string): readonly string[];
  /** Folder of Deno's cache, ending with "/"; undefined if not known. */
  readonly cache: string | undefined;
}

interface Lock {
  /** Maps "npm:ms@2" to "2.1.3". */
  readonly specifiers?: { readonly [specifier: string]: string };
  /** Maps "debug@4.4.0" to its dependencies: "ms", or "ms@2.1.3" if there are several versions. */
  readonly npm?: { readonly [id: string]: { readonly dependencies?: readonly string[] } };
}

const CACHED = /\/npm\/[^/]+\/((?:@[^/]+\/)?[^/]+)\/(\d+\.\d+\.\d+[^/]*)\//;

/**
 * Returns a function that finds the folder of a package, by the specifier of a user's module
 * ("ms@2") or by its name in another package.
 */
export function denoPackages(
  files: PackageFiles,
): (name: string, parent: string, asked?: string) => string | undefined {
  const locks = new Map<string, Lock | undefined>();
  /** The lock file of the project. Packages in the cache belong to many projects. */
  let project: Lock | undefined;
  const lockAround = (folder: string): Lock | undefined => {
    if (locks.has(folder)) return locks.get(folder);
    const above = new URL("..", folder).href;
    const found = parsed(files.read(`${folder}deno.lock`)) ??
      (above === folder ? undefined : lockAround(above));
    locks.set(folder, found);
    return found;
  };
  return (name, parent, asked) => {
    if (files.cache === undefined) return undefined;
    const [, owner, ownVersion] = CACHED.exec(parent) ?? [];
    const lock = owner === undefined
      ? project = lockAround(new URL(".", parent).href) ?? project
      : project;
    const version = owner === undefined
      ? versionAsked(lock, name, asked)
      : versionNeeded(lock, `${owner}@${ownVersion}`, name);
    if (version === undefined) return undefined;
    const root = `${files.cache}npm/`;
    return files.folders(root).map((registry) => `${root}${registry}/${name}/${version}/`)
      .find((folder) => files.read(`${folder}package.json`) !== undefined);
  };
}

function parsed(text: string | undefined): Lock | undefined {
  try {
    return text === undefined ? undefined : JSON.parse(text) as Lock;
  } catch {
    return undefined;
  }
}

/** Removes peers from a version: "2.1.3_react@19.0.0" is 2.1.3. */
const plain = (version: string | undefined): string | undefined => version?.split("_")[0];

function versionAsked(
  lock: Lock | undefined,
  name: string,
  asked = `${name}@*`,
): string | undefined {
  const { specifiers = {} } = lock ?? {};
  return plain(specifiers[`npm:${asked}`] ?? specifiers[`npm:${asked}@*`]);
}

function versionNeeded({ npm = {} }: Lock = {}, owner: string, name: string): string | undefined {
  const key = Object.keys(npm).find((id) => id === owner || id.startsWith(`${owner}_`));
  const dependency = npm[key ?? ""]?.dependencies?.find((each) =>
    each === name || each.startsWith(`${name}@`)
  );
  if (dependency === undefined) return undefined;
  if (dependency !== name) return plain(dependency.slice(name.length + 1));
  const versions = Object.keys(npm).filter((id) => id.startsWith(`${name}@`)).map((id) =>
    plain(id.slice(name.length + 1))
  );
  return new Set(versions).size === 1 ? versions[0] : undefined;
}
