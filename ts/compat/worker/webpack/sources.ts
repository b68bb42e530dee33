// Applies what a `webpackConfigHook` changed to the loader's sources: replacements of modules
// before and after they are found, other conditions and main fields, files that are not code, and
// a module that each run evaluates first (entries, definitions).
import { fileUrl, type SourceHost } from "../../../platform/source_files.ts";
import type { ReplacedRequest, Replacement } from "./compiler.ts";
import type { WebpackChanges } from "./configuration.ts";

const ENTRIES = "temporalex-webpack-entries.cjs";
const isAbsolute = (request: string) => /^(?:\/|[A-Za-z]:[\\/])/.test(request);
/** A path of files, as plugins see it. */
const pathOf = (url: string) =>
  url.startsWith("file:")
    ? decodeURIComponent(new URL(url).pathname).replace(/^\/(?=[A-Za-z]:)/, "")
    : url;
const folderOf = (path: string) => path.replace(/[\\/][^\\/]*$/, "");

export class WebpackSources {
  readonly #changes: WebpackChanges;
  readonly #alias: [string, string | false][];
  /** Adds a module; returns its URL. */
  readonly #add: (name: string, text: string) => string;
  readonly #empty: string;

  constructor(
    changes: WebpackChanges,
    ignoreModules: readonly string[],
    add: (name: string, text: string) => string,
  ) {
    this.#changes = changes;
    this.#add = add;
    this.#empty = add("empty.cjs", "");
    // An ignored module has a stub that throws when it is used.
    this.#alias = Object.entries(changes.alias).filter(([name, by]) =>
      by !== false || !ignoreModules.includes(name)
    );
  }

  /** Returns the URL and text of the module that runs evaluate first; undefined without any. */
  preload(workflows: string): { readonly url: string; readonly text: string } | undefined {
    const { entries, definitions, provided } = this.#changes;
    const lines = Object.entries(definitions).map(([name, expression]) => {
      const [, variable] = /^process\.env\.(.*)$/.exec(name) ?? [];
      return variable === undefined
        ? `globalThis.${name} = (${expression});`
        : `((globalThis.process ??= {}).env ??= {}).${variable} = (${expression});`;
    });
    for (const [name, [module, ...path]] of Object.entries(provided)) {
      const value = [
        `require(${JSON.stringify(module)})`,
        ...path.map((key) => `[${JSON.stringify(key)}]`),
      ];
      lines.push(`globalThis.${name} = ${value.join("")};`);
    }
    for (const entry of entries) {
      lines.push(`require(${JSON.stringify(isAbsolute(entry) ? fileUrl(entry) : entry)});`);
    }
    if (lines.length === 0) return undefined;
    return { url: new URL(ENTRIES, workflows).href, text: `"use strict";\n${lines.join("\n")}\n` };
  }

  /** Returns these changes on top of other sources. */
  over(host: SourceHost): SourceHost {
    const { conditionNames, mainFields, files } = this.#changes;
    const read = (url: string) => {
      const text = host.read(url);
      const as = text === undefined ? undefined : files.find(({ test }) => test.test(pathOf(url)));
      if (as === undefined) return text;
      return as.content === "empty" ? "" : `module.exports = ${JSON.stringify(text)};`;
    };
    return Object.assign(Object.create(host) as SourceHost, {
      read,
      real: (url: string) => this.#afterResolve(host.real(url)),
      instead: (specifier: string, parent: string) => this.#instead(specifier, parent, host),
      fallback: (specifier: string) =>
        this.#replace(specifier, Object.entries(this.#changes.fallback)),
      ...(conditionNames !== undefined && { conditions: conditionNames }),
      ...(mainFields !== undefined && { mainFields }),
    });
  }

  /** In webpack's order: replaced requests, ignored ones, externals, aliases. */
  #instead(specifier: string, parent: string, host: SourceHost): string | undefined {
    const { replacements, ignored, externals } = this.#changes;
    const issuer = pathOf(parent);
    const data: ReplacedRequest = {
      request: specifier,
      context: folderOf(issuer),
      contextInfo: { issuer },
    };
    for (const { pattern, by } of replacements) {
      if (!pattern.test(data.request)) continue;
      if (typeof by === "function") by(data);
      else data.request = by;
    }
    const { request } = data;
    if (ignored.some((ignores) => ignores(request, data.context))) {
      return this.#add(`missing ${request}.cjs`, missingModule(request));
    }
    if (Object.hasOwn(externals, request)) {
      return this.#add(`external ${request}.cjs`, `module.exports = ${externals[request]};`);
    }
    const replaced = this.#replace(request, this.#alias) ?? host.instead?.(request, parent);
    if (replaced !== undefined) return replaced;
    return request === specifier ? undefined : isAbsolute(request) ? fileUrl(request) : request;
  }

  #replace(
    request: string,
    table: readonly (readonly [string, string | false])[],
  ): string | undefined {
    for (const [name, by] of table) {
      const alone = name.endsWith("$");
      const key = alone ? name.slice(0, -1) : name;
      if (request !== key && (alone || !request.startsWith(`${key}/`))) continue;
      if (by === false) return this.#empty;
      const target = by + request.slice(key.length);
      // As webpack does: an alias below itself is not replaced again.
      if (target === request || request.startsWith(`${by}/`)) continue;
      return isAbsolute(target) ? fileUrl(target) : target;
    }
    return undefined;
  }

  #afterResolve(url: string): string {
    let resource = pathOf(url);
    for (const replacement of this.#changes.replacements) {
      if (replacement.pattern.test(resource)) resource = replaceResource(replacement, resource);
    }
    return resource === pathOf(url) ? url : fileUrl(resource);
  }
}

function replaceResource({ by }: Replacement, resource: string): string {
  const folder = folderOf(resource);
  if (typeof by === "string") {
    return isAbsolute(by) ? by : pathOf(new URL(by, fileUrl(`${folder}/`)).href);
  }
  const createData = { resource, userRequest: resource, request: resource };
  by({ request: resource, context: folder, contextInfo: { issuer: "" }, createData });
  return createData.resource;
}

function missingModule(request: string): string {
  const message = JSON.stringify(`Cannot find module '${request}'`);
  return `throw Object.assign(new Error(${message}), { code: "MODULE_NOT_FOUND" });`;
}
