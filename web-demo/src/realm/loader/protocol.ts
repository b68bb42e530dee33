// Messages of the page and its loader.
import type { Problem } from "../../../../ts/modules/loader/errors.ts";
import type { Divergence } from "../../../../ts/debug/divergence/types.ts";
import type { ModuleGraph } from "../../../../ts/modules/loader/module_graph.ts";
import type { LineOptions } from "../../../../ts/modules/sources.ts";
import type { CodeFile } from "../../store/code_set.ts";
import type { Listing } from "../../store/file_source.ts";

export type ToLoader =
  | {
    readonly t: "load";
    readonly id: number;
    /** Code sets with the same id share the files that were read from their folder. */
    readonly set: string;
    readonly entry: string;
    /** Which variables are recorded, in addition to the lines that ran. */
    readonly lines: LineOptions;
    readonly files: readonly CodeFile[];
    /** Whether more files can be requested. */
    readonly hasMore: boolean;
  }
  | {
    readonly t: "more";
    readonly id: number;
    readonly files: readonly CodeFile[];
    readonly folders: readonly (readonly [path: string, listing: Listing])[];
  }
  /** Requests the repair in the lines of the code set that was loaded last. */
  | { readonly t: "repair"; readonly id: number; readonly divergence: Divergence };

export type FromLoader =
  | {
    readonly t: "want";
    readonly id: number;
    readonly files: readonly string[];
    readonly folders: readonly string[];
  }
  | {
    readonly t: "loaded";
    readonly id: number;
    readonly graph: ModuleGraph;
    readonly hasConverter: boolean;
    /** Files that were read, in the order in which they were found. */
    readonly files: readonly CodeFile[];
  }
  | { readonly t: "refused"; readonly id: number; readonly problems: readonly Problem[] }
  | { readonly t: "failed"; readonly id: number; readonly message: string }
  | { readonly t: "repaired"; readonly id: number; readonly divergence: Divergence };
