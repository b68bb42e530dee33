// The core: loading, handles, errors and the boundary messages. This entry brings the module's bytes with it; files of other rooms import
// load.ts, handle.ts and so on, which do not.
import { inlineCore } from "./inline.ts";
import { coreModule as coreModuleOf, loadCore as loadCoreOf } from "./load.ts";

export * from "./errors.ts";
export { type Core, type CoreSource, loadCoreSync, memoryBytes, useCore } from "./load.ts";
export { CoreEngine } from "./engine.ts";
export { coreTrap, liveHandles } from "./handle.ts";
export { CoreRun } from "./run.ts";
/** The messages that cross between the core and TypeScript (core-rs/proto/temporalex/boundary/v1/boundary.proto). */
export * as boundary from "./generated/boundary/temporalex/boundary/v1/boundary.ts";

/** Loads the module once; every call answers the same core. Without a source (and without `useCore`): the one that comes with the package. */
export const loadCore: typeof loadCoreOf = /* @__PURE__ */ inlineCore(loadCoreOf);
/** The compiled module, to post to workers. */
export const coreModule: typeof coreModuleOf = /* @__PURE__ */ inlineCore(coreModuleOf);
