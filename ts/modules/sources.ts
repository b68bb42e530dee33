// The host's side of loading: from the workflow modules that a user names to the graph that realms
// evaluate. Loads acorn, and sucrase if a module has types or JSX.
import {
  fileSources,
  fileUrl,
  hasFiles,
  type SourceHost,
  withMembers,
} from "../platform/source_files.ts";
import { hasAsyncStorage } from "../platform/async_context.ts";
import {
  addressOf,
  type BundleContent,
  bundleError,
  isBundle,
  readBundle,
  refuseOfficialBundle,
} from "./bundle/format.ts";
import type { Problem } from "./loader/errors.ts";
import { displayName } from "./loader/errors.ts";
import type { LoadOptions, ModuleText } from "./loader/graph.ts";
import type { ModuleGraph } from "./loader/module_graph.ts";
import type { Provided } from "./loader/resolve.ts";
import { mapSources, sourceUrl } from "./loader/source_host.ts";
import type { SourceOf, SourceText } from "./repairs/in_lines.ts";
import { loadSucrase, needsSucrase, SucraseNotLoadedError } from "./loader/strip.ts";

export interface SourceOptions {
  readonly workflows: string | URL | readonly (string | URL)[];
  readonly sources?: { readonly [path: string]: string } | SourceHost;
  readonly payloadConverter?: string | URL;
  /** Modules that export interceptors of `@temporalio/workflow` programs. */
  readonly interceptors?: string | URL | readonly (string | URL)[];
  /**
   * How scopes of `@temporalio/workflow` programs follow async functions. Default:
   * AsyncLocalStorage if the runtime has it.
   */
  readonly scopes?: "asyncLocalStorage" | "rewritten";
  /** In debug sessions: adds probes to the modules. */
  readonly lines?: LineOptions;
  /** Treats all modules as native workflows, whatever they import; for the linter. */
  readonly native?: boolean;
  /** See LoadOptions. */
  readonly parsed?: LoadOptions["parsed"];
}

/**
 * What a debug session records of lines; `true`: executed lines, and variables at awaits and calls.
 */
export type LineOptions = boolean | {
  /** Lines at whose statements variables are recorded as well, for logpoints. */
  readonly readAt: readonly { readonly file: string; readonly line: number }[];
};

/**
 * Thrown for names that only programs of `@temporalio/workflow` need. Loading is synchronous, so
 * the caller loads them and starts again.
 */
class CompatNotLoadedError extends Error {
  override name = "CompatNotLoadedError";
}

/** The named modules, with the content of bundles among them. */
interface NamedModules {
  readonly entries: readonly string[];
  readonly hasConverter: boolean;
  readonly options: LoadOptions;
}

/** Loads the graph. The converter's module, if any, is the last of `entries`. */
export async function loadSources(
  options: SourceOptions,
): Promise<{ graph: ModuleGraph; hasConverter: boolean }> {
  const [{ entries, hasConverter, options: loading }, { loadGraph }] = await Promise.all([
    namedModules(options),
    import("./loader/graph.ts"),
  ]);
  return { graph: await untilLoaded(() => loadGraph(entries, loading)), hasConverter };
}

/**
 * Returns current texts of modules by the paths of locations; undefined for packages and bundles.
 */
export function sourceTexts({ sources }: Pick<SourceOptions, "sources">): SourceOf {
  const host = hostOf(sources);
  return (path) => {
    if (/node_modules[\\/]/.test(path)) return undefined;
    const url = host.hasFilePaths === true ? fileUrl(path) : sourceUrl(path);
    const text = host.read(url);
    return text === undefined || isBundle(text) ? undefined : { url, text };
  };
}

/** Returns the same modules, one of them with another text. */
export function withModuleText(
  { sources, workflows, interceptors, payloadConverter }: Partial<SourceOptions>,
  { url, text }: SourceText,
): Partial<SourceOptions> {
  const host = hostOf(sources);
  const changed = withMembers(host, {
    read: (asked) => asked === url ? text : host.read(asked),
  });
  if (host.hasFilePaths !== true) return { sources: changed };
  // Paths of files are relative to the working directory; those of other sources are not.
  const urls = (modules: SourceOptions["workflows"]) =>
    ([modules].flat() as (string | URL)[]).map((one) => new URL(fileUrl(one)));
  return {
    sources: changed,
    ...(workflows !== undefined && { workflows: urls(workflows) }),
    ...(interceptors !== undefined && { interceptors: urls(interceptors) }),
    ...(payloadConverter !== undefined && { payloadConverter: new URL(fileUrl(payloadConverter)) }),
  };
}

/** Returns the modules of the graph for a bundle, by the rules of `loadSources`. */
export async function loadSourceTexts(options: SourceOptions): Promise<SourceTexts> {
  const [{ entries, hasConverter, options: loading }, { loadTexts }] = await Promise.all([
    namedModules(options, "sources alone"),
    import("./loader/graph.ts"),
  ]);
  const { entries: entered, ...texts } = await untilLoaded(() => loadTexts(entries, loading));
  return {
    ...texts,
    entries: entered.map((index) => texts.modules[index]!.url),
    hasConverter,
    host: loading.host,
  };
}

/** The input of a bundle. */
export interface SourceTexts {
  readonly modules: readonly ModuleText[];
  /** Addresses of the named modules, the converter's last. */
  readonly entries: readonly string[];
  readonly warnings: readonly Problem[];
  readonly hasConverter: boolean;
  readonly host: SourceHost;
}

