// A worker on a scripted service, and what the service hands out.
import { silentLogger } from "../../../../ts/client/mod.ts";
import type { Realm } from "../../../../ts/realm/mod.ts";
import { scriptedRealm } from "../../../support/realms.ts";
import { Worker, type WorkerOptions } from "../../../../ts/worker/mod.ts";
import { ScriptedService, waits } from "../../../support/scripted_service.ts";

export const idleRealm = (): Realm & { disposed: boolean } => ({
  disposed: false,
  ...scriptedRealm(),
  dispose() {
    this.disposed = true;
    return Promise.resolve();
  },
});

export function quietService(): ScriptedService {
  return new ScriptedService()
    .on("pollWorkflowTaskQueue", (_request, options) => waits({ signal: options.signal! }))
    .on("pollActivityTaskQueue", (_request, options) => waits({ signal: options.signal! }))
    .on("respondActivityTaskFailed", () => ({}))
    .on("respondActivityTaskCompleted", () => ({}))
    .on("shutdownWorker", () => ({}));
}

export const worker = (options: Partial<WorkerOptions> & { service: ScriptedService }) =>
  Worker.create({ taskQueue: "q", logger: silentLogger, ...options });

export const activityTask = {
  taskToken: new Uint8Array([1]),
  activityType: { name: "work" },
  activityId: "1",
  attempt: 1,
};

/** Hands out one activity task and then waits. */
export function oneActivity(service: ScriptedService): ScriptedService {
  let given = false;
  return service.on("pollActivityTaskQueue", (_request, options) => {
    if (given) return waits({ signal: options.signal! });
    given = true;
    return activityTask;
  });
}
