// Loads modules from a table of texts and evaluates them right here, without a realm.
import { loadGraph } from "../../../ts/modules/loader/graph.ts";
import type { ModuleGraph } from "../../../ts/modules/loader/module_graph.ts";
import {
  EvaluableGraph,
  type Namespace,
  type ProvidedModule,
} from "../../../ts/modules/loader/evaluate.ts";
import type { Provided } from "../../../ts/modules/loader/resolve.ts";
import { mapSources } from "../../../ts/modules/loader/source_host.ts";
import { WorkflowLoadError } from "../../../ts/modules/loader/errors.ts";
import { loadSucrase } from "../../../ts/modules/loader/strip.ts";

await loadSucrase();

export const fakeWorkflowApi: Namespace = Object.freeze({
  workflow: (name: string) => name,
  sleep: () => "slept",
  activities: () => "acts",
});
const provided: { readonly [module in Provided]?: ProvidedModule } = {
  workflow: { namespace: fakeWorkflowApi },
  converter: { namespace: Object.freeze({ Failure: class {} }) },
};

export type Files = { readonly [path: string]: string };

/** As modules that all runs share. */
export function load(files: Files, entries: string[] = ["/app/main.ts"]): ModuleGraph {
  return loadGraph(entries.map((e) => new URL(e, "file:///").href), {
    host: mapSources(files),
    provided: (module) => Object.keys(provided[module]?.namespace ?? {}),
    once: entries.map((_, i) => i),
  });
}

/** The namespace of the first entry. */
export function run(files: Files, entries?: string[]): Namespace {
  const graph = new EvaluableGraph(load(files, entries), {
    provided,
    evaluate: (code) => (0, eval)(code),
  });
  return graph.evaluateShared({ turnTo() {}, left() {} })[0]!;
}

/** What loading or evaluating refuses: "file:line name: message". */
export function refusals(files: Files, entries?: string[]): string[] {
  try {
    run(files, entries);
  } catch (e) {
    if (e instanceof WorkflowLoadError) {
      return e.problems.map((p) => `${p.file}:${p.line} [${p.code}] ${p.name}: ${p.message}`);
    }
    throw e;
  }
  return [];
}

export function warnings(files: Files): string[] {
  return load(files).warnings.map((w) => `${w.file}:${w.line} [${w.code}] ${w.name}: ${w.message}`);
}
