// Bundles of workflow code, and the options of `bundleWorkflowCode`, in their official form.
import type { Logger } from "../common/mod.ts";
import { refuseOption } from "./runtime_options.ts";

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

/** The options as their plugins change them, one after the other. Throws a TypeError for one that cannot be honoured. */
export function configuredBundle(given: BundleOptions): BundleOptions {
  let options = given;
  for (const plugin of given.plugins ?? []) options = plugin.configureBundler?.(options) ?? options;
  if (options.webpackConfigHook !== undefined) {
    refuseOption("BundleOptions.webpackConfigHook", "bundles are made without webpack; see BundleOptions.ignoreModules");
  }
  const { workflowInterceptorModules: modules } = options;
  // Plugins name theirs for workers and for bundles.
  return modules === undefined ? options : { ...options, workflowInterceptorModules: [...new Set(modules)] };
}

/** A bundle in a file. */
export interface WorkflowBundlePath {
  /** The file. */
  codePath: string;
}
/** Deprecated: `WorkflowBundlePath`. */
export interface WorkflowBundlePathWithSourceMap {
  /** The file. */
  codePath: string;
  /** It is not read. */
  sourceMapPath: string;
}
/** A bundle's text. */
export interface WorkflowBundle {
  /** The text. */
  code: string;
}
/** A bundle's text and its source map. */
export interface WorkflowBundleWithSourceMap extends WorkflowBundle {
  /** It is in the text, too. */
  sourceMap: string;
}
/** A bundle that `bundleWorkflowCode` or `temporalex build` has written. */
export type WorkflowBundleOption =
  | WorkflowBundle
  | WorkflowBundleWithSourceMap
  | WorkflowBundlePath
  | WorkflowBundlePathWithSourceMap;
