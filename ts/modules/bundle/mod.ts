// Loads the bundler when a bundle is made.
import type { BundleOptions, WorkflowBundle } from "./build.ts";

/**
 * Writes workflow modules and all their imports to one file. The same sources make the same bytes,
 * on every machine and in every folder. Rejects with a WorkflowLoadError that lists the file and
 * line of everything that cannot be loaded.
 */
export async function bundleWorkflows(options: BundleOptions): Promise<WorkflowBundle> {
  const { buildBundle } = await import("./build.ts");
  return await buildBundle(options);
}
