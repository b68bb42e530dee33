// Sources beside those in files: modules that options stand for. Modules that workflow code names and never uses (`ignoreModules`: modules of
// Node that a shared file imports for its other half, for one); the text of a bundle; the converters of a realm, which are two paths here and
// one module there.
import { fileSources, fileUrl, type SourceHost } from "../../platform/source_files.ts";

const FOLDER = "file:///temporalex-options/";

/** Modules by URL, and what specifiers mean. */
export class SourceTexts {
  readonly #texts = new Map<string, string>();
  /** What stands for modules that are not used: by their name, or by the URL of their file. */
  readonly #ignored = new Map<string, string>();

  /** Adds a module; returns its URL. */
  add(name: string, text: string): string {
    const url = FOLDER + encodeURIComponent(name);
    this.#texts.set(url, text);
    return url;
  }

  /** Each of the modules (names, or absolute paths of files), and what lies below it, is one that throws when something of it is used. */
  ignore(modules: readonly string[]): void {
    for (const module of modules) {
      const name = /^(?:\/|[A-Za-z]:[\\/])/.test(module) ? fileUrl(module) : module.replace(/^node:/, "");
      this.#ignored.set(name, this.add(`${module}.cjs`, ignoredModule(module)));
    }
  }

  #insteadOf(specifier: string): string | undefined {
    const asked = specifier.replace(/^node:/, "");
    for (const [name, url] of this.#ignored) if (asked === name || asked.startsWith(`${name}/`)) return url;
    return undefined;
  }

  /** The files with these modules; undefined where there are none. */
  get host(): SourceHost | undefined {
    const texts = this.#texts;
    if (texts.size === 0) return undefined;
    const files = fileSources();
    return {
      read: (url) => texts.get(url) ?? files.read(url),
      isFile: (url) => texts.has(url) || files.isFile(url),
      real: (url) => texts.has(url) ? url : this.#ignored.get(url) ?? files.real(url),
      map: (specifier, parent) => files.map(specifier, parent),
      instead: (specifier) => this.#insteadOf(specifier),
    };
  }
}

function ignoredModule(module: string): string {
  const message = `the module "${module}" is in ignoreModules, and workflow code uses it`;
  // Classes may extend what it has, and programs that are compiled to CommonJS may put something in its place.
  return `"use strict";
function refuse() { throw new Error(${JSON.stringify(message)}); }
const any = Symbol.for("temporalex.exports-any-name");
const put = new Map();
module.exports = new Proxy(refuse, {
  get: (_, name) => put.has(name) ? put.get(name) : name === any || (typeof name === "string" && name !== "then" ? refuse : undefined),
  set: (_, name, value) => (put.set(name, value), true),
});`;
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
