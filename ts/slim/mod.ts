// "temporalex/slim": all exports of "temporalex", and the realms, without the bytes of the core.
// For web pages: base64 makes the core a quarter larger and slower to start, so a page loads
// worker.wasm and engine.wasm from its own origin and passes their addresses to `useCore`
// (docs/bundles.md). Files of another version of the package are rejected with a CoreLoadError. The
// pages' Content-Security- Policy needs `script-src 'wasm-unsafe-eval'`, never 'unsafe-eval'.
export { type App, open, type OpenOptions } from "../app/open.ts";
export type { Transaction } from "../app/transaction.ts";
export type { QueryOptions } from "../app/sql/app_query.ts";
export * from "../client/mod.ts";
export { CoreLoadError } from "../core/errors.ts";
export {
  type CoreHalf,
  coreModule,
  type CoreSource,
  type CoreSources,
  useCore,
} from "../core/source.ts";
export { EmbeddedEngine } from "../engine/embedded_engine.ts";
export * from "../engine/names.ts";
export * from "../worker/names.ts";
export { Worker } from "../worker/worker.ts";
export { createInlineRealm } from "../realm/inline_realm.ts";
export * from "../realm/names.ts";
export { createWorkerRealm } from "../realm/start_worker_realm.ts";
export {
  ActivityFailure,
  ApplicationFailure,
  type ApplicationFailureOptions,
  CancelledFailure,
  ChildWorkflowFailure,
  defaultPayloadConverter,
  type Duration,
  isCancellation,
  jsonPayloadConverter,
  LossyValueError,
  NexusHandlerFailure,
  NexusOperationFailure,
  type Payload,
  type PayloadConverter,
  PayloadConverterError,
  type RetryState,
  ServerFailure,
  TemporalFailure,
  TerminatedFailure,
  TimeoutFailure,
  type TimeoutType,
} from "../converter/mod.ts";
