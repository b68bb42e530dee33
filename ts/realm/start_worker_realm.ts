// Starts worker realms. The code that starts, watches and replaces threads is loaded on first use,
// so programs with inline realms never load it.
import type { WorkerRealm, WorkerRealmOptions } from "./worker_realm.ts";

/**
 * Starts a worker realm. Rejects with a WorkflowLoadError that lists the file and line of
 * everything that cannot be loaded.
 */
export async function createWorkerRealm(options: WorkerRealmOptions): Promise<WorkerRealm> {
  const { openWorkerRealm } = await import("./worker_realm.ts");
  return await openWorkerRealm(options);
}
