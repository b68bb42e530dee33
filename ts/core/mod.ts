// The core: loading of its halves, handles, errors and boundary messages. This entry includes the
// bytes of both halves; other rooms import worker_half.ts, engine_half.ts and source.ts, which do
// not.
import { type EngineCore, loadEngineCore, loadEngineCoreSync } from "./engine_half.ts";
import { inlineEngine } from "./inline_engine.ts";
import { inlineWorker } from "./inline_worker.ts";
import { type CoreHalf, coreModule as coreModuleOf, type CoreSource } from "./source.ts";
import { loadWorkerCore, loadWorkerCoreSync, type WorkerCore } from "./worker_half.ts";

export * from "./errors.ts";
export { type CoreHalf, type CoreSource, type CoreSources, useCore } from "./source.ts";
export type { EngineCore } from "./engine_half.ts";
export type { WorkerCore } from "./worker_half.ts";
export { memoryBytes } from "./half.ts";
export { CoreEngine } from "./engine.ts";
export { liveHandles } from "./handle.ts";
export { CoreRun } from "./run.ts";
/**
 * Messages between the core and TypeScript (core-rs/proto/temporalex/boundary/v1/boundary.proto).
 */
export * as boundary from "./generated/boundary/temporalex/boundary/v1/boundary.ts";

/** The loaded halves. */
export interface Cores {
  worker: WorkerCore;
  /** For embedded engines. */
  engine: EngineCore;
}

const loaders = { worker: loadWorkerCore, engine: loadEngineCore };
const atOnce = { worker: loadWorkerCoreSync, engine: loadEngineCoreSync };

function known(half: CoreHalf): CoreHalf {
  if (Object.hasOwn(loaders, half)) return half;
  throw new TypeError(
    `the core module to load must be "worker" or "engine", not ${JSON.stringify(half)}`,
  );
}

async function load<H extends CoreHalf>(
  half: H,
  source?: CoreSource | Promise<CoreSource>,
): Promise<Cores[H]> {
  return await loaders[known(half)](source) as Cores[H];
}

/**
 * Loads a half of the core once. Default source: that of `useCore`, else the one in the package.
 * Rejects with a CoreLoadError.
 */
export const loadCore: <H extends CoreHalf>(
  half: H,
  source?: CoreSource | Promise<CoreSource>,
) => Promise<Cores[H]> = /* @__PURE__ */ inlineWorker(/* @__PURE__ */ inlineEngine(load));

/** Loads a half synchronously from its compiled module. Throws a CoreLoadError. */
export function loadCoreSync<H extends CoreHalf>(
  half: H,
  module: WebAssembly.Module | Uint8Array<ArrayBuffer>,
): Cores[H] {
  return atOnce[known(half)](module) as Cores[H];
}

/** The compiled module of a half, to post to workers. */
export const coreModule: typeof coreModuleOf = /* @__PURE__ */ inlineWorker(
  /* @__PURE__ */ inlineEngine(coreModuleOf),
);
