// temporalex: durable workflows. `open` starts engine, worker and client in one process; the parts
// are here too. Workflow code imports from "temporalex/workflow" and nothing else of this package;
// activities import from "temporalex/activity"; tests from "temporalex/testing".
import { open as openApp } from "./app/open.ts";
import { inlineEngine } from "./core/inline_engine.ts";
import { inlineWorker } from "./core/inline_worker.ts";

export * from "./slim/mod.ts";
// What needs the core, with the core that comes with the package (core/inline.ts).
export { EmbeddedEngine } from "./engine/mod.ts";
export { createInlineRealm, createWorkerRealm } from "./realm/mod.ts";
export { Worker } from "./worker/mod.ts";
export { coreModule } from "./core/mod.ts";

/**
 * Opens the engine and starts a worker on it.
 *
 * @example
 * const app = await open({ path: "shop.sqlite", workflows: new URL("./workflows.ts", import.meta.url), activities });
 * const receipt = await app.client.execute(order, { id: "order-1", args: [items] });
 * await app.close();
 */
export const open: typeof openApp = /* @__PURE__ */ inlineWorker(
  /* @__PURE__ */ inlineEngine(openApp),
);
