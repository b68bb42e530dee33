// temporalex in a browser tab: `open` keeps durable workflows in the origin's private file system,
// across reloads, closed pages and crashes. One tab leads at a time. `serveEngine` is the entry of
// an engine worker.
import { inlineEngine } from "../core/inline_engine.ts";
import { inlineWorker } from "../core/inline_worker.ts";
import { open as openTab } from "./open.ts";

export type { BrowserApp, BrowserOpenOptions, TabTables } from "./open.ts";
export type { EngineEntryOptions } from "./engine_entry.ts";
export { type Database, DatabaseError } from "../engine/tables/database.ts";
export type { ReducerFunction, ReducerTable } from "../engine/tables/reducers.ts";
export type { TableMigration } from "../engine/tables/migrations.ts";
export { deleteStore } from "./delete.ts";
export { EngineWorkerError, NoLeaderError, PageOutdatedError, TabError } from "./errors.ts";
export { serveEngine } from "./leadership.ts";
export type { TabStatus } from "./tab.ts";
export {
  NotAStoreError,
  StoreBusyError,
  StoreCorruptError,
  StoreError,
  StoreFullError,
  StoreNotEmptyError,
  StoreUnavailableError,
  StoreVersionError,
} from "../engine/store_errors.ts";
export { type CoreSource, type CoreSources, useCore } from "../core/source.ts";
export * from "../client/mod.ts";

/**
 * Opens a store in this tab, with the package's own core unless `core` or useCore specifies
 * another.
 */
export const open: typeof openTab = /* #__PURE__ */ inlineWorker(
  /* #__PURE__ */ inlineEngine(openTab),
);
