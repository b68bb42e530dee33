// "temporalex/slim": everything of "temporalex", and the realms, without the bytes of the core. For web pages: base64 makes the core's
// download a quarter larger and its start slower, so a page takes the core's files from its own origin and gives their addresses.
//
//   import { open, useCore } from "temporalex/slim";
//   import engine from "temporalex/engine.wasm?url"; // Vite; other bundlers: copy the files, and give their addresses
//   import worker from "temporalex/worker.wasm?url";
//
//   useCore({ worker, engine });
//   const app = await open({ ... });
//
// worker.wasm is for workflow code (workers, realms, debug sessions), engine.wasm for the embedded engine; a page that has no use for one
// leaves it out. An address is fetched when its half is first needed (`useCore({ worker: fetch(url) })` begins at once), compiled while it
// arrives when the server sends it as application/wasm, and the compiled module is posted to realms and to the engine's worker, which fetch
// nothing. A page under a Content-Security-Policy needs `script-src 'wasm-unsafe-eval'` for it, and never 'unsafe-eval'. Serve the files of
// the same version of the package: others are refused with a CoreLoadError, and so are a missing file and an answer that is no module.
//
// Other entries of the package that need a core ("temporalex/engine", "temporalex/worker", "temporalex/testing") bring its bytes: in such
// a page import from here instead. "temporalex/workflow", "temporalex/client", "temporalex/activity" and serveRealm need none.
export { type App, open, type OpenOptions } from "../app/open.ts";
export * from "../client/mod.ts";
export { CoreLoadError } from "../core/errors.ts";
export { type CoreHalf, coreModule, type CoreSource, type CoreSources, useCore } from "../core/source.ts";
export { EmbeddedEngine } from "../engine/host.ts";
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
