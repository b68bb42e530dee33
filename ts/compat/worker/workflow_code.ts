// Location of a worker's workflow code: modules by path, or a bundle, with interceptors and
// converters for the realm.
import type { Logger } from "../common/mod.ts";
import type { DataConverter } from "../common/data_converter.ts";
import { fileUrl } from "../../platform/source_files.ts";
import type { WorkerOptions as NativeOptions } from "../../worker/options.ts";
import { configuredBundle } from "./bundle_options.ts";
import { converterModule, SourceTexts } from "./source_texts.ts";
import type { ReplayWorkerOptions, WorkerOptions } from "./worker_options.ts";

/** What a realm loads. */
export type WorkflowCode = Pick<
  NativeOptions,
  "workflows" | "sources" | "workflowInterceptors" | "payloadConverterModule"
>;

const pickConverterPaths = ({ payloadConverterPath, failureConverterPath }: DataConverter) => ({
  ...(payloadConverterPath !== undefined && { payloadConverterPath }),
  ...(failureConverterPath !== undefined && { failureConverterPath }),
});

/**
 * Returns the code of the options; empty without workflows. Throws a TypeError for an invalid
 * bundle.
 */
export function workflowCode(
  options: WorkerOptions | ReplayWorkerOptions,
  logger: Logger,
): WorkflowCode {
  const { workflowsPath, workflowBundle, bundlerOptions, interceptors } = options;
  if (workflowsPath === undefined && workflowBundle === undefined) return {};
  if (options.showStackTraceSources === true) {
    logger.warn(
      "Ignoring WorkerOptions.showStackTraceSources: stack traces have files and lines, and no sources",
    );
  }
  const texts = new SourceTexts();
  let dataConverter: Pick<DataConverter, "payloadConverterPath" | "failureConverterPath"> =
    options.dataConverter ?? {};
  let modules = interceptors?.workflowModules ?? [];
  let workflows: string;
  if (workflowBundle === undefined) {
    // Plugins change the options as if a bundle were built.
    const { plugins = [] } = options;
    const configured = configuredBundle({
      workflowsPath: workflowsPath!,
      logger,
      workflowInterceptorModules: modules,
      ...pickConverterPaths(dataConverter),
      ...(bundlerOptions?.ignoreModules !== undefined &&
        { ignoreModules: bundlerOptions.ignoreModules }),
      ...(bundlerOptions?.webpackConfigHook !== undefined &&
        { webpackConfigHook: bundlerOptions.webpackConfigHook }),
      ...(plugins.length > 0 && { plugins }),
    });
    workflows = fileUrl(configured.workflowsPath);
    modules = texts.apply(configured);
    dataConverter = pickConverterPaths(configured);
  } else {
    const ignoring = (option: string) =>
      logger.warn(`Ignoring WorkerOptions.${option} because WorkerOptions.workflowBundle is set`);
    if (workflowsPath !== undefined) ignoring("workflowsPath");
    if (bundlerOptions !== undefined) ignoring("bundlerOptions");
    if (modules.length > 0) {
      logger.warn(
        "Ignoring WorkerOptions.interceptors.workflowModules because WorkerOptions.workflowBundle is set.\n" +
          "To use workflow interceptors with a workflowBundle, pass them in the call to bundleWorkflowCode.",
      );
      modules = [];
    }
    // A bundle contains its converters; those of the worker are for its own thread.
    dataConverter = {};
    if ("code" in workflowBundle) workflows = texts.add("workflow-bundle.js", workflowBundle.code);
    else if ("codePath" in workflowBundle) workflows = fileUrl(workflowBundle.codePath);
    else throw new TypeError("Invalid WorkflowOptions.workflowBundle");
  }
  const converters = converterModule(texts, dataConverter);
  const { host } = texts;
  return {
    workflows: new URL(workflows),
    ...(host !== undefined && { sources: host }),
    ...(modules.length > 0 &&
      { workflowInterceptors: modules.map((path) => new URL(fileUrl(path))) }),
    ...(converters !== undefined && { payloadConverterModule: new URL(converters) }),
  };
}
