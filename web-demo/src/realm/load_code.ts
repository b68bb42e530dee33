// From the files of a code set to the module graph that a realm evaluates. Nothing is run.
import type { ModuleGraph } from "../../../ts/realm/loader/graph.ts";
import { loadSources } from "../../../ts/realm/sources.ts";
import type { CodeSet } from "./code_set.ts";

/** What a realm is started with. */
export interface LoadedCode {
  readonly graph: ModuleGraph;
  readonly hasConverter: boolean;
  /** With the files that are needed. */
  readonly code: CodeSet;
}

/** Loads it. Rejects with a WorkflowLoadError that names file and line of everything that cannot be loaded. */
export async function loadCode(code: CodeSet): Promise<LoadedCode> {
  const sources = Object.fromEntries(code.files.map(({ path, text }) => [urlOf(path), text]));
  const loaded = await loadSources({ workflows: urlOf(code.entry), sources, scopes: "rewritten" });
  return { ...loaded, code };
}

/** The address of a file in the module graph. */
export const urlOf = (path: string): string => `file:///${path.split("/").map(encodeURIComponent).join("/")}`;
