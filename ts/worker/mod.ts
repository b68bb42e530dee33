// The worker: runs workflows and activities for a service.
import { inlineCore } from "../core/inline.ts";
import { Worker as AnyWorker } from "./worker.ts";

/** The worker of one task queue: `Worker.create({ service, taskQueue, workflows, activities })`, then `run()`. */
export const Worker: typeof AnyWorker = /* @__PURE__ */ inlineCore(AnyWorker);
/** The worker of one task queue. */
export type Worker = AnyWorker;
export * from "./names.ts";
