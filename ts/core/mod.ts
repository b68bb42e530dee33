// The core: loading, handles, errors and the boundary messages.
export * from "./errors.ts";
export * from "./load.ts";
export { CoreEngine } from "./engine.ts";
export { coreTrap, liveHandles } from "./handle.ts";
export { CoreRun } from "./run.ts";
export * as boundary from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
