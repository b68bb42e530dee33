// The host's half of loading: from what a user names as workflow modules to the graph that realms evaluate. acorn comes in only here, and
// sucrase only where a module has types or JSX.
import { fileSources, fileUrl, hasFiles, type SourceHost } from "../platform/source_files.ts";
import { hasAsyncStorage } from "../platform/async_context.ts";
import type { ModuleGraph } from "./loader/graph.ts";
import type { Provided } from "./loader/resolve.ts";
import { mapSources, sourceUrl } from "./loader/source_host.ts";
import { loadSucrase, needsSucrase, SucraseNotLoadedError } from "./loader/strip.ts";

export interface SourceOptions {
  readonly workflows: string | URL | readonly (string | URL)[];
  readonly sources?: { readonly [path: string]: string } | SourceHost;
  readonly payloadConverter?: string | URL;
  /** How scopes of `@temporalio/workflow` programs follow async functions. Default: by AsyncLocalStorage where there is one. */
  readonly scopes?: "asyncLocalStorage" | "rewritten";
  /** All modules are for native workflows, whatever they import: the linter's rules are theirs. */
  readonly native?: boolean;
}

/** Names are asked for that only programs of `@temporalio/workflow` need. Loading is synchronous, so whoever loads begins anew. */
class CompatNotLoadedError extends Error {
  override name = "CompatNotLoadedError";
}

/** Loads the graph. The converter's module, if there is one, is the last of what is evaluated once. */
export async function loadSources(options: SourceOptions): Promise<{ graph: ModuleGraph }> {
  const { sources, payloadConverter } = options;
  const named = [options.workflows].flat() as (string | URL)[];
  if (named.length === 0) throw new TypeError("no workflow modules were named");
  const all = payloadConverter === undefined ? named : [...named, payloadConverter];
  if (sources === undefined && !hasFiles()) {
    throw new TypeError(
      "there are no files here: give the texts of the workflow modules as `sources`, or an `entry` that serves them",
    );
  }
  const [{ loadGraph }, workflow, converter] = await Promise.all([
    import("./loader/graph.ts"),
    import("../workflow/mod.ts"),
    import("../converter/mod.ts"),
    all.some((module) => needsSucrase(String(module))) ? loadSucrase() : undefined,
  ]);
  let compat: { readonly [module: string]: { readonly namespace: object } } | undefined;
  const provided = (module: Provided): readonly string[] => {
    if (module === "workflow") return Object.keys(workflow);
    if (module === "converter") return Object.keys(converter);
    if (compat === undefined) throw new CompatNotLoadedError();
    return Object.keys(compat[module]!.namespace);
  };
  const host = sources === undefined
    ? fileSources()
    : typeof (sources as SourceHost).read === "function"
    ? sources as SourceHost
    : mapSources(sources as { readonly [path: string]: string });
  const entries = all.map((module) =>
    sources === undefined ? fileUrl(module) : module instanceof URL ? module.href : sourceUrl(module)
  );
  const once = options.native === true ? entries.map((_, i) => i) : payloadConverter === undefined ? [] : [entries.length - 1];
  const restoreFrames = (options.scopes ?? (hasAsyncStorage() ? "asyncLocalStorage" : "rewritten")) === "rewritten";
  for (;;) {
    try {
      return { graph: loadGraph(entries, { host, provided, once, restoreFrames }) };
    } catch (e) {
      // JavaScript that imports TypeScript.
      if (e instanceof SucraseNotLoadedError) await loadSucrase();
      else if (e instanceof CompatNotLoadedError) compat = (await import("../compat/provided.ts")).compatModules();
      else throw e;
    }
  }
}
