// bundleWorkflowCode: writes the same bundle as `temporalex build`. Of options for webpack,
// what the loader can apply is applied; the rest is rejected by name.
import { buildBundle } from "../../modules/bundle/build.ts";
import { formatProblem } from "../../modules/loader/errors.ts";
import { fileUrl } from "../../platform/source_files.ts";
import { converterModule, SourceTexts } from "./source_texts.ts";
import { Runtime } from "./runtime.ts";
import {
  type BundleOptions,
  configuredBundle,
  type WorkflowBundleWithSourceMap,
} from "./bundle_options.ts";

/**
 * Bundles workflow code with all imports into one text, for `workflowBundle`. Rejects with a
 * WorkflowLoadError with file and line of a module that does not load, and a TypeError for an
 * unsupported option.
 */
export async function bundleWorkflowCode(
  given: BundleOptions,
): Promise<WorkflowBundleWithSourceMap> {
  const options = configuredBundle(given);
  const { workflowsPath } = options;
  const texts = new SourceTexts();
  const converters = converterModule(texts, options);
  const interceptors = texts.apply(options);
  const { host } = texts;
  const { code, sourceMap, warnings } = await buildBundle({
    workflows: new URL(fileUrl(workflowsPath)),
    interceptors: interceptors.map((url) => new URL(url)),
    ...(converters !== undefined && { payloadConverter: new URL(converters) }),
    ...(host !== undefined && { sources: host }),
  });
  const logger = options.logger ?? Runtime.instance().logger;
  for (const warning of warnings) logger.warn(formatProblem(warning));
  return { code, sourceMap };
}
