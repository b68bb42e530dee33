// Workflow sources from the file system, in Node and Deno. `node:fs` is looked up on first use, so
// that programs for browsers can contain this module.
import { needBuiltin } from "./builtin.ts";
import { denoPackages } from "./deno_packages.ts";

/** Source of module texts. Synchronous: loading happens once, in dependent steps. */
export interface SourceHost {
  /** Returns the text of a file; undefined if it does not exist. */
  read(url: string): string | undefined;
  /** Returns whether the file exists. */
  isFile(url: string): boolean;
  /** Resolves symbolic links: a package manager's links must not make two modules of one. */
  real(url: string): string;
  /** Maps a bare or remote specifier (import maps); undefined for the usual resolution. */
  map(specifier: string, parent: string): string | undefined;
  /** Returns the URL or the name of a replacement for a module, before every other rule. */
  instead?(specifier: string, parent: string): string | undefined;
  /** Returns the URL or the name of a replacement for a module that is not found. */
  fallback?(specifier: string): string | undefined;
  /** Conditions of package.json `exports`, instead of those of the resolver ("..."). */
  readonly conditions?: readonly string[];
  /** Fields of package.json with the main module, instead of `browser` and `main`. */
  readonly mainFields?: readonly string[];
  /**
   * Returns the folder (ending with "/") of a package outside node_modules. `asked`: name and
   * version range, if the specifier has one.
   */
  installed?(name: string, parent: string, asked?: string): string | undefined;
  /** Whether paths are those of the file system: relative to the working directory. */
  readonly hasFilePaths?: boolean;
}

interface Fs {
  readFileSync(path: URL, encoding: "utf8"): string;
  statSync(path: URL, options: { throwIfNoEntry: false }): { isFile(): boolean } | undefined;
  realpathSync(path: URL): string;
  readdirSync(
    path: URL,
    options: { withFileTypes: true },
  ): { readonly name: string; isDirectory(): boolean }[];
}

interface Urls {
  pathToFileURL(path: string): URL;
}

/** Returns whether `fileSources` works here. */
export function hasFiles(): boolean {
  return "Deno" in globalThis ||
    (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !==
      undefined;
}

/** Returns the URL of a file: URLs unchanged, paths relative to the working directory. */
export function fileUrl(pathOrUrl: string | URL): string {
  if (pathOrUrl instanceof URL) return pathOrUrl.href;
  if (/^[a-z][a-z0-9+.-]+:/i.test(pathOrUrl)) return pathOrUrl;
  return needBuiltin<Urls>("node:url").pathToFileURL(pathOrUrl).href;
}

/**
 * Reads the file system. A file that may not be read (Deno without --allow-read) is an error, not a
 * missing file.
 */
export function fileSources(): SourceHost {
  const fs = needBuiltin<Fs>("node:fs");
  const { pathToFileURL } = needBuiltin<Urls>("node:url");
  const missing = (e: unknown) =>
    ["ENOENT", "ENOTDIR", "EISDIR"].includes((e as { code?: string }).code ?? "");
  const read = (url: string): string | undefined => {
    if (!url.startsWith("file:")) return undefined;
    try {
      return fs.readFileSync(new URL(url), "utf8");
    } catch (e) {
      if (missing(e)) return undefined;
      throw e;
    }
  };
  return {
    hasFilePaths: true,
    read,
    isFile: (url) =>
      url.startsWith("file:") &&
      fs.statSync(new URL(url), { throwIfNoEntry: false })?.isFile() === true,
    real: (url) => pathToFileURL(fs.realpathSync(new URL(url))).href,
    map: "Deno" in globalThis ? importMap(read) : () => undefined,
    ...("Deno" in globalThis
      ? {
        installed: denoPackages({ read, folders: foldersOf(fs), cache: denoCache(pathToFileURL) }),
      }
      : {}),
  };
}

/**
 * Returns the same sources, each read once: what is saved later belongs to no program that is loaded
 * from them again.
 */
export function keptSources(host: SourceHost): SourceHost {
  const once = <T>(read: (url: string) => T): (url: string) => T => {
    const known = new Map<string, T>();
    return (url) => {
      if (!known.has(url)) known.set(url, read(url));
      return known.get(url)!;
    };
  };
  return withMembers(host, {
    read: once((url) => host.read(url)),
    isFile: once((url) => host.isFile(url)),
    real: once((url) => host.real(url)),
  });
}

/**
 * Returns the same sources with other members. The rest is called on the host itself, which may be
 * of a class with private members.
 */
export function withMembers(host: SourceHost, members: Partial<SourceHost>): SourceHost {
  return new Proxy({} as SourceHost, {
    get(_, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name);
      const value: unknown = Reflect.get(host, name);
      return typeof value === "function" ? value.bind(host) : value;
    },
  });
}

