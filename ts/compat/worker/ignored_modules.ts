// Modules that workflow code names and never uses (`ignoreModules`): modules of Node that a shared file imports for its other half, for one.
import { fileSources, type SourceHost } from "../../platform/source_files.ts";

/** The files, where each of the modules is one that throws when something of it is used. */
export function ignoring(modules: readonly string[]): SourceHost {
  const files = fileSources();
  const url = (module: string) => `file:///temporalex-ignored/${encodeURIComponent(module)}.cjs`;
  const texts = new Map(modules.map((module) => [url(module), ignoredModule(module)]));
  const ignored = (specifier: string) => modules.find((module) => specifier === module || specifier.startsWith(`${module}/`));
  return {
    read: (at) => texts.get(at) ?? files.read(at),
    isFile: (at) => texts.has(at) || files.isFile(at),
    real: (at) => texts.has(at) ? at : files.real(at),
    map: (specifier, parent) => {
      const module = ignored(specifier);
      return module === undefined ? files.map(specifier, parent) : url(module);
    },
  };
}

function ignoredModule(module: string): string {
  const message = `the module "${module}" is in bundlerOptions.ignoreModules, and workflow code uses it`;
  return `const refuse = () => { throw new Error(${JSON.stringify(message)}); };
module.exports = new Proxy(refuse, { get: (_, name) => name === "__esModule" ? true : name === "then" ? undefined : refuse });`;
}
