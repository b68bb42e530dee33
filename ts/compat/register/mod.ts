// `node --import temporalex/compat/register app.js`: imports and requires of `@temporalio/*`
// resolve to "temporalex/compat", without changes to the program, whether or not the official
// packages are installed. The module has no exports. A required module is the ES module of this
// package, so `import` and `require` yield the same classes.
import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { ownFile } from "../../platform/own_code.ts";
import { namingAbsent } from "../package_names/absent_values.ts";
import { findSubpath, subpaths } from "../package_names/subpaths.ts";

type Call = (request: string, ...rest: unknown[]) => unknown;

/** A module in the form for `require`. */
interface Required {
  filename: string;
  exports: unknown;
  loaded: boolean;
  _compile(content: string, filename: string, format: "module"): void;
}

/** The part of `node:module` that is used; some functions are missing in some versions. */
interface Loader {
  new (id: string): Required;
  registerHooks?(hooks: {
    resolve(
      specifier: string,
      context: object,
      next: (specifier: string, context: object) => object,
    ): object;
  }): void;
  register?(url: string, options: { data: unknown }): void;
  _resolveFilename: Call;
  _load: Call;
}
const loader = Module as unknown as Loader;
const { resolve } = createRequire(import.meta.url);

/** Paths of this package's modules by subpath, resolved by its own name. */
const paths = new Map(subpaths().map((subpath) => [subpath, resolve(`temporalex/${subpath}`)]));

/**
 * Returns the path of a specifier's replacement; undefined outside the official SDK. Throws for
 * unsupported packages.
 */
function findPath(specifier: string): string | undefined {
  const found = findSubpath(specifier);
  if (found === undefined) return undefined;
  if ("refused" in found) throw new Error(found.refused);
  return paths.get(found.subpath);
}

const required = new Map<string, Required>();

/**
 * Requires a file of this package as an ES module. Not by `require`, because tsx compiles required
 * files to CommonJS, whose classes would differ from imported ones.
 */
function requireModule(path: string): unknown {
  let module = required.get(path);
  if (module === undefined) {
    module = new loader(path);
    module.filename = path;
    module._compile(readFileSync(path, "utf8"), path, "module");
    module.loaded = true;
    const subpath = subpaths().find((known) => paths.get(known) === path) ?? "";
    module.exports = namingAbsent(subpath, module.exports as object);
    required.set(path, module);
  }
  return module.exports;
}

/**
 * Replaces a function of the loader. tsx and ts-node do so too: the last one calls the previous
 * one.
 */
function replace(name: "_load" | "_resolveFilename", ours: (path: string) => unknown): void {
  const before = loader[name];
  loader[name] = function (this: unknown, request, ...rest) {
    const path = findPath(request);
    return path === undefined ? Reflect.apply(before, this, [request, ...rest]) : ours(path);
  };
}

function install(): void {
  replace("_resolveFilename", (path) => path);
  replace("_load", requireModule);
  // Deno resolves imports before it calls hooks (use the import map), and with hooks, relative
  // imports of required ES modules fail (2.9.6), for example in mocha.
  if ("Deno" in globalThis) return;
  if (loader.registerHooks !== undefined) {
    loader.registerHooks({
      resolve(specifier, context, next) {
        const path = findPath(specifier);
        return path === undefined
          ? next(specifier, context)
          : { url: pathToFileURL(path).href, shortCircuit: true };
      },
    });
    return;
  }
  const urls = Object.fromEntries(
    [...paths].map(([subpath, path]) => [subpath, pathToFileURL(path).href]),
  );
  loader.register?.(
    ownFile("compat/register/resolve_hooks", "start the program without bundling it").href,
    { data: { urls } },
  );
}

const INSTALLED = Symbol.for("temporalex.compat.register");
if (!(INSTALLED in globalThis)) {
  Object.defineProperty(globalThis, INSTALLED, { value: true });
  install();
}
