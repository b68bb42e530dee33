// bundleWorkflowCode: writes what `temporalex build` writes. There is no webpack; options for it are refused by name.
import { bundleWorkflows } from "../../modules/bundle/build.ts";
import { formatProblem } from "../../modules/loader/errors.ts";
import { fileUrl } from "../../platform/source_files.ts";
import { converterModule, SourceTexts } from "./source_texts.ts";
import { Runtime } from "./runtime.ts";
import { type BundleOptions, configuredBundle, type WorkflowBundleWithSourceMap } from "./bundle_options.ts";

/**
 * Puts workflow code and all that it imports into one text, for `workflowBundle`. Rejects with a WorkflowLoadError that names file and line of
 * what cannot be loaded, and a TypeError for an option that cannot be honoured.
 */
export async function bundleWorkflowCode(given: BundleOptions): Promise<WorkflowBundleWithSourceMap> {
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
