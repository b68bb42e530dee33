// Looking after store files: copies, checks, imports. For Node and Deno; the command line's `store` commands stand on it.
export { type CheckOptions, checkStore, type StoreCheck, type StoreProblem } from "./check.ts";
export { closedRun, copiedRun, type HistoryToImport, ImportError, OpenRunError } from "./closed_run.ts";
export { type StoredRunState, StoreReader } from "../sqlite/reader.ts";
