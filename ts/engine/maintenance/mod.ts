// Maintenance of store files: copies, checks, imports. For Node and Deno; used by the `store`
// commands.
import { inlineEngine } from "../../core/inline_engine.ts";
import { checkStore as check } from "./check.ts";

/** Checks everything in the reader's snapshot, with the core of the package. */
export const checkStore: typeof check = /* @__PURE__ */ inlineEngine(check);
export type { CheckOptions, StoreCheck, StoreProblem } from "./check.ts";
export { closedRun, copiedRun, OpenRunError } from "./closed_run.ts";
export { type HistoryToImport, ImportError } from "./imported_history.ts";
export { type ActivityProgress, type MovedRun, movedRun } from "./moved_run.ts";
export { openRunConflict } from "../sqlite/adopted_runs.ts";
export { type StoredRunState, StoreReader } from "../sqlite/reader.ts";
