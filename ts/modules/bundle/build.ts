// Builds a bundle: one file with the workflow modules of an application and all their imports,
// packages included. Nothing is executed, and the code is the same for all runtimes: workers,
// browser tabs and the debugger load the same bytes.
import { VERSION } from "../../base/version.ts";
import { displayName, type Problem } from "../loader/errors.ts";
import type { ModuleText } from "../loader/graph.ts";
import { howOf } from "../loader/module_code.ts";
import { loadSourceTexts, type SourceOptions } from "../sources.ts";
import { type BundledModule, writeBundle } from "./format.ts";
import { bundleNames } from "./names.ts";
import { inlineMap } from "./source_map.ts";

/** Options of `buildBundle`. */
export interface BundleOptions
  extends Pick<SourceOptions, "workflows" | "sources" | "payloadConverter"> {
  /** Modules that export workflow interceptors. */
  readonly interceptors?: readonly (string | URL)[];
}

/** One module of a bundle, for summaries. */
export interface BundlePart {
  /** As in stack traces. */
  readonly name: string;
  /** Size of its text in UTF-8. */
  readonly bytes: number;
}

/** A bundle of workflow code. */
export interface WorkflowBundle {
  /** Text of the file, with its source map: the `workflows` of workers, realms and the CLI. */
  readonly code: string;
  /** The source map alone (JSON, revision 3): from lines of `code` to the sources. */
  readonly sourceMap: string;
  /** In the order of the file. */
  readonly modules: readonly BundlePart[];
  /** Warnings of the loader: state that workflow runs would share. */
  readonly warnings: readonly Problem[];
}

/** A module of a bundle, with its origin. */
export interface BundleSource {
  /** As in stack traces: "src/workflows.ts". */
  readonly name: string;
  /** Address from which the loader read it. */
  readonly url: string;
  /** Its text before compilation. */
  readonly text: string;
}

/**
 * Writes workflow modules and all their imports to one file. The same sources make the same bytes,
 * on every machine and in every folder. Rejects with a WorkflowLoadError that lists the file and
 * line of everything that cannot be loaded.
 */
export async function buildBundle(options: BundleOptions): Promise<WorkflowBundle> {
  const { code, sourceMap, modules, warnings } = await bundleFromSources(options);
  return { code: code + inlineMap(sourceMap), sourceMap, modules, warnings };
}

/** Like `buildBundle`, without the source map in `code`, and with the sources. */
export async function bundleFromSources(
  options: BundleOptions,
): Promise<WorkflowBundle & { readonly sources: readonly BundleSource[] }> {
  const { interceptors = [] } = options;
  const workflows = [options.workflows].flat() as (string | URL)[];
  const loaded = await loadSourceTexts(options);
  const { modules, host, warnings, entries, hasConverter } = loaded;
  const names = bundleNames(modules.map(({ url }) => url), (url) => host.read(url));
  const nameOf = new Map(modules.map(({ url }, i) => [url, names[i]!]));
  const entered = entries.map((url) => nameOf.get(url)!);
  const parts = modules.map((module, i) =>
    partOf(module, names, names[i]!, host.read(module.url) ?? module.text)
  );
  const { code, sourceMap } = writeBundle({
    version: VERSION,
    entries: {
      workflows: entered.slice(0, workflows.length),
      interceptors: entered.slice(workflows.length, workflows.length + interceptors.length),
      ...(hasConverter ? { payloadConverter: entered.at(-1)! } : {}),
    },
    modules: parts,
  });
  const encoder = new TextEncoder();
  return {
    code,
    sourceMap,
    modules: parts.map(({ name, text }) => ({
      name: displayName(`bundle:///${name}`),
      bytes: encoder.encode(text).length,
    })),
    warnings,
    sources: parts.map(({ name, text, original }, i) => ({
      name: displayName(`bundle:///${name}`),
      url: modules[i]!.url,
      text: original ?? text,
    })),
  };
}

function partOf(
  module: ModuleText,
  names: readonly string[],
  name: string,
  written: string,
): BundledModule {
  const { kind, text, requests, dependencies, takesDefault } = module;
  const imports: { [specifier: string]: string } = {},
    requires: { [specifier: string]: string } = {};
  requests.forEach((request, i) => {
    const { specifier } = request;
    const dependency = dependencies[i]!;
    if ("refused" in dependency) return;
    const target = "module" in dependency
      ? names[dependency.module]!
      : `realm:${dependency.provided}`;
    (howOf(kind, request) === "require" ? requires : imports)[specifier] = target;
  });
  return {
    name,
    kind,
    text,
    imports,
    requires,
    ...(takesDefault ? { takesDefault } : {}),
    ...(written === text ? {} : { original: written }),
  };
}
