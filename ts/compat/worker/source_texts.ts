// Sources from options instead of files: stubs for modules that workflow code imports but never
// uses (`ignoreModules`, such as Node modules in a shared file), the text of a bundle, and the
// converters of a realm, which are two paths in the options and one module in the realm.
import { fileSources, fileUrl, type SourceHost } from "../../platform/source_files.ts";
import { WebpackSources } from "./webpack/sources.ts";
import { webpackChanges } from "./webpack/configuration.ts";
import type { BundleOptions } from "./bundle_options.ts";

const FOLDER = "file:///temporalex-options/";

/** Modules by URL, and the resolution of specifiers. */
export class SourceTexts {
  readonly #texts = new Map<string, string>();
  /** Stubs of unused modules, by name or by the URL of their file. */
  readonly #ignored = new Map<string, string>();
  #webpack: WebpackSources | undefined;

  /** Adds a module; returns its URL. */
  add(name: string, text: string): string {
    const url = FOLDER + encodeURIComponent(name);
    this.#texts.set(url, text);
    return url;
  }

  /**
   * Replaces modules (names, or absolute paths) and those below them by stubs that throw on use.
   */
  ignore(modules: readonly string[]): void {
    for (const module of modules) {
      const name = /^(?:\/|[A-Za-z]:[\\/])/.test(module)
        ? fileUrl(module)
        : module.replace(/^node:/, "");
      this.#ignored.set(name, this.add(`${module}.cjs`, ignoredModule(module)));
    }
  }

  /**
   * Applies `ignoreModules` and `webpackConfigHook`. Returns the modules of interceptors, before
   * them what the hook adds to `entry`. Throws a TypeError for a change that cannot be applied.
   */
  apply(options: BundleOptions): string[] {
    const { ignoreModules = [], webpackConfigHook, workflowInterceptorModules = [] } = options;
    this.ignore(ignoreModules);
    const interceptors = workflowInterceptorModules.map(fileUrl);
    if (webpackConfigHook === undefined) return interceptors;
    const changes = webpackChanges(webpackConfigHook, {
      option: "webpackConfigHook",
      ignoreModules,
    });
    const add = (name: string, text: string) => this.add(name, text);
    this.#webpack = new WebpackSources(changes, ignoreModules, add);
    const preload = this.#webpack.preload(fileUrl(options.workflowsPath));
    if (preload === undefined) return interceptors;
    this.#texts.set(preload.url, preload.text);
    return [preload.url, ...interceptors];
  }

  #insteadOf(specifier: string): string | undefined {
    const asked = specifier.replace(/^node:/, "");
    for (const [name, url] of this.#ignored) {
      if (asked === name || asked.startsWith(`${name}/`)) return url;
    }
    return undefined;
  }

  /** Returns the file system with these modules; undefined without any. */
  get host(): SourceHost | undefined {
    const texts = this.#texts;
    if (texts.size === 0) return undefined;
    const files = fileSources();
    const host: SourceHost = {
      read: (url) => texts.get(url) ?? files.read(url),
      isFile: (url) => texts.has(url) || files.isFile(url),
      real: (url) => texts.has(url) ? url : this.#ignored.get(url) ?? files.real(url),
      map: (specifier, parent) => files.map(specifier, parent),
      instead: (specifier) => this.#insteadOf(specifier),
      ...(files.installed !== undefined && { installed: files.installed }),
    };
    return this.#webpack === undefined ? host : this.#webpack.over(host);
  }
}

function ignoredModule(module: string): string {
  const message = `the module "${module}" is in ignoreModules, and workflow code uses it`;
  // Classes may extend its exports, and programs compiled to CommonJS may replace them.
  return `"use strict";
function refuse() { throw new Error(${JSON.stringify(message)}); }
const any = Symbol.for("temporalex.exports-any-name");
const put = new Map();
module.exports = new Proxy(refuse, {
  get: (_, name) => put.has(name) ? put.get(name) : name === any || (typeof name === "string" && name !== "then" ? refuse : undefined),
  set: (_, name, value) => (put.set(name, value), true),
});`;
}

/** Returns the module of a realm's converters, with one or both; undefined without any. */
export function converterModule(
  texts: SourceTexts,
  { payloadConverterPath, failureConverterPath }: {
    payloadConverterPath?: string;
    failureConverterPath?: string;
  },
): string | undefined {
  const urlOf = (path: string) => fileUrl(path);
  if (failureConverterPath === undefined) {
    return payloadConverterPath && urlOf(payloadConverterPath);
  }
  const values = payloadConverterPath === undefined
    ? 'export { defaultPayloadConverter as payloadConverter } from "@temporalio/common";'
    : `export { payloadConverter } from ${JSON.stringify(urlOf(payloadConverterPath))};`;
  return texts.add(
    "converters.mjs",
    `${values}\nexport { failureConverter } from ${JSON.stringify(urlOf(failureConverterPath))};\n`,
  );
}
