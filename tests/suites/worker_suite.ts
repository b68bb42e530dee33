// Workers end to end: activities in all their ends, the sticky cache, shutdown, bad neighbors. The
// same tests run on the embedded engine (memory and file), through a gateway, and on a Temporal
// cluster.
import type { OnService } from "../support/services.ts";
import { activitiesTests } from "./worker_activities.ts";
import { cacheTests } from "./worker_cache.ts";
import { shutdownTests } from "./worker_shutdown.ts";
import { neighborsTests } from "./worker_neighbors.ts";

export function workerSuite(check: OnService): void {
  const all = { ...activitiesTests, ...cacheTests, ...shutdownTests, ...neighborsTests };
  for (const [name, body] of Object.entries(all)) check(name, body);
}
