// Loads the engine's half of the core: the embedded engine's state machine. For its bytes see
// source.ts.
import { createGlue, sourceHash } from "./generated/engine.js";
import {
  type CoreInfo,
  EngineOptions,
} from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CoreEngine } from "./engine.ts";
import { LoadedHalf } from "./half.ts";
import { type CoreSource, useCore } from "./source.ts";

/** The engine's half of the core. */
export interface EngineCore {
  /** Creates an embedded engine's state machine. */
  createEngine(options: Partial<EngineOptions>): CoreEngine;
  /** Version of the core, and hash of its sources. */
  info(): CoreInfo;
}

const half = /* @__PURE__ */ new LoadedHalf("engine", createGlue, sourceHash);

const core: EngineCore = {
  createEngine: (options) => {
    const bytes = EngineOptions.encode(EngineOptions.fromPartial(options)).finish();
    return new CoreEngine(half.sound(), ({ Engine }) => new Engine(bytes));
  },
  info: () => half.info(),
};

/** Loads the engine's half once. `source` is set as by `useCore`. */
export async function loadEngineCore(
  source?: CoreSource | Promise<CoreSource>,
): Promise<EngineCore> {
  if (source !== undefined) useCore({ engine: source });
  await half.load();
  return core;
}

/** Loads a compiled module synchronously. Throws a CoreLoadError. */
export function loadEngineCoreSync(
  module: WebAssembly.Module | Uint8Array<ArrayBuffer>,
): EngineCore {
  half.loadSync(module);
  return core;
}
