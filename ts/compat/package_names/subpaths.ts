// Maps packages of the official SDK to modules of this package. Module hooks, import map, bundler
// plugins and the command line all use this table.

/** Supported packages of `@temporalio/*`: "client" is "temporalex/compat/client". */
export const PACKAGES = [
  "activity",
  "client",
  "common",
  "envconfig",
  "nexus",
  "proto",
  "testing",
  "worker",
  "workflow",
] as const;

/** Packages whose deep imports (`lib/...`) have additional names. */
const WITH_LIB: ReadonlySet<string> = new Set(["common"]);

/** Unsupported packages with advice. */
const REFUSED: { readonly [name: string]: string } = {
  "core-bridge":
    "it is the native part of the official SDK, and nothing here uses it: remove the import",
};

/**
 * Resolution of a specifier of the official SDK: a subpath of this package, or why it is not
 * supported.
 */
export type PackageModule = { readonly subpath: string } | { readonly refused: string };

const OFFICIAL = /^@temporalio\/([a-z-]+)(?:\/lib(?:\/.*)?)?$/;

/**
 * Returns the resolution of a specifier; undefined for all other packages, and for other files of
 * the official ones, such as package.json.
 */
export function findSubpath(specifier: string): PackageModule | undefined {
  const name = OFFICIAL.exec(specifier)?.[1];
  if (name === undefined) return undefined;
  const refused = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
  if (refused !== undefined) {
    return { refused: `temporalex has no module for "${specifier}": ${refused}` };
  }
  if (!(PACKAGES as readonly string[]).includes(name)) return undefined;
  return { subpath: formatSubpath(name, specifier !== `@temporalio/${name}`) };
}

function formatSubpath(name: string, deep: boolean): string {
  return `compat/${name}${deep && WITH_LIB.has(name) ? "/lib" : ""}`;
}

/** Returns all subpaths of this package that replace official modules. */
export function subpaths(): readonly string[] {
  return [
    ...new Set(PACKAGES.flatMap((name) => [formatSubpath(name, false), formatSubpath(name, true)])),
  ];
}
