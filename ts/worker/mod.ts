// The worker: runs workflows and activities for a service.
import { inlineWorker } from "../core/inline_worker.ts";
import { Worker as AnyWorker } from "./worker.ts";

/**
 * The worker of one task queue: `Worker.create({ service, taskQueue, workflows, activities })`,
 * then `run()`.
 */
export const Worker: typeof AnyWorker = /* @__PURE__ */ inlineWorker(AnyWorker);
/** The worker of one task queue. */
export type Worker = AnyWorker;
export * from "./names.ts";
