// Packages that Deno keeps in its own cache, where a project has no node_modules folder: "<cache>/npm/<registry>/<name>/<version>/". Which
// version is meant is written in the project's deno.lock, also for what packages need of each other; without it nothing is guessed.

/** What looking for them needs of the file system. */
export interface PackageFiles {
  read(url: string): string | undefined;
  /** Names of the folders in a folder; none where it cannot be read. */
  folders(url: string): readonly string[];
  /** Folder of Deno's cache, ending with "/"; undefined where it is not known. */
  readonly cache: string | undefined;
}

interface Lock {
  /** "npm:ms@2" to "2.1.3". */
  readonly specifiers?: { readonly [specifier: string]: string };
  /** "debug@4.4.0" to what it needs: "ms", or "ms@2.1.3" where there are several. */
  readonly npm?: { readonly [id: string]: { readonly dependencies?: readonly string[] } };
}

const CACHED = /\/npm\/[^/]+\/((?:@[^/]+\/)?[^/]+)\/(\d+\.\d+\.\d+[^/]*)\//;

/** Finds the folder of a package, by what the user's module asks for ("ms@2"), or by its name in another package. */
export function denoPackages(files: PackageFiles): (name: string, parent: string, asked?: string) => string | undefined {
  const locks = new Map<string, Lock | undefined>();
  /** Of the project: packages in the cache belong to many. */
  let project: Lock | undefined;
  const lockAround = (folder: string): Lock | undefined => {
    if (locks.has(folder)) return locks.get(folder);
    const above = new URL("..", folder).href;
    const found = parsed(files.read(`${folder}deno.lock`)) ?? (above === folder ? undefined : lockAround(above));
    locks.set(folder, found);
    return found;
  };
  return (name, parent, asked) => {
    if (files.cache === undefined) return undefined;
    const [, owner, ownVersion] = CACHED.exec(parent) ?? [];
    const lock = owner === undefined ? project = lockAround(new URL(".", parent).href) ?? project : project;
    const version = owner === undefined ? versionAsked(lock, name, asked) : versionNeeded(lock, `${owner}@${ownVersion}`, name);
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

/** "2.1.3_react@19.0.0" is 2.1.3 with a peer. */
const plain = (version: string | undefined): string | undefined => version?.split("_")[0];

function versionAsked(lock: Lock | undefined, name: string, asked = `${name}@*`): string | undefined {
  const { specifiers = {} } = lock ?? {};
  return plain(specifiers[`npm:${asked}`] ?? specifiers[`npm:${asked}@*`]);
}

function versionNeeded({ npm = {} }: Lock = {}, owner: string, name: string): string | undefined {
  const key = Object.keys(npm).find((id) => id === owner || id.startsWith(`${owner}_`));
  const dependency = npm[key ?? ""]?.dependencies?.find((each) => each === name || each.startsWith(`${name}@`));
  if (dependency === undefined) return undefined;
  if (dependency !== name) return plain(dependency.slice(name.length + 1));
  const versions = Object.keys(npm).filter((id) => id.startsWith(`${name}@`)).map((id) => plain(id.slice(name.length + 1)));
  return new Set(versions).size === 1 ? versions[0] : undefined;
}
