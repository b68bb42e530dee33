// "temporalex/slim": everything of "temporalex", and the realms, without the bytes of the core. For web pages: base64 makes the core's
// download a quarter larger and its start slower, so a page takes the file core.wasm from its own origin and says where it is.
//
//   import { open, useCore } from "temporalex/slim";
//   import coreUrl from "temporalex/core.wasm?url"; // Vite; other bundlers: copy the file, and give its address
//
//   useCore(coreUrl);
//   const app = await open({ ... });
//
// The address is fetched when the core is first needed (`useCore(fetch(url))` begins at once), compiled while it arrives when the server
// sends it as application/wasm, and the compiled module is posted to realms and to the engine's worker, which fetch nothing. A page under
// a Content-Security-Policy needs `script-src 'wasm-unsafe-eval'` for it, and never 'unsafe-eval'. Serve core.wasm of the same version of
// the package: another one is refused with a CoreLoadError, and so are a missing file and an answer that is no module.
//
// Other entries of the package that need a core ("temporalex/engine", "temporalex/worker", "temporalex/testing") bring its bytes: in such
// a page import from here instead. "temporalex/workflow", "temporalex/client", "temporalex/activity" and serveRealm need none.
export { type App, open, type OpenOptions } from "../app/open.ts";
export * from "../client/mod.ts";
export { CoreLoadError } from "../core/errors.ts";
export { coreModule, type CoreSource, useCore } from "../core/load.ts";
export { type Clock, RealClock, VirtualClock } from "../engine/clock.ts";
export { EmbeddedEngine } from "../engine/host.ts";
export { MemoryStore } from "../engine/memory_store.ts";
export type { EmbeddedEngineOptions, EngineLimits, EngineStats } from "../engine/options.ts";
export type { DriverName } from "../engine/sqlite/driver.ts";
export type { SqliteOptions, Synchronous } from "../engine/sqlite/open.ts";
export { SqliteStore } from "../engine/sqlite/store.ts";
export type { ListPage, ListPosition, ListQuery, PurgeOptions, Store, StoredRun } from "../engine/store.ts";
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
} from "../engine/store_errors.ts";
export { type ActivityThreads } from "../worker/activity_pool.ts";
export { type Activities, prefixed } from "../worker/activity_registry.ts";
export type { ActivityAttempt, WorkerEvents, WorkerOptions } from "../worker/options.ts";
export { WorkerPollError } from "../worker/poller.ts";
export type { Workflows } from "../worker/realms.ts";
export { Worker, type WorkerState } from "../worker/worker.ts";
export {
  type ActivityContext,
  activityContext,
  type ActivityInfo,
  activityInfo,
  type CancelReason,
  completeAsync,
  heartbeat,
  withContext,
} from "../activity/mod.ts";
export { createInlineRealm, type InlineRealmOptions } from "../realm/inline_realm.ts";
export { formatProblem, type Problem, type ProblemCode, WorkflowLoadError } from "../realm/loader/errors.ts";
export { RealmLostError } from "../realm/lost_task.ts";
export { type CommonRealmOptions, type Realm, RealmDisposedError } from "../realm/realm.ts";
export { createWorkerRealm, type WorkerRealm, type WorkerRealmOptions } from "../realm/worker_realm.ts";
export {
  ActivityFailure,
  ApplicationFailure,
  type ApplicationFailureOptions,
  CancelledFailure,
  ChildWorkflowFailure,
  defaultPayloadConverter,
  type Duration,
  isCancellation,
  type Payload,
  type PayloadConverter,
  type RetryState,
  ServerFailure,
  TemporalFailure,
  TerminatedFailure,
  TimeoutFailure,
  type TimeoutType,
} from "../converter/mod.ts";
