// Making bundles, which is loaded when one is made.
import type { BundleOptions, WorkflowBundle } from "./build.ts";

/**
 * Puts workflow modules and all that they import into one file. The same sources make the same bytes, on every machine and in every folder.
 * Rejects with a WorkflowLoadError that names file and line of everything that cannot be loaded.
 */
export async function bundleWorkflows(options: BundleOptions): Promise<WorkflowBundle> {
  const { bundleWorkflows: build } = await import("./build.ts");
  return await build(options);
}
