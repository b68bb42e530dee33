// Bundles of workflow code, and options of `bundleWorkflowCode`, with the official types.
import type { Logger } from "../common/mod.ts";

/** Plugin for the options of bundles. */
export interface BundlerPlugin {
  /** Name of the plugin. */
  get name(): string;
  /** Returns changed options of a bundle. */
  configureBundler?(options: BundleOptions): BundleOptions;
}

/** Options of `bundleWorkflowCode`. */
export interface BundleOptions {
  /** Path of the module that exports the workflows. */
  workflowsPath: string;
  /** Paths of modules that export `interceptors`. */
  workflowInterceptorModules?: string[];
  /** Receives warnings. Default: the runtime's logger. */
  logger?: Logger;
  /** Path of the module that exports `payloadConverter`. */
  payloadConverterPath?: string;
  /** Path of the module that exports `failureConverter`. */
  failureConverterPath?: string;
  /** Modules that workflow code imports but never uses. */
  ignoreModules?: string[];
  /** No effect: modules are evaluated for each run. */
  preloadModules?: string[];
  /**
   * Receives a configuration of webpack. What it changes is applied by the loader, or rejected by
   * name: webpack is not used.
   */
  // deno-lint-ignore no-explicit-any
  webpackConfigHook?: (config: any) => any;
  plugins?: BundlerPlugin[];
}

/** Applies the plugins to the options in order. */
export function configuredBundle(given: BundleOptions): BundleOptions {
  let options = given;
  for (const plugin of given.plugins ?? []) options = plugin.configureBundler?.(options) ?? options;
  const { workflowInterceptorModules: modules } = options;
  // Plugins can add the same modules for workers and for bundles.
  return modules === undefined
    ? options
    : { ...options, workflowInterceptorModules: [...new Set(modules)] };
}

/** A bundle in a file. */
export interface WorkflowBundlePath {
  /** Path of the file. */
  codePath: string;
}
/** Deprecated: use `WorkflowBundlePath`. */
export interface WorkflowBundlePathWithSourceMap {
  /** Path of the file. */
  codePath: string;
  /** Not read. */
  sourceMapPath: string;
}
/** A bundle in memory. */
export interface WorkflowBundle {
  /** The text. */
  code: string;
}
/** A bundle in memory with its source map. */
export interface WorkflowBundleWithSourceMap extends WorkflowBundle {
  /** Also part of the text. */
  sourceMap: string;
}
/** A bundle of `bundleWorkflowCode` or `temporalex build`. */
export type WorkflowBundleOption =
  | WorkflowBundle
  | WorkflowBundleWithSourceMap
  | WorkflowBundlePath
  | WorkflowBundlePathWithSourceMap;
