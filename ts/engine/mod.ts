// The embedded engine: durable workflows in this process, with no server. `EmbeddedEngine.open({ path })` keeps its runs in one SQLite
// file; clients and workers use it as they use a Temporal cluster.
import { inlineCore } from "../core/inline.ts";
import { EmbeddedEngine as Engine } from "./host.ts";

/** The embedded engine: a WorkflowService in this process. `EmbeddedEngine.open({ path })`, or `{ store: new MemoryStore() }`. */
export const EmbeddedEngine: typeof Engine = /* @__PURE__ */ inlineCore(Engine);
/** The embedded engine. */
export type EmbeddedEngine = Engine;
export { type Clock, RealClock, VirtualClock } from "./clock.ts";
export { MemoryStore } from "./memory_store.ts";
export type { EmbeddedEngineOptions, EngineLimits, EngineStats } from "./options.ts";
export type { DriverName } from "./sqlite/driver.ts";
export type { SqliteOptions, Synchronous } from "./sqlite/open.ts";
export { SqliteStore } from "./sqlite/store.ts";
export type {
  Condition,
  ListPage,
  ListPosition,
  ListQuery,
  OrderField,
  PurgeOptions,
  RunRecord,
  RunRow,
  RunWrite,
  Store,
  StoredRun,
} from "./store.ts";
export {
  NotAStoreError,
  StoreBusyError,
  StoreCorruptError,
  StoreError,
  StoreFencedError,
  StoreFullError,
  type StoreHolder,
  StoreLockedError,
  StoreNotEmptyError,
  StoreUnavailableError,
  StoreVersionError,
} from "./store_errors.ts";