async function namedModules(options: SourceOptions, what?: "sources alone"): Promise<NamedModules> {
  const { sources, payloadConverter } = options;
  const named = [options.workflows].flat() as (string | URL)[];
  if (named.length === 0) throw new TypeError("no workflow modules were named");
  if (sources === undefined && !hasFiles()) {
    throw new TypeError(
      "this runtime has no file system: pass the texts of the workflow modules as `sources`, or an `entry` that serves them",
    );
  }
  const host = hostOf(sources);
  const address = (module: string | URL): string =>
    builtFile(
      host.hasFilePaths === true
        ? fileUrl(module)
        : module instanceof URL
        ? module.href
        : sourceUrl(module),
      host,
    );
  const bundles: BundleContent[] = [];
  const entries: string[] = [], intercepting: string[] = [];
  let converter = payloadConverter === undefined ? undefined : address(payloadConverter);
  for (const url of named.map(address)) {
    const text = host.read(url);
    if (text !== undefined) refuseOfficialBundle(text, url);
    if (text === undefined || !isBundle(text)) {
      entries.push(url);
      continue;
    }
    if (what !== undefined) {
      throw bundleError(url, 0, "is a bundle already, and bundles are made from sources");
    }
    const bundle = readBundle(text, url);
    const at = bundles.push(bundle) - 1;
    entries.push(...bundle.entries.workflows.map((name) => addressOf(at, name)));
    intercepting.push(...bundle.entries.interceptors.map((name) => addressOf(at, name)));
    if (bundle.entries.payloadConverter !== undefined) {
      converter ??= addressOf(at, bundle.entries.payloadConverter);
    }
  }
  intercepting.push(...([options.interceptors ?? []].flat() as (string | URL)[]).map(address));
  const interceptors = intercepting.map((_, i) => entries.length + i);
  entries.push(...intercepting);
  if (converter !== undefined) entries.push(converter);
  const [workflow, converterModule] = await Promise.all([
    import("../workflow/mod.ts"),
    import("../converter/mod.ts"),
    entries.some((module) => !module.startsWith("bundle:") && needsSucrase(module))
      ? loadSucrase()
      : undefined,
  ]);
  const provided = (module: Provided): readonly string[] => {
    if (module === "workflow") return Object.keys(workflow);
    if (module === "converter") return Object.keys(converterModule);
    if (compat === undefined) throw new CompatNotLoadedError();
    return Object.keys(compat[module]!.namespace);
  };
  const once = options.native === true
    ? entries.map((_, i) => i)
    : converter === undefined
    ? []
    : [entries.length - 1];
  const restoreFrames =
    (options.scopes ?? (hasAsyncStorage() ? "asyncLocalStorage" : "rewritten")) === "rewritten";
  const probes = options.lines === undefined || options.lines === false
    ? {}
    : { probes: linesToRead(options.lines) };
  const common = {
    host,
    provided,
    once,
    interceptors,
    restoreFrames,
    ...probes,
    ...(options.parsed && { parsed: options.parsed }),
  };
  if (bundles.length === 0) {
    return { entries, hasConverter: converter !== undefined, options: common };
  }
  const [{ BundleResolver }, { Resolver }] = await Promise.all([
    import("./bundle/resolver.ts"),
    import("./loader/resolve.ts"),
  ]);
  const resolver = new BundleResolver(new Resolver(host), bundles);
  return {
    entries,
    hasConverter: converter !== undefined,
    options: { ...common, resolver, bundled: (url) => resolver.read(url) },
  };
}

/**
 * Compilers keep `new URL("./workflows.ts", import.meta.url)` unchanged in JavaScript. If that file
 * is missing, the JavaScript file of the same name is used.
 */
function builtFile(url: string, host: SourceHost): string {
  const [extension, kind] = /\.([cm]?)tsx?$/.exec(url) ?? [];
  if (extension === undefined || host.isFile(url)) return url;
  const built = `${url.slice(0, -extension.length)}.${kind}js`;
  return host.isFile(built) ? built : url;
}

function hostOf(sources: SourceOptions["sources"]): SourceHost {
  if (sources === undefined) return fileSources();
  if (typeof (sources as SourceHost).read === "function") return sources as SourceHost;
  return mapSources(sources as { readonly [path: string]: string });
}

/**
 * Returns, by module, the lines at which variables are read. A file is given by its address or the
 * end of it.
 */
function linesToRead(lines: LineOptions): (url: string) => ReadonlySet<number> {
  const wanted = typeof lines === "object" ? lines.readAt : [];
  return (url) => {
    const name = displayName(url);
    const of = wanted.filter(({ file }) =>
      file === url || file === name || `/${name}`.endsWith(`/${file}`)
    );
    return new Set(of.map(({ line }) => line));
  };
}

let compat: { readonly [module: string]: { readonly namespace: object } } | undefined;

/** Loading is synchronous: loads what was missing and starts again. */
async function untilLoaded<T>(load: () => T): Promise<T> {
  for (;;) {
    try {
      return load();
    } catch (e) {
      // JavaScript that imports TypeScript.
      if (e instanceof SucraseNotLoadedError) await loadSucrase();
      else if (e instanceof CompatNotLoadedError) {
        compat = (await import("../compat/provided.ts")).compatModules();
      } else throw e;
    }
  }
}
