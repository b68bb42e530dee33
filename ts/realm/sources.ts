// The host's half of loading: from what a user names as workflow modules to the graph that realms evaluate. acorn comes in only here, and
// sucrase only where a module has types or JSX.
import { fileSources, fileUrl, hasFiles, type SourceHost } from "../platform/source_files.ts";
import type { ModuleGraph } from "./loader/graph.ts";
import { mapSources, sourceUrl } from "./loader/source_host.ts";
import { loadSucrase, needsSucrase, SucraseNotLoadedError } from "./loader/strip.ts";

export interface SourceOptions {
  readonly workflows: string | URL | readonly (string | URL)[];
  readonly sources?: { readonly [path: string]: string } | SourceHost;
  readonly payloadConverter?: string | URL;
}

/** Loads the graph. The converter's module, if there is one, is its last entry. */
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
  const provided = { workflow: Object.keys(workflow), converter: Object.keys(converter) };
  const host = sources === undefined
    ? fileSources()
    : typeof (sources as SourceHost).read === "function"
    ? sources as SourceHost
    : mapSources(sources as { readonly [path: string]: string });
  const entries = all.map((module) =>
    sources === undefined ? fileUrl(module) : module instanceof URL ? module.href : sourceUrl(module)
  );
  const load = () => ({ graph: loadGraph(entries, { host, provided }) });
  try {
    return load();
  } catch (e) {
    if (!(e instanceof SucraseNotLoadedError)) throw e;
    // JavaScript that imports TypeScript.
    await loadSucrase();
    return load();
  }
}