function foldersOf(fs: Fs): (url: string) => string[] {
  return (url) => {
    try {
      return fs.readdirSync(new URL(url), { withFileTypes: true }).filter((entry) =>
        entry.isDirectory()
      ).map(({ name }) => name);
    } catch {
      return [];
    }
  };
}

/** Returns Deno's cache folder; undefined if this program may not read it. */
function denoCache(pathToFileURL: Urls["pathToFileURL"]): string | undefined {
  const { Deno } = globalThis as unknown as {
    Deno: {
      readonly build: { readonly os: string };
      readonly env: { get(name: string): string | undefined };
      readonly permissions: {
        querySync(wanted: { name: "env"; variable: string }): { readonly state: string };
      };
    };
  };
  // A permission prompt would wait for input at a terminal.
  const env = (variable: string): string | undefined =>
    Deno.permissions.querySync({ name: "env", variable }).state === "granted"
      ? Deno.env.get(variable)
      : undefined;
  const home = env("HOME");
  const usual = Deno.build.os === "windows"
    ? env("LOCALAPPDATA")
    : Deno.build.os === "darwin"
    ? home && `${home}/Library/Caches`
    : env("XDG_CACHE_HOME") ?? (home && `${home}/.cache`);
  const folder = env("DENO_DIR") ?? (usual && `${usual}/deno`);
  return folder === undefined || folder === ""
    ? undefined
    : `${pathToFileURL(folder).href.replace(/\/$/, "")}/`;
}

/** Returns `imports` of the nearest deno.json, for bare specifiers. */
function importMap(read: (url: string) => string | undefined): SourceHost["map"] {
  const maps = new Map<
    string,
    { readonly url: string; readonly imports: { readonly [specifier: string]: string } } | undefined
  >();
  const around = (
    folder: string,
  ):
    | { readonly url: string; readonly imports: { readonly [specifier: string]: string } }
    | undefined => {
    if (maps.has(folder)) return maps.get(folder);
    let found: { url: string; imports: { [specifier: string]: string } } | undefined;
    for (const name of ["deno.json", "deno.jsonc"]) {
      const text = read(folder + name);
      if (text === undefined) continue;
      const imports =
        (parseJsonc(text) as { imports?: { [specifier: string]: string } } | undefined)?.imports;
      if (imports !== undefined) found = { url: folder + name, imports };
    }
    const above = new URL("..", folder).href;
    const answer = found ?? (above === folder ? undefined : around(above));
    maps.set(folder, answer);
    return answer;
  };
  return (specifier, parent) => {
    if (/^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i.test(specifier)) return undefined;
    const map = around(new URL(".", parent).href);
    if (map === undefined) return undefined;
    const exact = map.imports[specifier];
    const target = exact ?? prefixed(map.imports, specifier);
    if (target === undefined) return undefined;
    return target.startsWith(".") || target.startsWith("/")
      ? new URL(target, map.url).href
      : target;
  };
}

function prefixed(
  imports: { readonly [specifier: string]: string },
  specifier: string,
): string | undefined {
  const keys = Object.keys(imports).filter((key) => key.endsWith("/") && specifier.startsWith(key));
  const longest = keys.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : imports[longest]! + specifier.slice(longest.length);
}

/** Parses JSON with comments and trailing commas; undefined for invalid text. */
function parseJsonc(text: string): unknown {
  const plain = text.replace(
    /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (_, string?: string) => string ?? "",
  );
  try {
    return JSON.parse(
      plain.replace(
        /("(?:[^"\\]|\\.)*")|,(\s*[\]}])/g,
        (_, string?: string, end?: string) => string ?? end ?? "",
      ),
    );
  } catch {
    return undefined;
  }
}
