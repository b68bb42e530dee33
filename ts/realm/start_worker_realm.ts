// Worker realms for programs that may start one: what starts, watches and replaces their threads is loaded with the first. Who runs workflow
// code in this thread alone never loads it.
import type { WorkerRealm, WorkerRealmOptions } from "./worker_realm.ts";

/** Starts a worker realm. Rejects with a WorkflowLoadError that names file and line of everything that cannot be loaded. */
export async function createWorkerRealm(options: WorkerRealmOptions): Promise<WorkerRealm> {
  const { createWorkerRealm: start } = await import("./worker_realm.ts");
  return await start(options);
}
