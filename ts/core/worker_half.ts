// Loads the worker's half of the core, which runs workflow code. For its bytes see source.ts.
import { createGlue, sourceHash } from "./generated/worker.js";
import { type CoreInfo, RunOptions } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { LoadedHalf } from "./half.ts";
import { CoreRun } from "./run.ts";
import { type CoreSource, useCore } from "./source.ts";

/** The worker's half of the core. */
export interface WorkerCore {
  /** Creates a workflow run. */
  createRun(options: Partial<RunOptions>): CoreRun;
  /** Version of the core, and hash of its sources. */
  info(): CoreInfo;
}

const half = /* @__PURE__ */ new LoadedHalf("worker", createGlue, sourceHash);

const core: WorkerCore = {
  createRun: (options) => {
    const bytes = RunOptions.encode(RunOptions.fromPartial(options)).finish();
    return new CoreRun(half.sound(), ({ Run }) => new Run(bytes));
  },
  info: () => half.info(),
};

/** Loads the worker's half once. `source` is set as by `useCore`. */
export async function loadWorkerCore(
  source?: CoreSource | Promise<CoreSource>,
): Promise<WorkerCore> {
  if (source !== undefined) useCore({ worker: source });
  await half.load();
  return core;
}

/** Loads a compiled module synchronously. Throws a CoreLoadError. */
export function loadWorkerCoreSync(
  module: WebAssembly.Module | Uint8Array<ArrayBuffer>,
): WorkerCore {
  half.loadSync(module);
  return core;
}

/**
 * Message of the first trap or panic of the worker's half in this thread, for the realm's
 * replacement.
 */
export function workerTrap(): string | undefined {
  return half.trap;
}
