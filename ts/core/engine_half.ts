// The engine's half of the core, loaded: the embedded engine's state machine. Where its bytes come from is in source.ts.
import { createGlue, sourceHash } from "./generated/engine.js";
import { type CoreInfo, EngineOptions } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CoreEngine } from "./engine.ts";
import { LoadedHalf } from "./half.ts";
import { type CoreSource, useCore } from "./source.ts";

/** The engine's half of the core. */
export interface EngineCore {
  /** An embedded engine's state machine. */
  createEngine(options: Partial<EngineOptions>): CoreEngine;
  /** Version of the core and hash of the sources it was built from. */
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

/** Loads the engine's half once; every call answers the same. With a `source` as if `useCore` had been called before. */
export async function loadEngineCore(source?: CoreSource | Promise<CoreSource>): Promise<EngineCore> {
  if (source !== undefined) useCore({ engine: source });
  await half.load();
  return core;
}

/** Loads a compiled module synchronously. Throws a CoreLoadError. */
export function loadEngineCoreSync(module: WebAssembly.Module | Uint8Array<ArrayBuffer>): EngineCore {
  half.loadSync(module);
  return core;
}
