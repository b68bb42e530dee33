// Looking after store files: copies, checks, imports. For Node and Deno; the command line's `store` commands stand on it.
import { inlineEngine } from "../../core/inline_engine.ts";
import { checkStore as check } from "./check.ts";

/** Checks everything that the reader sees at this moment; with the core that comes with the package. */
export const checkStore: typeof check = /* @__PURE__ */ inlineEngine(check);
export type { CheckOptions, StoreCheck, StoreProblem } from "./check.ts";
export { closedRun, copiedRun, type HistoryToImport, ImportError, OpenRunError } from "./closed_run.ts";
export { type StoredRunState, StoreReader } from "../sqlite/reader.ts";
