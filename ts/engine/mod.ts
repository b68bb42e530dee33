// The embedded engine: durable workflows in this process, with no server. `EmbeddedEngine.open({ path })` keeps its runs in one SQLite
// file; clients and workers use it as they use a Temporal cluster.
export { type Clock, RealClock, VirtualClock } from "./clock.ts";
export { EmbeddedEngine } from "./host.ts";
export { MemoryStore } from "./memory_store.ts";
export type { EmbeddedEngineOptions, EngineLimits, EngineStats } from "./options.ts";
export type { DriverName } from "./sqlite/driver.ts";
export type { SqliteOptions, Synchronous } from "./sqlite/open.ts";
export { SqliteStore } from "./sqlite/store.ts";
export type { ListPage, ListPosition, ListQuery, PurgeOptions, Store, StoredRun } from "./store.ts";
export {
  NotAStoreError,
  StoreCorruptError,
  StoreError,
  StoreFencedError,
  type StoreHolder,
  StoreLockedError,
  StoreVersionError,
} from "./store_errors.ts";
