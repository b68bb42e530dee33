// The embedded engine: durable workflows in this process, with no server. `EmbeddedEngine.open({ path })` keeps its runs in one SQLite
// file; clients and workers use it as they use a Temporal cluster.
import { inlineEngine } from "../core/inline_engine.ts";
import { EmbeddedEngine as Engine } from "./host.ts";

/** The embedded engine: a WorkflowService in this process. `EmbeddedEngine.open({ path })`, or `{ store: new MemoryStore() }`. */
export const EmbeddedEngine: typeof Engine = /* @__PURE__ */ inlineEngine(Engine);
/** The embedded engine. */
export type EmbeddedEngine = Engine;
export * from "./names.ts";
