// bundleWorkflowCode: writes what `temporalex build` writes. There is no webpack; options for it are refused by name.
import type { Logger } from "../common/mod.ts";
import { bundleWorkflows } from "../../realm/bundle/build.ts";
import { formatProblem } from "../../realm/loader/errors.ts";
import { fileUrl } from "../../platform/source_files.ts";
import { converterModule, SourceTexts } from "./source_texts.ts";
import { Runtime } from "./runtime.ts";
import { refuseOption } from "./runtime_options.ts";
import type { WorkflowBundleWithSourceMap } from "./worker_options.ts";

/** Changes the options of bundles. */
export interface BundlerPlugin {
  /** Its name. */
  get name(): string;
  /** Changes the options of a bundle. */
  configureBundler?(options: BundleOptions): BundleOptions;
}

/** Options of `bundleWorkflowCode`. */
export interface BundleOptions {
  /** Path of the module that exports the workflows. */
  workflowsPath: string;
  /** Paths of modules that export `interceptors`. */
  workflowInterceptorModules?: string[];
  /** Where warnings go. Default: the runtime's. */
  logger?: Logger;
  /** Path of the module that exports `payloadConverter`. */
  payloadConverterPath?: string;
  /** Path of the module that exports `failureConverter`. */
  failureConverterPath?: string;
  /** Modules that workflow code names and never uses. */
  ignoreModules?: string[];
  /** Without effect: modules are evaluated for each run. */
  preloadModules?: string[];
  /** Not supported: there is no webpack. */
  // deno-lint-ignore no-explicit-any
  webpackConfigHook?: (config: any) => any;
  /** Plugins. */
  plugins?: BundlerPlugin[];
}

/**
 * Puts workflow code and all that it imports into one text, for `workflowBundle`. Rejects with a WorkflowLoadError that names file and line of
 * what cannot be loaded, and a TypeError for an option that cannot be honoured.
 */
export async function bundleWorkflowCode(options: BundleOptions): Promise<WorkflowBundleWithSourceMap> {
  for (const plugin of options.plugins ?? []) options = plugin.configureBundler?.(options) ?? options;
  if (options.webpackConfigHook !== undefined) {
    refuseOption("BundleOptions.webpackConfigHook", "bundles are made without webpack; see BundleOptions.ignoreModules");
  }
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
