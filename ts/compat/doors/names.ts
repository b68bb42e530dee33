// Which module of this package a program gets that names a package of the official SDK. All doors (module hooks, import map, plugins of
// bundlers, the command line) read this table, so that a program means the same by each of them.

/** The packages of `@temporalio/*` that have a module here: "client" is "temporalex/compat/client". */
export const PACKAGES = ["activity", "client", "common", "envconfig", "nexus", "proto", "testing", "worker", "workflow"] as const;

/** Packages whose deep imports (`lib/...`) have more names than the package itself. */
const WITH_LIB: ReadonlySet<string> = new Set(["common"]);

/** Packages that nothing here stands for, and what to do. */
const REFUSED: { readonly [name: string]: string } = {
  "core-bridge": "it is the native part of the official SDK, and nothing here uses it: remove the import",
};

/** What a specifier of the official SDK means here: a subpath of this package, or why there is none. */
export type Door = { readonly subpath: string } | { readonly refused: string };

const OFFICIAL = /^@temporalio\/([a-z-]+)(?:\/lib(?:\/.*)?)?$/;

/**
 * Undefined for everything that this package does not stand for: other packages, and other files of the official ones, such as their
 * package.json.
 */
export function doorOf(specifier: string): Door | undefined {
  const name = OFFICIAL.exec(specifier)?.[1];
  if (name === undefined) return undefined;
  const refused = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
  if (refused !== undefined) return { refused: `temporalex has no module for "${specifier}": ${refused}` };
  if (!(PACKAGES as readonly string[]).includes(name)) return undefined;
  return { subpath: subpathOf(name, specifier !== `@temporalio/${name}`) };
}

function subpathOf(name: string, deep: boolean): string {
  return `compat/${name}${deep && WITH_LIB.has(name) ? "/lib" : ""}`;
}

/** Every subpath of this package that stands for something. */
export function subpaths(): readonly string[] {
  return [...new Set(PACKAGES.flatMap((name) => [subpathOf(name, false), subpathOf(name, true)]))];
}
