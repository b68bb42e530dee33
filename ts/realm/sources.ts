// The host's half of loading: from what a user names as workflow modules to the graph that realms evaluate. sucrase and acorn come in only
// here, when they are needed.
import { fileSources, fileUrl, hasFiles, type SourceHost } from "../platform/source_files.ts";
import type { ModuleGraph } from "./loader/graph.ts";
import { mapSources, sourceUrl } from "./loader/source_host.ts";

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
  const [{ loadGraph }, workflow, converter] = await Promise.all([
    import("./loader/graph.ts"),
    import("../workflow/mod.ts"),
    import("../converter/mod.ts"),
  ]);
  const provided = { workflow: Object.keys(workflow), converter: Object.keys(converter) };
  const all = payloadConverter === undefined ? named : [...named, payloadConverter];
  if (sources !== undefined) {
    const host = typeof (sources as SourceHost).read === "function"
      ? sources as SourceHost
      : mapSources(sources as { readonly [path: string]: string });
    return { graph: loadGraph(all.map((m) => m instanceof URL ? m.href : sourceUrl(m)), { host, provided }) };
  }
  if (!hasFiles()) {
    throw new TypeError(
      "there are no files here: give the texts of the workflow modules as `sources`, or an `entry` that serves them",
    );
  }
  return { graph: loadGraph(all.map(fileUrl), { host: fileSources(), provided }) };
}
