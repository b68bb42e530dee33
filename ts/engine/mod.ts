// The embedded engine: durable workflows in this process, without a server. Clients and workers use
// it like a Temporal cluster.
import { inlineEngine } from "../core/inline_engine.ts";
import { EmbeddedEngine as Engine } from "./embedded_engine.ts";

/**
 * The embedded engine: a WorkflowService in this process. Open it with `EmbeddedEngine.open({ path
 * })`, or `{ store: new MemoryStore() }`.
 */
export const EmbeddedEngine: typeof Engine = /* @__PURE__ */ inlineEngine(Engine);
/** The embedded engine. */
export type EmbeddedEngine = Engine;
export * from "./names.ts";
