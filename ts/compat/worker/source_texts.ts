// Sources beside those in files: modules that options stand for. Modules that workflow code names and never uses (`ignoreModules`: modules of
// Node that a shared file imports for its other half, for one); the text of a bundle; the converters of a realm, which are two paths here and
// one module there.
import { fileSources, fileUrl, type SourceHost } from "../../platform/source_files.ts";

const FOLDER = "file:///temporalex-options/";

/** Modules by URL, and what specifiers mean. */
export class SourceTexts {
  readonly #texts = new Map<string, string>();
  #ignored: readonly string[] = [];

  /** Adds a module; returns its URL. */
  add(name: string, text: string): string {
    const url = FOLDER + encodeURIComponent(name);
    this.#texts.set(url, text);
    return url;
  }

  /** Each of the modules, and what lies below it, is one that throws when something of it is used. */
  ignore(modules: readonly string[]): void {
    this.#ignored = modules;
    for (const module of modules) this.add(`${module}.cjs`, ignoredModule(module));
  }

  /** The files with these modules; undefined where there are none. */
  get host(): SourceHost | undefined {
    const texts = this.#texts;
    if (texts.size === 0) return undefined;
    const files = fileSources();
    return {
      read: (url) => texts.get(url) ?? files.read(url),
      isFile: (url) => texts.has(url) || files.isFile(url),
      real: (url) => texts.has(url) ? url : files.real(url),
      map: (specifier, parent) => {
        const module = this.#ignored.find((name) => specifier === name || specifier.startsWith(`${name}/`));
        return module === undefined ? files.map(specifier, parent) : FOLDER + encodeURIComponent(`${module}.cjs`);
      },
    };
  }
}

function ignoredModule(module: string): string {
  const message = `the module "${module}" is in ignoreModules, and workflow code uses it`;
  return `const refuse = () => { throw new Error(${JSON.stringify(message)}); };
const any = Symbol.for("temporalex.exports-any-name");
module.exports = new Proxy(refuse, { get: (_, name) => name === any || (typeof name === "string" && name !== "then" ? refuse : undefined) });`;
}

/** The module of a realm's converters: that of the values, or one with both. Undefined where neither is named. */
export function converterModule(
  texts: SourceTexts,
  { payloadConverterPath, failureConverterPath }: { payloadConverterPath?: string; failureConverterPath?: string },
): string | undefined {
  const urlOf = (path: string) => fileUrl(path);
  if (failureConverterPath === undefined) return payloadConverterPath && urlOf(payloadConverterPath);
  const values = payloadConverterPath === undefined
    ? 'export { defaultPayloadConverter as payloadConverter } from "@temporalio/common";'
    : `export { payloadConverter } from ${JSON.stringify(urlOf(payloadConverterPath))};`;
  return texts.add(
    "converters.mjs",
    `${values}\nexport { failureConverter } from ${JSON.stringify(urlOf(failureConverterPath))};\n`,
  );
}
