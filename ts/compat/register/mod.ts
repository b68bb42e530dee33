// `node --import temporalex/compat/register app.js`: what the program imports or requires from `@temporalio/*` are the modules of
// "temporalex/compat". Its files are not touched, and it does not matter whether the official packages are installed. Importing this module
// is all that there is to do; it has no exports.
//
// A required module is this package's ES module, so `import` and `require` in one process see the same classes.
import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { ownFile } from "../../platform/own_code.ts";
import { namingAbsent } from "../doors/absent.ts";
import { doorOf, subpaths } from "../doors/names.ts";

type Call = (request: string, ...rest: unknown[]) => unknown;

/** A module as `require` has it. */
interface Required {
  filename: string;
  exports: unknown;
  loaded: boolean;
  _compile(content: string, filename: string, format: "module"): void;
}

/** The parts of `node:module` that are used; some are not in every version. */
interface Loader {
  new (id: string): Required;
  registerHooks?(hooks: {
    resolve(specifier: string, context: object, next: (specifier: string, context: object) => object): object;
  }): void;
  register?(url: string, options: { data: unknown }): void;
  _resolveFilename: Call;
  _load: Call;
}
const loader = Module as unknown as Loader;
const { resolve } = createRequire(import.meta.url);

/** Paths of this package's modules by subpath, resolved by its own name. */
const paths = new Map(subpaths().map((subpath) => [subpath, resolve(`temporalex/${subpath}`)]));

/** The path of the module that stands for a specifier; undefined for one that is not of the official SDK. Throws for what has none here. */
function pathOf(specifier: string): string | undefined {
  const door = doorOf(specifier);
  if (door === undefined) return undefined;
  if ("refused" in door) throw new Error(door.refused);
  return paths.get(door.subpath);
}

const required = new Map<string, Required>();

/**
 * Requires a file of this package as the ES module that it is. Not by `require`: tsx makes CommonJS of every file that is required, and its
 * classes would be others than those that `import` gives.
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

/** Replaces a function of the loader. tsx and ts-node do it, too: whichever comes later calls the one before it. */
function replace(name: "_load" | "_resolveFilename", ours: (path: string) => unknown): void {
  const before = loader[name];
  loader[name] = function (this: unknown, request, ...rest) {
    const path = pathOf(request);
    return path === undefined ? Reflect.apply(before, this, [request, ...rest]) : ours(path);
  };
}

function install(): void {
  replace("_resolveFilename", (path) => path);
  replace("_load", requireModule);
  // Deno resolves what modules import before hooks are asked (the import map is for that), and with hooks it loses relative imports of ES
  // modules that are required (2.9.6), as mocha's.
  if ("Deno" in globalThis) return;
  if (loader.registerHooks !== undefined) {
    loader.registerHooks({
      resolve(specifier, context, next) {
        const path = pathOf(specifier);
        return path === undefined ? next(specifier, context) : { url: pathToFileURL(path).href, shortCircuit: true };
      },
    });
    return;
  }
  const urls = Object.fromEntries([...paths].map(([subpath, path]) => [subpath, pathToFileURL(path).href]));
  loader.register?.(ownFile("compat/register/resolve_hooks", "start the program without bundling it").href, { data: { urls } });
}

const INSTALLED = Symbol.for("temporalex.compat.register");
if (!(INSTALLED in globalThis)) {
  Object.defineProperty(globalThis, INSTALLED, { value: true });
  install();
}
