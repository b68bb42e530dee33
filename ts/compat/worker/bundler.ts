// bundleWorkflowCode: writes the same bundle as `temporalex build`. Options for webpack are
// rejected by name.
import { bundleWorkflows } from "../../modules/bundle/build.ts";
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
  const { workflowsPath, workflowInterceptorModules = [], ignoreModules = [] } = options;
  const texts = new SourceTexts();
  const converters = converterModule(texts, options);
  if (ignoreModules.length > 0) texts.ignore(ignoreModules);
  const { host } = texts;
  const { code, sourceMap, warnings } = await bundleWorkflows({
    workflows: new URL(fileUrl(workflowsPath)),
    interceptors: workflowInterceptorModules.map((path) => new URL(fileUrl(path))),
    ...(converters !== undefined && { payloadConverter: new URL(converters) }),
    ...(host !== undefined && { sources: host }),
  });
  const logger = options.logger ?? Runtime.instance().logger;
  for (const warning of warnings) logger.warn(formatProblem(warning));
  return { code, sourceMap };
}
