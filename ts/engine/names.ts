// The engine's exports without the class that needs the core: shared by "temporalex/engine" and,
// without the core's bytes, "temporalex/slim".
export { type Clock, RealClock, VirtualClock } from "./clock.ts";
export { MemoryStore } from "./memory_store.ts";
export type { ActivityTimeout } from "./timed_out.ts";
export type { Backlog } from "./backlog.ts";
export type { EmbeddedEngineOptions, EngineLimits, EngineStats } from "./options.ts";
export type { DriverName } from "./sqlite/driver.ts";
export type { SqliteOptions, Synchronous } from "./sqlite/open.ts";
export { SqlLimitError } from "./sqlite/bounded_rows.ts";
export { SqlRefusedError } from "./sqlite/read_only_sql.ts";
export type { SqlRow, SqlValue } from "./sqlite/driver.ts";
export { DatabaseError } from "./tables/database.ts";
export type { Database } from "./tables/database.ts";
export type { TableMigration } from "./tables/migrations.ts";
export type { FunctionTable } from "./functions.ts";
export { ReducerError } from "./tables/reducers.ts";
export type { ReducerFunction, ReducerTable } from "./tables/reducers.ts";
export { TransactionError } from "./transaction_messages.ts";
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
